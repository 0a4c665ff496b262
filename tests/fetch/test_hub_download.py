"""What `scripts/fetch_model.py` does with a hub that serves well and with one that does not.

Run alone: python -m pytest tests/fetch/test_hub_download.py
"""

import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from src.base import environment
from src.weights import hub_settings
from tests.fetch import hub as stand_in
from tests.fetch.conftest import FIRST, SECOND, Script, last_line, pin, pinned_file
from tests.fetch.hub import Fault, Hub
from tests.support import stranger
from tests.support.depth import few

PART_BYTES = 65_536
WAIT_S = 30  # upper bound on something that takes milliseconds


def wait_for_bytes(path: Path, count: int) -> None:
    end = time.monotonic() + WAIT_S
    while not (path.exists() and path.stat().st_size >= count):
        assert time.monotonic() < end, f"{path} never reached {count} bytes"
        time.sleep(0.02)


def ranges(hub: Hub, name: str) -> list[str]:
    return [asked for method, file, asked in hub.asked if method == "GET" and file == name]


def test_a_good_hub_gives_every_file_its_final_name_and_nothing_else(script: Script, hub: Hub) -> None:
    done = script.run()
    assert done.status == 0, done.err
    assert script.names() == ["a.gguf", "b.gguf"]
    assert (script.dest / "a.gguf").read_bytes() == FIRST
    assert (script.dest / "b.gguf").read_bytes() == SECOND
    assert not any(path.is_symlink() for path in script.dest.iterdir())


def test_with_every_file_in_place_no_network_and_no_download_package_is_touched(
    script: Script, hub: Hub, tmp_path: Path
) -> None:
    script.dest.mkdir()
    for name, body in hub.files.items():
        (script.dest / name).write_bytes(body)
    for name in ("huggingface_hub", "httpx2", "requests", "socket"):
        (tmp_path / f"{name}.py").write_text(f"raise RuntimeError('{name} was imported')")
    script.env["PYTHONPATH"] = str(tmp_path)
    done = script.as_a_reader_does()
    assert done.status == 0, done.err
    assert hub.asked == []


def test_a_missing_download_package_is_named_with_its_remedy(script: Script, tmp_path: Path) -> None:
    (tmp_path / "huggingface_hub.py").write_text("raise ModuleNotFoundError('x', name='huggingface_hub')")
    script.env["PYTHONPATH"] = str(tmp_path)
    done = script.as_a_reader_does()
    assert done.status == 2
    assert "huggingface_hub is missing" in last_line(done)
    assert "configs/app.lock" in last_line(done)


PASSING: list[tuple[str, Fault]] = [
    ("closes early", stand_in.closes_after(PART_BYTES)),
    ("stalls", stand_in.stalls_after(PART_BYTES)),
    ("cuts the file and its length", stand_in.shortens_to(PART_BYTES)),
    ("answers 429", stand_in.status(429, Retry_After="1")),
    ("answers 500", stand_in.status(500)),
    ("answers 503", stand_in.status(503, Retry_After="Mon, 01 Jan 2024 00:00:00 GMT")),
]


@pytest.mark.parametrize(("name", "fault"), few(PASSING), ids=[name for name, _ in PASSING])
def test_passing_trouble_is_overcome_and_the_file_is_right(script: Script, hub: Hub, name: str, fault: Fault) -> None:
    hub.faults = [fault]
    done = script.run()
    assert done.status == 0, done.err
    assert (script.dest / "a.gguf").read_bytes() == FIRST
    assert "trying again in 1 s" in done.err


@pytest.mark.parametrize(("name", "fault"), few(PASSING), ids=[name for name, _ in PASSING])
def test_lasting_trouble_ends_after_the_given_tries_with_status_3_and_no_final_file(
    script: Script, hub: Hub, name: str, fault: Fault
) -> None:
    hub.faults = [fault] * 10
    done = script.run("--tries", "2")
    assert done.status == 3
    assert "2 times in a row" in last_line(done)
    assert "a.gguf" not in script.names()
    assert len(ranges(hub, "a.gguf")) == 2


