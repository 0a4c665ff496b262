"""A program on a terminal of its own, with somebody typing: for what behaves differently when nobody is there."""

import fcntl
import os
import pty
import select
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path

LIMIT_S = 20  # a prompt that does not appear is a failure
AGAIN_S = 3  # how long a person waits before pressing Ctrl-C again
CTRL_C = b"\x03"


def read_until(terminal: int, mark: str) -> str:
    """What a program shows on its terminal up to `mark`, or to its end."""
    seen = b""
    while mark.encode() not in seen:
        assert select.select([terminal], [], [], LIMIT_S)[0], f"waited for {mark!r}, saw {seen.decode()!r}"
        try:
            block = os.read(terminal, 1 << 16)
        except OSError:  # Linux: the program has closed its side
            break
        if not block:
            break
        seen += block
    return seen.decode()


def _take_terminal() -> None:
    """Make standard input the controlling terminal, so that Ctrl-C becomes a signal."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def typed(
    command: Sequence[str], prompt: str, keys: Sequence[bytes], cwd: Path, env: dict[str, str]
) -> tuple[int, str, str]:
    """Run a command and type one of `keys` at each prompt; returns its status, its terminal, and its stderr."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(theirs)
    shown = ""
    try:
        for key in keys:
            shown += read_until(ours, prompt)
            os.write(ours, key)
        # Python sees a signal between the prompt and its read only at the next one: a person presses again.
        assert program.stderr is not None
        if keys[-1:] == [CTRL_C] and not select.select([program.stderr], [], [], AGAIN_S)[0]:
            os.write(ours, CTRL_C)
        shown += read_until(ours, "\0")
        _, err = program.communicate(timeout=LIMIT_S)
    finally:
        os.close(ours)
        if program.poll() is None:
            program.kill()
            program.wait()
    return program.returncode, shown.replace("\r\n", "\n"), err.decode()
