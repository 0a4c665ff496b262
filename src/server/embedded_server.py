"""`python -m src.server.embedded_server`: llama.cpp's HTTP server, from the `xllamacpp` wheel, with one pinned model.

`embedded` starts it as a child on a free loopback port; the `server-cpu` container runs it on port 8080.
The settings are those of the CUDA container: one slot, no prompt cache, a fixed context size, no web page, no
slots endpoint (docs/SCALING.md says why). The first line on stdout is a JSON object: `{"url": ...}` with
the settings used, or `{"error": ...}`. llama.cpp's log goes to stderr.
"""

import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from src.base import shell
from src.base.errors import Precondition
from src.base.parser import Parser, whole
from src.server import api_key, processors, readiness
from src.server import settings as server_settings
from src.server.processors import Threads
from src.server.settings import CPU_TAG, ENGINE_TAG, thread_count
from src.weights.models import MODELS, Model, checked, load

CONTEXT_TOKENS = 2048  # per slot; the longest R3 exchange uses about 200, the rest leaves room for `ask`
MAX_CONTEXT = 1 << 20  # far above what any pinned model was trained for
MAX_SLOTS = 1024
BATCH_TOKENS = 512  # fixed: the batch size changes the last bits of the logits


def settings(slots: int = 1, context: int = CONTEXT_TOKENS) -> dict[str, bool | int]:
    """Return what is set on the server, under the names of llama.cpp's parameters.

    Batch, cache and slots decide whether two runs give the same text on one machine (docs/SCALING.md).
    """
    return {
        "n_ctx": context * slots,
        "n_parallel": slots,
        "n_batch": BATCH_TOKENS,
        "n_ubatch": BATCH_TOKENS,
        "cache_prompt": False,
        "cache_ram_mib": 0,
        "n_gpu_layers": 0,
        "fit_params": False,
        "ui": False,
        "endpoint_slots": False,
        "endpoint_metrics": False,
        "use_jinja": True,
        "offline": True,
    }


def serve(
    model: Model,
    paths: Sequence[Path],
    host: str,
    port: int,
    threads: Threads,
    values: dict[str, bool | int],
    keys: Sequence[str] = (),
) -> Any:
    """Load the model and open the port; returns the running server, whose `listening_address` is its URL.

    With `keys` a request must carry one of them; the health check and the name of the model stay open to all.

    Raises `Precondition` when the wheel is missing, the port is taken or llama.cpp refuses the file.
    """
    processors.spin_briefly()
    try:
        import xllamacpp
    except ImportError as exc:
        raise Precondition(f"the embedded server needs the xllamacpp wheel ({exc}); {_remedy(exc)}") from exc
    params = xllamacpp.CommonParams()
    params.model.path = str(paths[0])
    params.model_alias = {model.label}  # without an alias the reply's `model` is the file's path
    params.model_tags = {CPU_TAG, f"{ENGINE_TAG}{version('xllamacpp')}"}  # what /props does not report
    params.hostnames = [host]
    params.port = port
    params.api_keys = list(keys)
    params.cpuparams.n_threads, params.cpuparams_batch.n_threads = threads
    for name, value in values.items():
        setattr(params, name, value)
    try:
        return xllamacpp.Server(params)
    except RuntimeError as exc:
        raise Precondition(f"llama.cpp could not start with {paths[0].name} on {host}:{port} ({exc})") from exc


def _remedy(exc: ImportError) -> str:
    """What helps where the wheel cannot be imported: it may be there, and lack a library of the system."""
    if isinstance(exc, ModuleNotFoundError):
        return readiness.CONTAINER if readiness.in_container() else shell.package("embedded.lock")
    if "libgomp" in str(exc):
        return "the wheel is there and the system's OpenMP is not: install the system's package libgomp1 (or libgomp)"
    return "the wheel is there, and this system's libraries do not fit it"


def wait_for_the_end(with_stdin: bool) -> None:
    """Block until SIGTERM or SIGINT, or until stdin closes when a parent holds its other end.

    Subtle: a pipe closes however the parent ends, kill -9 included, so no server outlives its program.
    """
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    if with_stdin:

        def watch() -> None:
            while sys.stdin.buffer.read(1):
                pass
            ended.set()

        threading.Thread(target=watch, daemon=True).start()
    ended.wait()


def parser() -> Parser:
    """The command line, shared with the container."""
    made = Parser(prog="python -m src.server.embedded_server", description=__doc__)
    made.add_argument(
        "--model-key", default="embedded", help="a name of configs/models.lock.json (default: %(default)s)"
    )
    made.add_argument("--models", type=Path, default=MODELS, help="the folder of the model files (default: models/)")
    made.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    made.add_argument("--port", type=whole(0, 65535), default=0, metavar="N", help="0 takes a free one (the default)")
    made.add_argument("--slots", type=whole(1, MAX_SLOTS), default=1, metavar="N", help="requests answered at once")
    context = "context per slot in tokens (default: %(default)s)"
    made.add_argument("--ctx", type=whole(1, MAX_CONTEXT), default=CONTEXT_TOKENS, metavar="N", help=context)
    threads = "threads to compute with (default: R3_THREADS, else every core for reading and one fewer for "
    threads += "writing; in a container no more than its share of the processors)"
    made.add_argument("--threads", type=thread_count, metavar="N", help=threads)
    key = "ask for a key, one of those in FILE, one a line (default: ask for none)"
    made.add_argument("--api-key-file", metavar="FILE", help=key)
    made.add_argument("--end-with-stdin", action="store_true", help="stop when standard input closes")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Check the files, serve, announce, wait; the status is 0, or 2 with the reason announced."""
    args = parser().parse_args(argv)
    values = settings(args.slots, args.ctx)
    try:
        keys = api_key.read(args.api_key_file, "--api-key-file") if args.api_key_file else []
        wanted = args.threads or server_settings.threads()
        model = load(args.model_key)
        paths = checked(model, args.models)
        threads = Threads(wanted, wanted) if wanted else processors.threads_for()
        server = serve(model, paths, args.host, args.port, threads, values, keys)
    except Precondition as exc:
        print(json.dumps({"error": str(exc)}), flush=True)
        return exc.status
    announced = {
        "url": server.listening_address,
        "model": model.label,
        "settings": {"n_threads": threads.writing, "n_threads_batch": threads.reading, **values},
    }
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(announced), flush=True)
        wait_for_the_end(args.end_with_stdin)
    # llama.cpp's threads may be in the middle of a decode; nothing of ours is left to write.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