def test_a_second_start_asks_only_for_the_bytes_that_are_missing(script: Script, hub: Hub) -> None:
    hub.faults = [stand_in.closes_after(PART_BYTES)]
    first = script.run("--tries", "1")
    assert first.status == 3
    assert f"{PART_BYTES} of {len(FIRST)} bytes are kept in a.gguf.part" in last_line(first)
    assert script.names() == ["a.gguf.part"]
    second = script.run()
    assert second.status == 0, second.err
    assert ranges(hub, "a.gguf")[-1] == f"bytes={PART_BYTES}-"
    assert (script.dest / "a.gguf").read_bytes() == FIRST


def test_a_server_that_ignores_the_range_does_not_spoil_the_file(script: Script, hub: Hub) -> None:
    hub.faults = [stand_in.closes_after(PART_BYTES), stand_in.ignores_range]
    done = script.run()
    assert done.status == 0, done.err
    assert (script.dest / "a.gguf").read_bytes() == FIRST


def test_one_wrong_byte_is_refused_with_both_hashes_and_what_was_good_stays(script: Script, hub: Hub) -> None:
    hub.faults = [stand_in.Handler.send_file, stand_in.corrupts_byte(12_345)]
    done = script.run()
    spoilt = bytearray(SECOND)
    spoilt[12_345] ^= 1
    assert done.status == 1
    assert hashlib.sha256(spoilt).hexdigest() in last_line(done)
    assert hashlib.sha256(SECOND).hexdigest() in last_line(done)
    assert script.names() == ["a.gguf"]
    assert (script.dest / "a.gguf").read_bytes() == FIRST


def test_a_partial_file_spoilt_on_disk_is_found_out_and_thrown_away(script: Script, hub: Hub) -> None:
    script.dest.mkdir()
    (script.dest / "a.gguf.part").write_bytes(bytes(PART_BYTES))
    done = script.run()
    assert done.status == 1
    assert "it was deleted" in last_line(done)
    assert script.names() == []
    assert script.run().status == 0


def test_a_file_longer_than_pinned_is_refused(script: Script, hub: Hub) -> None:
    hub.faults = [stand_in.adds_byte]
    done = script.run()
    assert done.status == 1
    assert f"more than the expected {len(FIRST)} bytes" in last_line(done)
    assert "a.gguf" not in script.names()


ANSWERS = [
    (401, {}, "HTTP 401"),
    (403, {}, "HTTP 403"),
    (404, {"X_Error_Code": "EntryNotFound"}, "no such file at the pinned revision"),
    (404, {"X_Error_Code": "RevisionNotFound"}, "no such file at the pinned revision"),
]


@pytest.mark.parametrize(("code", "headers", "words"), few(ANSWERS, 2))
@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_refusal_ends_at_once_with_its_status_in_the_message(
    script: Script, hub: Hub, method: str, code: int, headers: dict[str, str], words: str
) -> None:
    faults = hub.head_faults if method == "HEAD" else hub.faults
    faults.append(stand_in.status(code, **headers))
    done = script.run()
    assert done.status == 3
    assert words in last_line(done)
    assert len([1 for asked, _, _ in hub.asked if asked == method]) == 1
    assert script.names() == [] or script.names() == ["a.gguf.part"]


def test_a_hub_that_asks_for_more_patience_than_the_cap_is_not_hammered(script: Script, hub: Hub) -> None:
    hub.faults = [stand_in.status(429, Retry_After="3600")]
    done = script.run()
    assert done.status == 3
    assert "asks to wait 3600 s" in last_line(done)
    assert len(ranges(hub, "a.gguf")) == 1


OFFERS = [
    ({"X-Linked-Etag": '"' + "0" * 64 + '"'}, "SHA-256 " + "0" * 64),
    ({"X-Linked-Size": "7"}, "bytes 7"),
    ({"X-Repo-Commit": "f" * 40}, "revision " + "f" * 40),
]


@pytest.mark.parametrize(("headers", "found"), few(OFFERS))
def test_another_variant_is_refused_before_its_first_byte(
    script: Script, hub: Hub, headers: dict[str, str], found: str
) -> None:
    hub.headers = headers
    done = script.run()
    assert done.status == 1
    assert found in last_line(done)
    assert "the hub offers another file" in last_line(done) and "expected" in last_line(done)
    assert ranges(hub, "a.gguf") == []
    assert script.names() == []


