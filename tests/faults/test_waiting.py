"""What keeps a server from answering is told apart: slow, absent, untrusted, strict, or a fault of this machine.

Run alone with: python -m pytest tests/faults/test_waiting.py
"""

import errno
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from src.base.children import ended
from src.base.errors import Precondition, ServerUnavailable
from src.server import deadline, readiness
from src.server.client import Client
from src.server.embedded_server import serve
from src.server.failures import Ours
from src.server.processors import Threads
from src.server.settings import Settings, from_environment
from src.weights.models import load
from tests.support.faulty_server import FaultyServer, Request, Step, http, send, serving, wait
from tests.support.inprocess import Ended
from tests.support.project import Shop, succeeded

QUESTION = "What is the stock level for REF-001?"
NOT_FOUND = http(b'{"error":{"message":"no such route"}}', "404 Not Found")


def client(url: str, wait_s: float = 30, timeout_s: float = 5) -> Client:
    return Client(Settings(url, "", "m", timeout_s, wait_s))


def ready(asked: Client) -> list[str]:
    """Wait for the server; what was said meanwhile."""
    said: list[str] = []
    readiness.wait_ready(asked, said.append)
    return said


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look takes a fifth of a second at first, where it takes five: the rest of the arithmetic stays."""
    monkeypatch.setattr(readiness, "CONNECT_S", 0.2)
    monkeypatch.setattr(readiness, "LEAST_S", 0.2)
    monkeypatch.setattr(readiness, "NOBODY_S", 0.3)
    monkeypatch.setattr(readiness, "POLL_S", 0.05)


def test_a_gateway_with_a_slow_health_page_is_ready_when_its_models_are(in_a_hurry: None) -> None:
    with serving(lambda r: [wait(30)] if r.path == "/health" else None) as server:
        assert ready(client(server.url)) == []


@pytest.mark.parametrize(
    ("models", "says"),
    [
        (None, None),
        (http(b'{"error":{"message":"No api key passed in."}}', "401 Unauthorized"), r"HTTP 401 .*; check LLM_API_KEY"),
        (http(b"Internal Server Error", "500 Oops"), r"HTTP 500 \(waited 0\..*a gateway may answer so .* LLM_API_KEY"),
        (
            http(b"no healthy upstream", "503 Service Unavailable"),
            r"not ready, HTTP 503.*\(waited 1\..*raise LLM_WAIT_S, or see its log",
        ),
    ],
    ids=["its models are listed", "a key is asked for", "that fails as well", "nobody behind it yet"],
)
def test_a_health_page_that_fails_is_not_a_model_that_is_loading(
    models: bytes | None, says: str | None, in_a_hurry: None
) -> None:
    """LiteLLM without one of its packages answers 500 where a key is missing: ten minutes' wait."""
    failing = [send(http(b"Internal Server Error", "500 Oops"))]
    with serving(lambda r: failing if r.path == "/health" else [send(models)] if models else None) as server:
        if says is None:
            assert ready(client(server.url)) == []
            return
        with pytest.raises(ServerUnavailable, match=says):
            ready(client(server.url, wait_s=1))


UNDERSTOOD = http(b'{"error":{"message":"Field required: messages"}}', "422 Unprocessable Entity")
DENIED = http(b'{"error":{"message":"Missing scopes: model.read"}}', "403 Forbidden")
UNWELL = http(b'{"status":"degraded"}', "503 Service Unavailable")


@pytest.mark.parametrize(
    ("health", "models"),
    [(NOT_FOUND, DENIED), (UNWELL, None), (http(b"", "504 Gateway Timeout"), DENIED)],
    ids=["a key for questions only", "another of the gateway's models is down", "nothing but questions"],
)
def test_a_server_that_understands_a_question_is_ready_whatever_its_pages_say(
    health: bytes, models: bytes | None, in_a_hurry: None
) -> None:
    def plan(request: Request) -> Sequence[Step] | None:
        if request.path == "/v1/chat/completions":
            return [send(UNDERSTOOD)]
        page = health if request.path == "/health" else models
        return [send(page)] if page else None

    with serving(plan) as server:
        assert ready(client(server.url, wait_s=1)) == []


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
def test_a_key_that_fits_for_nothing_is_still_missed(status: str, in_a_hurry: None) -> None:
    with serving(lambda _: [send(http(b'{"error":{"message":"no key"}}', status))]) as server:
        with pytest.raises(ServerUnavailable, match=r"check LLM_API_KEY"):
            ready(client(server.url, wait_s=1))
        assert {request.path for request in server.requests} <= {"/health", "/v1/models", "/v1/chat/completions"}


