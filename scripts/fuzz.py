"""Coverage-guided fuzzing of what reads foreign input: proposals, the gate, replies, and the text of a `run_sql` query.

Atheris mutates bytes towards branches of `src` (and of the JSON decoder that is written in Python) that were not
reached before. Any exception but the documented ones, a refused call that reaches SQL, a row read for an illegal
reference, or a query cut into pieces that are not the query ends the run with status 1 and the input printed. What it
does not find is not proved absent.

    python scripts/fuzz.py --inputs 200000 --seed 1
    pip install --require-hashes -r configs/fuzz.lock     # atheris, for Python 3.11 to 3.13 on Linux x86_64
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SEEDS = (
    b'{"outil":"consulter_stock","arguments":{"ref":"REF-001"}}',
    b'{"outil":"rechercher_produit","arguments":{"ref":"REF-999"}}',
    b'{"choices":[{"finish_reason":"stop","message":{"content":"x"}}],"timings":{"prompt_ms":1}}',
    b'{"outil":"delete","arguments":{"ref":"REF-12"},"outil":["a"]}',
    b'[1e999,-0.5e-3,"\\ud800\\u0000",NaN,true,null,{}]',
    b'{"choices":[],"error":{"code":429,"message":"Rate limit"},"timings":{"prompt_ms":NaN}}',
    b"SELECT \"precio\", COUNT(*) FROM rooms WHERE 'tier' = 'pro' OR length(name) >= '5' GROUP BY 'tier' -- x",
    b"WITH x AS (SELECT `a``b` FROM [t y] WHERE d < '2026-3-2' OR 6) SELECT strftime('%Y', d) = 2026 FROM x; /* ",
    "SELECT COUNT(*) FROM members WHERE name = 'Íñigo Peña'".encode("latin1"),
    ("0" + "\u0301" * 300).encode(),
)
LONGEST = 4096  # bytes of one input
REPORT_EVERY = 50_000  # inputs
CHILD_TIMEOUT_S = 3600  # an upper bound for the child; it ends by the number of inputs


class NoSql:
    """A database on which any use is a finding."""

    def execute(self, sql: str, parameters: Any = ()) -> Any:
        raise AssertionError(f"a refused call reached SQL: {sql} {parameters}")


def one_input(data: bytes, db: sqlite3.Connection, counts: dict[str, int]) -> None:
    """Take one input through the readers; raises whatever is not documented."""
    from src.server.reply import BadReply, decode, read_reply
    from src.tools import REFERENCE, TOOLS, toolcall

    try:
        read_reply(data)
        counts["completions"] += 1
    except BadReply:
        pass
    text = data.decode("utf-8", "surrogateescape")
    one_query(text, counts)
    try:
        call: Any = decode(text)
    except ValueError:
        return
    counts["decoded"] += 1
    legal = (
        type(call) is dict
        and sorted(call) == ["arguments", "outil"]
        and call["outil"] in list(TOOLS)
        and type(call["arguments"]) is dict
        and list(call["arguments"]) == ["ref"]
        and type(call["arguments"]["ref"]) is str
        and REFERENCE.fullmatch(call["arguments"]["ref"]) is not None
    )
    try:
        seen = toolcall(db if legal else NoSql(), call)  # type: ignore[arg-type]
    except ValueError:
        if legal:
            raise
        return
    if not legal or (seen != {"found": False} and seen.get("ref") != call["arguments"]["ref"]):
        raise AssertionError(f"let through: {call!r} gave {seen!r}")
    counts["let through"] += 1


def one_query(sql: str, counts: dict[str, int]) -> None:
    """Take a text through what reads a query before SQLite does."""
    from src.run_sql import pitfalls, text
    from src.run_sql.tool import query_fault

    if "".join(piece for _, piece in text.pieces(sql)) != sql:
        raise AssertionError(f"the pieces of {sql!r} are not the query")
    if text.text_fault(sql) is None:
        counts["queries"] += 1
    if query_fault(sql) is not None:  # such as text that UTF-8 does not have: nothing reads it further
        return
    body = text.split_statement(sql).body
    text.in_backticks(body)
    try:
        pitfalls.check(body, lambda: {"name", "tier"})
    except pitfalls.Misread as exc:
        counts["misread"] += 1
        if not str(exc):
            raise AssertionError(f"no advice for {sql!r}") from None


def fuzz(inputs: int, seed: int, corpus: Path | None) -> None:
    """Run in this process until so many inputs were tried; libFuzzer ends the process itself."""
    import atheris

    with atheris.instrument_imports(include=["src", "json"]):
        import json.decoder
        import json.scanner

        import src.run_sql.pitfalls
        import src.run_sql.text
        import src.server.reply
        import src.tools
    # The C scanner is opaque to coverage; the one in Python accepts the same language.
    json.decoder.scanstring = json.decoder.py_scanstring  # type: ignore[attr-defined]
    json.scanner.make_scanner = json.scanner.py_make_scanner  # type: ignore[attr-defined, misc]

    db = sqlite3.connect(":memory:")
    db.execute(src.tools.TABLE)
    db.execute(src.tools.INSERT, {"ref": "REF-001", "name": "Produit 1", "stock": 37})
    counts = dict.fromkeys(("inputs", "completions", "decoded", "let through", "queries", "misread"), 0)
    started = time.monotonic()

    def target(data: bytes) -> None:
        one_input(data, db, counts)
        counts["inputs"] += 1
        if counts["inputs"] % REPORT_EVERY == 0 or counts["inputs"] == inputs:
            done = ", ".join(f"{number} {name}" for name, number in counts.items())
            print(f"{done}, {time.monotonic() - started:.0f} s", flush=True)

    options = [f"-atheris_runs={inputs}", f"-seed={seed}", f"-max_len={LONGEST}", "-timeout=10", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, *([str(corpus)] if corpus else [])], target)
    atheris.Fuzz()


def main() -> int:
    """Start the fuzzer in a child, which libFuzzer may end as it likes, and report; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000, help="how many inputs to try (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="where the mutations start (default: %(default)s)")
    parser.add_argument("--corpus", type=Path, help="a folder of inputs to start from (default: a few built-in ones)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        fuzz(args.inputs, args.seed, args.corpus)
        return 0
    try:
        import atheris  # noqa: F401
    except ImportError:
        print("scripts/fuzz.py: atheris is missing; pip install --require-hashes -r configs/fuzz.lock", file=sys.stderr)
        return 2
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        corpus = args.corpus or Path(folder) / "corpus"
        if not args.corpus:
            corpus.mkdir()
            for place, seed in enumerate(SEEDS):
                (corpus / str(place)).write_bytes(seed)
        command = [sys.executable, str(Path(__file__).resolve()), "--child", "--corpus", str(corpus)]
        command += ["--inputs", str(args.inputs), "--seed", str(args.seed)]
        done = subprocess.run(
            command, cwd=folder, stderr=subprocess.PIPE, text=True, timeout=CHILD_TIMEOUT_S, check=False
        )
        found = [path.read_bytes() for path in Path(folder).glob("crash-*")]
        found += [path.read_bytes() for path in Path(folder).glob("timeout-*")]
    if done.returncode != 0 or found:
        print(done.stderr[-4000:], *map(ascii, found), sep=os.linesep)
        print(f"scripts/fuzz.py: a finding (status {done.returncode})", file=sys.stderr)
        return 1
    print(f"{args.inputs} inputs tried, nothing found ({json.dumps({'seed': args.seed})})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