def test_a_login_page_in_place_of_the_hub_is_named_as_such(script: Script, hub: Hub) -> None:
    hub.headers = {"X-Repo-Commit": "", "X-Linked-Etag": ""}
    done = script.run()
    assert done.status == 3
    assert "did not answer like a Hugging Face hub" in last_line(done)


def test_no_hub_at_all_is_said_in_one_line(script: Script) -> None:
    script.env["HF_ENDPOINT"] = "http://127.0.0.1:9"
    done = script.run("--tries", "1")
    assert done.status == 3
    assert "Connection refused" in last_line(done)


@pytest.mark.parametrize("name", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_mode_with_a_missing_file_says_which_variable_forbids_it(script: Script, hub: Hub, name: str) -> None:
    script.env[name] = "1"
    done = script.run()
    assert done.status == 3
    assert f"{name} forbids the network" in last_line(done)
    assert hub.asked == []


def test_settings_without_a_value_count_as_not_set(script: Script, hub: Hub) -> None:
    blank = ("HF_HUB_DOWNLOAD_TIMEOUT", "HF_HUB_ETAG_TIMEOUT", "HF_TOKEN", "HF_HUB_OFFLINE")
    script.env |= dict.fromkeys(blank, "")
    done = script.run()
    assert done.status == 0, done.err
    assert script.names() == ["a.gguf", "b.gguf"]


def test_a_variable_of_the_progress_bar_that_a_library_brings_is_no_traceback(script: Script) -> None:
    script.env |= {"TQDM_MININTERVAL": "soon", "TQDM_POSITION": "x"}
    done = script.run()
    assert done.status == 0, done.err


def test_an_address_without_a_value_is_the_hubs_own() -> None:
    env = {"HF_ENDPOINT": " ", "HF_TOKEN": "", "PIP_INDEX_URL": "", "HF_HOME": "/somewhere"}
    changes = hub_settings.overrides(env)
    assert changes == {"HF_ENDPOINT": None, "HF_TOKEN": None, "HF_HUB_DISABLE_TELEMETRY": "1"}


@pytest.mark.parametrize("name", ["HF_HUB_DOWNLOAD_TIMEOUT", "HF_HUB_ETAG_TIMEOUT"])
@pytest.mark.parametrize("value", few(["soon", "0", "1.5", "-1", "10 s"], 2))
def test_a_waiting_time_that_is_none_is_named_before_anything_is_asked(
    script: Script, hub: Hub, name: str, value: str
) -> None:
    script.env[name] = value
    done = script.run()
    assert done.status == 2
    assert f"{name}={value!r} is not a whole number of seconds above 0" in last_line(done)
    assert done.err.count("\n") == 1
    assert hub.asked == []


STUMBLES = [
    ("ALL_PROXY", "socks5://127.0.0.1:9", "SOCKS needs a package"),
    ("https_proxy", "foo://x", "not an address"),
    ("HTTP_PROXY", "http://[::1", "not an address"),
    ("HTTP_PROXY", "::::", "not an address"),
    ("SSL_CERT_FILE", "/nowhere/ca.pem", "No such file"),
    ("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem", "No such file"),
    ("SSLKEYLOGFILE", "/nowhere/keys", "cannot be written"),
    ("HF_ENDPOINT", "127.0.0.1:9", "not an http(s) address"),
    ("HF_ENDPOINT", "http://[::1", "not an http(s) address"),
    ("HF_TOKEN", "schlüssel", "an HTTP header cannot carry"),
    ("HF_TOKEN", "a\nb", "an HTTP header cannot carry"),
    ("HF_TOKEN_PATH", "/", "is a folder"),
    ("HF_HOME", "/dev/null", "is no folder"),
    ("HF_HUB_USER_AGENT_ORIGIN", "ü", "an HTTP header cannot carry"),
]


@pytest.mark.parametrize(("name", "value", "why"), STUMBLES)
def test_a_variable_that_a_library_would_stumble_over_is_named_in_one_line(
    script: Script, hub: Hub, name: str, value: str, why: str
) -> None:
    script.env[name] = value
    if name == "SSLKEYLOGFILE":  # read with certificates only
        script.env["SSL_CERT_FILE"] = DEFAULT_CA_BUNDLE_PATH
    done = script.run()
    assert done.status == 2
    assert last_line(done).startswith(f"fetch_model: {name}") and why in last_line(done)
    assert done.err.count("\n") == 1
    assert hub.asked == []


def test_a_password_in_a_proxy_variable_is_not_shown(script: Script) -> None:
    script.env["HTTPS_PROXY"] = "foo://user:sesame@127.0.0.1"
    done = script.run()
    assert done.status == 2 and "sesame" not in done.out + done.err


def test_the_environment_is_as_it_was_after_a_download(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "")
    before = dict(os.environ)
    with environment.changed(hub_settings.overrides()):
        assert "HF_TOKEN" not in os.environ and os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
    assert dict(os.environ) == before


def test_a_link_to_nothing_under_the_final_name_is_called_what_it_is(script: Script, hub: Hub) -> None:
    script.dest.mkdir()
    (script.dest / "a.gguf").symlink_to("nowhere")
    done = script.run()
    assert done.status == 2
    assert "is a link to something that is not there" in last_line(done) and "missing" not in last_line(done)


def test_a_folder_of_somebody_else_is_named_with_its_owner_and_the_remedy(script: Script, hub: Hub) -> None:
    script.dest.mkdir()
    before, owner = stranger.closed(script.dest)
    done = script.as_a_reader_does(*before)
    assert done.status == 2
    assert f"belongs to user {owner} " in last_line(done)
    assert f"runs as user {os.geteuid()}," in last_line(done)
    assert "sh scripts/setup.sh" in last_line(done)
    assert hub.asked == []


WRONG_FILES = [("cut", FIRST[:-1]), ("one byte more", FIRST + b"x"), ("another variant", FIRST[::-1])]


@pytest.mark.parametrize(("name", "body"), few(WRONG_FILES), ids=[name for name, _ in WRONG_FILES])
def test_a_wrong_file_under_the_final_name_is_reported_and_left_alone(
    script: Script, hub: Hub, name: str, body: bytes
) -> None:
    script.dest.mkdir()
    (script.dest / "a.gguf").write_bytes(body)
    done = script.run()
    assert done.status == 2
    assert "a.gguf" in last_line(done)
    assert "left as it is: move it away" in last_line(done) and "expected" in last_line(done)
    assert (script.dest / "a.gguf").read_bytes() == body
    assert hub.asked == []


def test_a_link_under_the_final_name_is_refused_even_when_its_target_is_right(
    script: Script, hub: Hub, tmp_path: Path
) -> None:
    script.dest.mkdir()
    (tmp_path / "blob").write_bytes(FIRST)
    (script.dest / "a.gguf").symlink_to(tmp_path / "blob")
    done = script.run()
    assert done.status == 2
    assert "not a regular file" in last_line(done)
    assert hub.asked == []


def test_a_file_too_large_for_the_disk_is_refused_before_it_is_asked_for(script: Script, hub: Hub) -> None:
    huge = {"name": "huge.gguf", "size": 10**16, "sha256": "0" * 64}
    source = {"source": "huggingface", "repository": stand_in.REPOSITORY, "revision": stand_in.REVISION}
    pin(script.lock.parent, "huge", {**source, "files": [huge]})
    done = script.run(model="huge")
    assert done.status == 2
    assert "bytes free" in last_line(done)
    assert hub.asked == []


def test_a_disk_that_fills_during_the_download_keeps_what_fitted(script: Script, hub: Hub) -> None:
    limit = 1024 * (PART_BYTES // 1024)  # RLIMIT_FSIZE makes write() fail as a full disk does, without needing root
    done = script.as_a_reader_does("bash", "-c", f'ulimit -f {limit // 1024}; exec "$@"', "bash")
    assert done.status == 2
    assert "files may not be that large here, see ulimit -f" in last_line(done)
    assert script.names() == ["a.gguf.part"]
    assert (script.dest / "a.gguf.part").read_bytes() == FIRST[:limit]
    assert script.run().status == 0
    assert ranges(hub, "a.gguf")[-1] == f"bytes={limit}-"


@pytest.mark.parametrize("number", few([signal.SIGINT, signal.SIGTERM], mark="kill"))
def test_a_signal_ends_in_one_line_and_the_next_start_goes_on(script: Script, hub: Hub, number: signal.Signals) -> None:
    script.env["HF_HUB_DOWNLOAD_TIMEOUT"] = "60"
    hub.faults = [stand_in.stalls_after(PART_BYTES)]
    process = script.start()
    wait_for_bytes(script.dest / "a.gguf.part", 1)
    process.send_signal(number)
    ended = process.ended(WAIT_S)
    assert ended.status == 1
    assert "interrupted" in last_line(ended)
    have = (script.dest / "a.gguf.part").stat().st_size
    assert script.run().status == 0
    assert ranges(hub, "a.gguf")[-1] == f"bytes={have}-"


@pytest.mark.kill
def test_a_killed_download_leaves_no_final_file_and_the_next_start_goes_on(script: Script, hub: Hub) -> None:
    script.env["HF_HUB_DOWNLOAD_TIMEOUT"] = "60"
    hub.faults = [stand_in.stalls_after(PART_BYTES)]
    process = script.start()
    wait_for_bytes(script.dest / "a.gguf.part", 1)
    process.kill()
    process.ended(WAIT_S)
    assert script.names() == ["a.gguf.part"]
    assert script.run().status == 0
    assert (script.dest / "a.gguf").read_bytes() == FIRST


def test_two_downloads_into_one_folder_do_not_meet(script: Script, hub: Hub) -> None:
    script.env["HF_HUB_DOWNLOAD_TIMEOUT"] = "60"
    hub.faults = [stand_in.stalls_after(PART_BYTES)]
    first = script.start()
    wait_for_bytes(script.dest / "a.gguf.part", 1)
    second = script.run()
    first.kill()
    first.ended(WAIT_S)
    assert second.status == 2
    assert "another fetch_model.py" in last_line(second)
    assert len(ranges(hub, "a.gguf")) == 1


def test_an_unknown_model_names_the_known_ones(script: Script) -> None:
    done = script.run(model="llama")
    assert done.status == 2
    assert "tiny" in last_line(done)


def test_the_default_model_comes_from_the_environment(script: Script, hub: Hub) -> None:
    script.env["R3_MODEL"] = "tiny"
    done = script.as_a_reader_does(words=[])
    assert done.status == 0, done.err
    assert script.names() == ["a.gguf", "b.gguf"]


@pytest.mark.slow
def test_progress_starts_the_count_of_failures_anew(script: Script, hub: Hub) -> None:
    large = os.urandom(5 << 20)
    hub.files["large.gguf"] = large
    hub.faults = [stand_in.closes_after(1 << 20 | 1)] * 3
    source = {"source": "huggingface", "repository": stand_in.REPOSITORY, "revision": stand_in.REVISION}
    pin(script.lock.parent, "large", {**source, "files": [pinned_file("large.gguf", large)]})
    done = script.run("--tries", "2", model="large")
    assert done.status == 0, done.err
    assert (script.dest / "large.gguf").read_bytes() == large


def test_a_terminal_gets_a_bar(script: Script, hub: Hub) -> None:
    hub.faults = [stand_in.closes_after(PART_BYTES)]  # a download that takes less than a second gets none
    inside = "stty rows 40 cols 120; exec " + subprocess.list2cmdline(script.command("--model", "tiny"))
    command = ["script", "--quiet", "--return", "--command", inside, "/dev/null"]
    shown = subprocess.run(command, env=script.environment(), capture_output=True, text=True, timeout=120, check=True)
    assert "download a.gguf: 100%|" in shown.stdout


def test_only_the_pinned_files_are_asked_for(script: Script, hub: Hub) -> None:
    script.run()
    assert {(method, name) for method, name, _ in hub.asked} == {
        (method, name) for method in ("HEAD", "GET") for name in ("a.gguf", "b.gguf")
    }
