"""The embedded default: llama.cpp's server in a child process, for a machine without GPU and without Docker.

`running()` starts it on a free loopback port, points `LLM_BASE_URL` at it, and ends it when the block ends; the rest
of the program does not know which server answers. Its log is kept beside the results.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from src.base import environment
from src.base.children import ended
from src.base.errors import Precondition, ServerUnavailable
from src.base.paths import ROOT
from src.server import settings

STOP_S = 10.0  # llama.cpp ends at once; after this the child is killed


def chosen(asked: bool, folder: Path, say: Callable[[str], object], slots: int = 1) -> AbstractContextManager[None]:
    """Return `running()` with its log in `folder` if `asked` or R3_EMBEDDED wants it, else an empty context.

    Raises `Precondition` for an R3_EMBEDDED that is neither 1 nor 0, even if the command line has decided.
    """
    if not settings.embedded() and not asked:
        return nullcontext()
    return running(folder / "embedded-server.log", say, slots=slots)


@contextmanager
def running(log: Path, say: Callable[[str], object], slots: int = 1) -> Iterator[None]:
    """Serve the pinned model while the block runs.

    Raises `Precondition` with the server's own reason (package or model file missing or wrong) or for an
    invalid R3_THREADS, `ServerUnavailable` when it ended without giving a reason.
    """
    settings.threads()  # the child reads it, but nobody would find the error in the child's log
    log.parent.mkdir(parents=True, exist_ok=True)
    say(f"starting the embedded model server (log: {log})")
    command = [sys.executable, "-m", "src.server.embedded_server", "--end-with-stdin"]
    log.unlink(missing_ok=True)  # it may be a link to a file that is not ours
    with log.open("xb") as errors:
        child = subprocess.Popen(
            [*command, "--slots", str(slots)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))},
            stdin=subprocess.PIPE,  # never written to: its closing tells the child that we are gone, even by kill -9
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # Ctrl-C reaches only us, and we end the child
        )
    try:
        url = _announced(child, log)
        with environment.changed({"LLM_BASE_URL": url, "LLM_API_KEY": "", "LLM_API_KEY_FILE": ""}):
            yield
    except ServerUnavailable as exc:
        if child.poll() is None:
            raise
        raise ServerUnavailable(f"{exc} (the embedded server ended {ended(child.returncode)}; see {log})") from exc
    finally:
        _stop(child)


def _announced(child: "subprocess.Popen[bytes]", log: Path) -> str:
    """Return the URL in the child's first line; llama.cpp needs a second or two to load the model."""
    if child.stdout is None:
        raise ServerUnavailable("the embedded model server has no output to read")
    line = child.stdout.readline()
    try:
        announced = json.loads(line)
    except ValueError:
        announced = {}
    if "error" in announced:
        raise Precondition(announced["error"])
    if "url" not in announced:
        how = ended(child.wait(STOP_S)) if not line else "its first line unread"
        raise ServerUnavailable(f"the embedded model server ended before it was ready, {how}; see {log}")
    return str(announced["url"])


def _stop(child: "subprocess.Popen[bytes]") -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    try:
        child.wait(STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