def test_a_server_that_is_slow_to_everything_is_given_longer_each_time(in_a_hurry: None) -> None:
    """Each page takes three times as long as the first look allows; somebody listens, so LLM_WAIT_S applies."""
    with serving(lambda _: [wait(0.6), send(http(b'{"status":"ok"}'))]) as server:
        said = ready(client(server.url))
    assert len(said) >= 1 and all("no complete reply within" in line for line in said)


@pytest.mark.parametrize("wait_s", [0.01, 0.3])
def test_a_short_limit_is_kept_and_reported_as_it_was(wait_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    with pytest.raises(ServerUnavailable, match=r"connection refused \(waited 0\.\d s\)"):
        ready(client("http://127.0.0.1:1", wait_s))
    assert slept and all(seconds <= wait_s for seconds in slept)


@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable Entity"])
def test_a_server_with_chat_completions_and_nothing_else_is_asked(status: str, shop: Shop) -> None:
    refusal = http(b'{"error":{"message":"messages is required"}}', status)

    def plan(request: Request) -> Sequence[Step] | None:
        if not request.stage:
            return [send(NOT_FOUND)]
        return None if request.body else [send(refusal)]

    with serving(plan) as server:
        shop.url = server.url
        assert "waiting" not in succeeded(shop.run("ask", QUESTION))
    assert [bool(request.body) for request in server.requests if request.stage] == [False, True, True]


def strict(request: Request) -> Sequence[Step] | None:
    """A server that knows the fields of the interface and no other, and says nothing about itself."""
    if request.path == "/props":
        return [send(NOT_FOUND)]
    known = {"model", "messages", "temperature", "seed", "max_tokens", "response_format"}
    if request.stage and (more := set(request.body) - known):
        return [send(http(f'{{"error":{{"message":"unknown field {more}"}}}}'.encode(), "400 Bad Request"))]
    return None


def test_a_field_of_llama_cpp_goes_to_llama_cpp_alone_and_the_record_says_so(shop: Shop) -> None:
    with serving(strict) as server:
        shop.url = server.url
        succeeded(shop.run("agent"))
    run = shop.read()
    assert all(result["error"] is None for result in run["results"])
    assert "cache_prompt" not in run["provenance"]["generation"]
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("agent", "--jobs", "2"))
        assert all(request.body["cache_prompt"] is False for request in server.requests if request.stage)
    assert shop.read()["provenance"]["generation"]["cache_prompt"] is False


