"""A process that has made the program's imports and, when it is asked, forks a command. Asked by `forked`.

A new interpreter costs a third of a second of processor time, nearly all of it for imports; a fork a hundredth. What
begins in the fork is a process like any other: streams, folder, variables and signals of its own, and the interpreter's
own end.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from src import cli
from src.run_sql import cli as run_sql_cli
from src.weights import fetch

MAINS: dict[str, Callable[[], int]] = {
    "src.cli": cli.main,
    "src.run_sql": run_sql_cli.main,
    "src.weights.fetch": fetch.main,
}
# What a download imports, but for `huggingface_hub` itself, which reads its variables when it is imported.
ALSO = ("filelock", "httpcore2", "httpx2", "jsonschema", "requests", "tqdm.asyncio", "tqdm.auto", "yaml")
REQUEST_BYTES = 1 << 20
STREAMS = 3


def become(job: dict[str, Any]) -> str:
    """Turn this process into the command; returns the program's name."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    sys.argv = [job["program"], *job["argv"]]
    return sys.argv[0]


def watch(process: int, status: int) -> None:
    """Write the number of the process and, when it is over, how it ended; then end as well."""
    for stream in range(STREAMS):
        os.close(stream)  # else a reader would wait for us, too
    with contextlib.suppress(OSError):  # whoever asked may be gone
        os.write(status, b"%d\n" % process)
        os.write(status, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    os._exit(0)


def serve(requests: socket.socket) -> str:
    """Fork for each request until nobody can ask any more; returns, in a fork, the name of the program to run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the commands, and for whoever waits for them
    while True:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those who watch are not waited for
        text, descriptors, _, _ = socket.recv_fds(requests, REQUEST_BYTES, STREAMS + 1)
        if not text:
            sys.exit()
        if os.fork() == 0:
            break
        for descriptor in descriptors:
            os.close(descriptor)
    requests.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, status = descriptors
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if process := os.fork():
        watch(process, status)
    os.close(status)
    return become(json.loads(text))


if __name__ == "__main__":
    for name in ALSO:
        importlib.import_module(name)
    gc.freeze()
    sys.exit(MAINS[serve(socket.socket(fileno=int(sys.argv[1])))]())
