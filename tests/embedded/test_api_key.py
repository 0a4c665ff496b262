"""A model server that asks for a key, and the client that has it in a file.

Run alone: python -m pytest tests/embedded/test_api_key.py
"""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from src.base.errors import Precondition
from src.server import api_key, settings
from tests.support.command import ROOT, assert_one_line, cli, environment

KEY = "correct-horse-battery-staple"


@dataclass(frozen=True)
class Served:
    """A server that asks for a key: its address, its key file, its process, its log."""

    url: str
    key_file: Path
    pid: int
    log: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("key")
    key_file, log = folder / "key", folder / "log"
    key_file.write_text(KEY + "\n", encoding="ascii")
    command = [sys.executable, "-m", "src.server.embedded_server", "--end-with-stdin", "--api-key-file", str(key_file)]
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        ) as child,
    ):
        assert child.stdin is not None and child.stdout is not None
        line = child.stdout.readline()
        log.with_suffix(".out").write_bytes(line)
        try:
            yield Served(json.loads(line)["url"], key_file, child.pid, log)
        finally:
            child.stdin.close()


def status(url: str, key: str = "") -> int:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_only_the_health_check_is_open_to_those_without_the_key(served: Served) -> None:
    assert status(served.url + "/health") == 200
    for key, expected in (("", 401), ("another", 401), (KEY[:-1], 401), (KEY, 200)):
        assert status(served.url + "/props", key) == expected


def test_without_the_key_a_run_does_not_begin_and_the_line_names_the_variable(served: Served, tmp_path: Path) -> None:
    assert cli("--outputs", tmp_path, "prepare").status == 0
    for words in (["agent"], ["ask", "What is the stock level for REF-000?"]):
        ended = cli("--outputs", tmp_path, *words, LLM_BASE_URL=served.url)
        assert_one_line(ended, 3, "HTTP 401", "LLM_API_KEY_FILE")
    assert not (tmp_path / "agent.json").exists() and not (tmp_path / "ask.json").exists()


def test_the_key_in_a_file_is_enough_and_appears_nowhere(served: Served, tmp_path: Path) -> None:
    assert cli("--outputs", tmp_path, "prepare").status == 0
    ended = cli(
        "--outputs", tmp_path, "--debug", "ask", "What is the stock level for REF-000?",
        LLM_BASE_URL=served.url, LLM_API_KEY_FILE=str(served.key_file),
    )  # fmt: skip
    assert ended.status == 0, ended.err
    tail = KEY[-4:].encode()  # what llama.cpp logs of a key that is the only one
    seen = [ended.out.encode(), ended.err.encode(), Path(f"/proc/{served.pid}/cmdline").read_bytes()]
    seen += [path.read_bytes() for path in (*tmp_path.iterdir(), served.log, served.log.with_suffix(".out"))]
    assert [text for text in seen if KEY.encode() in text or b"****" + tail in text] == []


BAD_FILES = {
    "empty": (b"", "no key file"),
    "only blank lines": (b"\n \n", "no key file"),
    "a letter no header carries": ("schlüssel\n".encode(), "no key file"),
    "two words": (b"a key\n", "no key file"),
    "a control character": (b"a\x1b[2J\n", "no key file"),
    "another file": (b"x" * 5000, "no key file"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_holds_no_key_is_named_and_not_shown(name: str, tmp_path: Path) -> None:
    content, part = BAD_FILES[name]
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(Precondition, match=f"LLM_API_KEY_FILE={path}: {part}") as raised:
        settings.from_environment({"LLM_API_KEY_FILE": str(path)})
    assert str(raised.value).isprintable() and str(raised.value).isascii()


def test_a_missing_file_and_two_keys_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Precondition, match="No such file"):
        settings.from_environment({"LLM_API_KEY_FILE": str(tmp_path / "none")})
    with pytest.raises(Precondition, match="both set"):
        settings.from_environment({"LLM_API_KEY": "a", "LLM_API_KEY_FILE": "b"})
    done = subprocess.run(
        [sys.executable, "-m", "src.server.embedded_server", "--api-key-file", str(tmp_path / "none")],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2 and "--api-key-file=" in json.loads(done.stdout)["error"]


def test_a_client_sends_the_first_key_and_a_server_takes_each(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_bytes(b"\nfirst\r\nsecond\n")
    assert api_key.read(str(path), "--api-key-file") == ["first", "second"]
    config = settings.from_environment({"LLM_API_KEY_FILE": str(path)})
    assert config.api_key == "first" and "first" not in repr(config)