@pytest.mark.parametrize("path", ["/props", "/v1/models"])
def test_a_page_about_itself_that_is_too_slow_ends_no_run(path: str, shop: Shop) -> None:
    shop.env["LLM_TIMEOUT_S"] = "0.5"
    with serving(lambda request: [wait(30)] if request.path == path else None) as server:
        shop.url = server.url
        succeeded(shop.run("ask", QUESTION))
        assert all("cache_prompt" in request.body for request in server.requests if request.stage)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that no public authority knows, and its key."""
    folder = tmp_path_factory.mktemp("authority")
    certificate, key = folder / "ca.pem", folder / "key.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    words += " -addext subjectAltName=IP:127.0.0.1"
    command = [str(shutil.which("openssl")), *words.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@contextmanager
def encrypted(authority: tuple[Path, Path]) -> Iterator[FaultyServer]:
    with serving() as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        yield server


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
def test_a_private_authority_is_trusted_where_a_variable_names_it(
    name: str, authority: tuple[Path, Path], shop: Shop
) -> None:
    with encrypted(authority) as server:
        shop.url = server.url.replace("http:", "https:")
        shop.env |= {name: str(authority[0])}
        succeeded(shop.run("ask", QUESTION))


def test_a_certificate_that_does_not_verify_is_said_at_once_with_its_own_remedy(authority: tuple[Path, Path]) -> None:
    with encrypted(authority) as server, pytest.raises(ServerUnavailable) as caught:
        ready(client(server.url.replace("http:", "https:"), wait_s=600))
    line = str(caught.value)
    assert "certificate does not verify" in line and "SSL_CERT_FILE" in line and "docker" not in line
    assert server.requests == []


def test_encryption_to_a_server_without_it_is_said_at_once() -> None:
    with serving() as server, pytest.raises(ServerUnavailable, match="no encrypted connection"):
        ready(client(server.url.replace("http:", "https:"), wait_s=600))


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_DIR"])
def test_certificates_that_are_not_there_are_named_by_their_variable(name: str, tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("no certificate")
    for path, words in ((tmp_path / "gone.pem", "No such file"), (tmp_path / "no.pem", "holds no certificate")):
        env = {"LLM_BASE_URL": "https://127.0.0.1:1", name: str(path)}
        with pytest.raises(Precondition, match=f"{name}=.*{words}"):
            from_environment(env)
        assert from_environment({**env, "LLM_BASE_URL": "http://127.0.0.1:1"}).authorities == ()  # needed by nobody


LOCAL = {
    errno.EMFILE: "open no more files",
    errno.ENETUNREACH: "no route there",
    errno.EACCES: "does not allow",
    errno.EADDRNOTAVAIL: "no address or port",
}


@pytest.mark.parametrize("number", LOCAL)
def test_a_failure_of_this_machine_is_said_to_lie_here(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(Ours, match=f"was not asked: .*{LOCAL[number]}"):
        ready(client("http://127.0.0.1:1"))


def test_a_host_that_is_off_is_not_called_slow(monkeypatch: pytest.MonkeyPatch, in_a_hurry: None) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH))

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(ServerUnavailable, match="no connection: No route to host"):
        ready(client("http://127.0.0.1:1"))


def test_no_descriptor_for_a_name_is_not_an_unknown_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def starved(*_: Any, **__: Any) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    def full(*_: Any, **__: Any) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(socket, "getaddrinfo", starved)
    with pytest.raises(Exception, match="host name is unknown"):
        client("http://server:1").get("/health")
    monkeypatch.setattr(os, "open", full)
    with pytest.raises(Ours, match="open no more files"):
        client("http://server:1").get("/health")


def test_no_thread_for_the_deadline_lies_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def limited(thread: threading.Thread) -> None:
        if thread.name == "deadline":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(deadline, "_WATCH", deadline._Watch())  # one that has no thread yet
    with serving() as server:
        monkeypatch.setattr(threading.Thread, "start", limited)
        with pytest.raises(Ours, match="may start no more threads"):
            client(server.url).get("/health")


def test_a_run_out_of_descriptors_costs_no_question(shop: Shop) -> None:
    """The given input: `ulimit -n 20; agent --jobs 8`."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))

    with serving() as server:
        shop.url = server.url
        done = subprocess.run(
            shop.command("agent", "--jobs", "8"),
            cwd=shop.root,
            env=shop.environment(),
            preexec_fn=limit,
            capture_output=True,
            text=True,
            check=False,
        )
        line = Ended(done.returncode, done.stdout, done.stderr).line
        assert (done.returncode, line.count("\n")) == (2, 1), done
        assert "server is gone" not in line and "open" in line
        assert "agent --resume" in line
        succeeded(shop.run("agent", "--resume", "--jobs", "8"))
    assert [result["error"] for result in shop.read()["results"]] == [None] * 30


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ModuleNotFoundError("No module named 'xllamacpp'"), "pip install"),
        (ImportError("libgomp.so.1: cannot open shared object file: No such file or directory"), "libgomp1"),
        (ImportError("/lib/libc.so.6: version `GLIBC_2.99' not found"), "do not fit"),
    ],
)
def test_each_reason_why_the_wheel_is_not_imported_has_its_own_remedy(
    error: ImportError, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Finder:
        def find_spec(self, name: str, *_: Any) -> None:
            if name == "xllamacpp":
                raise error

    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    monkeypatch.setenv("GOMP_SPINCOUNT", "1")  # so that it is put back
    with pytest.raises(Precondition) as caught:
        serve(load("embedded"), [Path("none.gguf")], "127.0.0.1", 0, Threads(1, 1), {})
    assert remedy in str(caught.value)
    assert ("pip install" in str(caught.value)) == isinstance(error, ModuleNotFoundError)


def test_how_a_child_ended_is_said_in_words() -> None:
    assert ended(-signal.SIGKILL) == "by SIGKILL (usually because memory ran out)"
    assert ended(-signal.SIGTERM) == "by SIGTERM"
    assert ended(-250) == "by signal 250"
    assert ended(3) == "with status 3"
