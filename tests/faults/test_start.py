"""The server before it can answer, and what it says about itself: loading, absent, or something else on the port.

Run alone with: python -m pytest tests/faults/test_start.py
"""

import json
import socket
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from src import agent
from src.server import readiness
from src.server.client import Client
from src.server.readiness import NOBODY_ELSEWHERE_S, NOBODY_S, patience
from src.server.reply import TransportFailure
from src.server.settings import Settings
from tests.support import tally
from tests.support.depth import few, spread
from tests.support.faulty_server import (
    Request,
    Step,
    completion,
    drip,
    endless,
    good,
    hang_up,
    http,
    proposal,
    reset,
    send,
    serving,
    wait,
)
from tests.support.project import Shop, failed, succeeded

LOADING = http(
    b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}', "503 Service Unavailable"
)
QUESTION = "What is the stock level for REF-001?"

NEVER_READY: dict[str, tuple[Sequence[Step], str]] = {
    "loading for ever": ([send(LOADING)], "HTTP 503: loading the model"),
    "failing": ([send(http(b"oops", "500 Internal Server Error"))], "HTTP 500"),
    "another service": ([send(http(b'{"status":"UP"}'))], "not as a model server"),
    "a web page": ([send(http(b"<html>"))], "not as a model server"),
    "an array": ([send(http(b"[]"))], "not as a model server"),
    "nothing there": ([send(http(b"{}", "404 Not Found"))], "not as a model server"),
    "redirects": ([send(http(b"", "302 Found", "Location: http://127.0.0.1:1/"))], "not as a model server"),
    "a broken redirect": ([send(http(b"", "302 Found", "Location: http://[::1"))], "not as a model server"),
    "wants a key": ([send(http(b"{}", "401 Unauthorized"))], "HTTP 401"),
    "hangs up": ([hang_up], "closed the connection"),
    "resets": ([reset], "connection reset"),
    "speaks SSH": ([send(b"SSH-2.0-OpenSSH_9.2\r\n"), hang_up], "not HTTP"),
    "never ends": ([endless(b"HTTP/1.1 200 OK\r\n\r\nx")], "larger than"),
    "nested": ([send(http(b"[" * 100_000))], "not as a model server"),
    "binary": ([send(http(bytes(range(256))))], "not as a model server"),
}

REMEDIES = {
    "wants a key": "check LLM_API_KEY",
    "failing": "see its log; a gateway",
    "loading for ever": "raise LLM_WAIT_S",
}
BROKEN = ("hangs up", "resets", "speaks SSH")  # the server's log may say why; elsewhere its address is looked at


@pytest.mark.parametrize("command", few(["agent", "ask"]))
@pytest.mark.parametrize("name", spread(NEVER_READY, 8))
def test_a_server_that_cannot_answer_is_named_and_nothing_is_asked(name: str, command: str, shop: Shop) -> None:
    steps, says = NEVER_READY[name]
    shop.env["LLM_WAIT_S"] = "0.4"
    with serving(lambda _: steps) as server:
        shop.url = server.url
        line = failed(shop.run(command, *([QUESTION] if command == "ask" else [])), 3, says)
        assert not [request for request in server.requests if request.stage and request.body]
    remedy = REMEDIES.get(name, f"; {'see its log, or ' if name in BROKEN else ''}look at LLM_BASE_URL")
    assert server.url in line and remedy in line
    assert not [other for other in (*REMEDIES.values(), "docker compose") if other in line and other != remedy]
    assert not (shop.outputs / f"{command}.json").exists()
    tally.count("faults", "server start: never ready")


def test_a_server_that_is_silent_is_named(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "LEAST_S", 0.3)
    shop.env["LLM_WAIT_S"] = "0.4"
    with serving(lambda _: [wait(30)]) as server:
        shop.url = server.url
        failed(shop.run("ask", QUESTION), 3, r"no complete reply within 0\.4 s")
    tally.count("faults", "server start: never ready")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1:1", "connection refused"),
        ("http://[::1]:1", "refused|Cannot assign|unreachable|not supported"),
    ],
)
def test_nobody_listening_is_named(url: str, says: str, shop: Shop) -> None:
    shop.url, shop.env["LLM_WAIT_S"] = url, "0.4"
    failed(shop.run("agent"), 3, says)
    tally.count("faults", "server start: never ready")


HEADERS = {
    "a boundary in broken parts": (
        "Content-Type: multipart/mixed; boundary*0=a; boundary*=b",
        "headers cannot be read",
    ),
    "a cookie without a value": ("Set-Cookie: a=b; max-age", ""),
    "a cookie of an old kind": ("Set-Cookie2: a; port; max-age", ""),
}


@pytest.mark.parametrize("path", few(["/health", "/props", "/v1/chat/completions"]))
@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_the_libraries_stumble_over_is_one_line_or_nothing(name: str, path: str, shop: Shop) -> None:
    header, says = HEADERS[name]
    odd = f"\r\n{header}\r\n".encode()
    with serving(lambda r: [send(good(r).replace(b"\r\n", odd, 1))] if r.path == path else None) as server:
        shop.url = server.url
        done = shop.run("ask", QUESTION)
    if says:
        failed(done, 3, says)
        assert path != "/v1/chat/completions" or shop.read("ask.json")["result"]["trace"] == []
    else:
        succeeded(done)
    tally.count("faults", "server start: headers")


@pytest.mark.parametrize("status", ["405 Method Not Allowed", "501 Unsupported method ('GET')"])
def test_a_server_that_takes_questions_and_nothing_else_is_asked(status: str, shop: Shop) -> None:
    with serving(lambda request: None if request.stage else [send(http(b"", status))]) as server:
        shop.url = server.url
        told = succeeded(shop.run("ask", QUESTION))
    assert "waiting" not in told
    assert shop.read("ask.json")["provenance"]["server"]["model"] is None
    tally.count("faults", "server start: ready later")


def test_a_name_that_takes_too_long_to_look_up_does_not_lift_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline passes before there is a socket that it could shut."""
    looked_up = socket.getaddrinfo

    def slowly(*args: Any, **kwargs: Any) -> Any:
        threading.Event().wait(0.6)
        return looked_up(*args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    with serving(lambda _: [drip(http(b"{}"), 0.5)]) as server:
        client = Client(Settings(server.url, "", "m", timeout_s=0.2, wait_s=1))
        with pytest.raises(TransportFailure, match=r"no complete reply within 0\.2 s"):
            client.chat(agent.request("m", "", "?", None, ""))
        assert not server.requests


@pytest.mark.parametrize(
    ("url", "seconds"),
    [
        ("http://127.0.0.1:8080", NOBODY_S),
        ("http://localhost:8080", NOBODY_S),
        ("http://[::1]:8080", NOBODY_S),
        ("http://server:8080", NOBODY_ELSEWHERE_S),
        ("http://192.0.2.1:8080", NOBODY_ELSEWHERE_S),
    ],
)
def test_a_server_elsewhere_has_more_time_to_open_its_port(url: str, seconds: float) -> None:
    assert patience(url) == seconds
    assert NOBODY_S < NOBODY_ELSEWHERE_S


@pytest.mark.parametrize("name", few(["loading", "refused", "reset"]))
def test_a_server_that_becomes_ready_is_waited_for(name: str, shop: Shop) -> None:
    starts: dict[str, list[Step]] = {"loading": [send(LOADING)], "refused": [hang_up], "reset": [reset]}
    first = starts[name]
    with serving(lambda request: first if request.path == "/health" and request.number < 2 else None) as server:
        shop.url, shop.env["LLM_WAIT_S"] = server.url, "20"
        told = succeeded(shop.run("ask", QUESTION))
    assert told.count("waiting for the model server") == 1
    assert shop.read("ask.json")["result"]["error"] is None
    tally.count("faults", "server start: ready later")


SETTINGS = [
    ("LLM_BASE_URL", "server:8080"),
    ("LLM_BASE_URL", "file:///etc/passwd"),
    ("LLM_BASE_URL", "http://"),
    ("LLM_BASE_URL", "http://[::1"),
    ("LLM_BASE_URL", "http://127.0.0.1:99999"),
    ("LLM_BASE_URL", "http://127.0.0.1:8080\x1b[2J"),
    ("LLM_BASE_URL", "http://127.0.0.1:80\n80"),
    ("LLM_API_KEY", "schlüssel"),
    ("LLM_API_KEY", "a\nb"),
    ("LLM_TIMEOUT_S", "0"),
    ("LLM_TIMEOUT_S", "-1"),
    ("LLM_TIMEOUT_S", "nan"),
    ("LLM_TIMEOUT_S", "inf"),
    ("LLM_TIMEOUT_S", "1e9"),
    ("LLM_TIMEOUT_S", "two\x1b[2J"),
    ("LLM_WAIT_S", "soon"),
    ("R3_LANG", "klingon"),
    ("R3_LANG", "e\x1b[2J"),
]


@pytest.mark.parametrize(("name", "value"), SETTINGS)
def test_a_wrong_setting_is_named_before_anything_is_sent(name: str, value: str, shop: Shop) -> None:
    shop.env[name] = value
    failed(shop.run("ask", QUESTION), 2, name)
    tally.count("faults", "settings")


PROPS: list[Any] = [
    {"default_generation_settings": {"n_ctx": float("nan")}},
    {"default_generation_settings": {"n_ctx": 10**4000}, "total_slots": float("inf")},
    {"default_generation_settings": [1], "total_slots": True, "build_info": ["\x1b"], "model_alias": 5},
    {"build_info": "\x1b[2J\u202e" * 5000, "model_alias": "\ud800", "model_ftype": "a\nb"},
    [],
    None,
    "text",
]


@pytest.mark.parametrize("props", PROPS, ids=range(len(PROPS)))
def test_what_a_server_says_about_itself_is_recorded_as_plain_data(props: Any, shop: Shop) -> None:
    listed = json.dumps({"data": [{"id": "m\x1b[2J" * 99, "tags": [None, "xllamacpp-\x1b[31m", "cpu"]}]}).encode()
    own = {"/props": http(json.dumps(props).encode()), "/v1/models": http(listed)}
    with serving(lambda request: [send(own[request.path])] if request.path in own else None) as server:
        shop.url = server.url
        succeeded(shop.run("agent", "--data", "data/products.json"))
    reported = shop.read()["provenance"]["server"]
    for value in (*reported.values(), *reported["defaults"].values()):
        assert value is None or type(value) in (bool, int, float, list, dict) or value.isprintable()
    assert len(json.dumps(reported)) < 10_000
    tally.count("faults", "server's word about itself")


def test_the_schema_goes_where_it_constrains_and_the_key_goes_along(shop: Shop) -> None:
    shop.env["LLM_API_KEY"] = "sesame"
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("ask", QUESTION))
    (proposal,) = server.asked("proposal")
    schema = proposal.body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["outil", "arguments"] and schema["additionalProperties"] is False
    assert schema["properties"]["arguments"]["properties"]["ref"]["pattern"] == "^REF-[0-9]{3}$"
    assert (proposal.body["temperature"], proposal.body["seed"], proposal.body["max_tokens"]) == (0, 42, 100)
    assert proposal.body["cache_prompt"] is False and proposal.headers["authorization"] == "Bearer sesame"
    assert "response_format" not in server.asked("answer")[0].body


@pytest.mark.parametrize("status", [302, 307, 401, 500])
def test_a_key_is_sent_to_no_other_address(status: int, shop: Shop) -> None:
    shop.env["LLM_API_KEY"] = "sesame"
    with serving() as other:

        def plan(request: Request) -> Sequence[Step] | None:
            moved = http(b"{}", f"{status} Elsewhere", f"Location: {other.url}/v1/chat/completions")
            return [send(moved)] if request.stage else None

        with serving(plan) as server:
            shop.url = server.url
            failed(shop.run("ask", QUESTION), 3, f"HTTP {status}")
        assert other.requests == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxy_variables_of_the_shell_do_not_apply(name: str, shop: Shop) -> None:
    with serving() as proxy, serving() as server:
        shop.url, shop.env[name] = server.url, proxy.url
        succeeded(shop.run("ask", QUESTION))
        assert proxy.requests == [] and len(server.asked("proposal")) == 1


def test_each_exchange_has_a_connection_of_its_own(shop: Shop) -> None:
    with serving() as server:
        shop.url = server.url
        succeeded(shop.run("ask", QUESTION))
        assert server.connections == len(server.requests) >= 3


def test_a_connection_closed_between_two_questions_costs_no_question(shop: Shop) -> None:
    """The server closes every kept connection shortly after its reply, as one with a short idle timeout does."""

    def plan(request: Request) -> Sequence[Step] | None:
        return [send(good(request)), hang_up]

    with serving(plan) as server:
        shop.url = server.url
        succeeded(shop.run("agent"))
        assert server.connections >= 60
    assert all(result["error"] is None for result in shop.read()["results"])


def test_what_a_faulty_reply_leaves_on_the_connection_is_not_taken_for_the_next_reply(shop: Shop) -> None:
    """A length that is too short, and behind it a whole reply about another product."""
    smuggled = http(completion(proposal("REF-055")))

    def plan(request: Request) -> Sequence[Step] | None:
        broken = [send(http(b"{}x", length=2)), wait(0.02), send(smuggled * 3)]
        return broken if request.stage == "proposal" and "REF-000" in request.asked else None

    with serving(plan) as server:
        shop.url = server.url
        succeeded(shop.run("agent"))
    results = shop.read()["results"]
    assert [result["id"] for result in results if result["error"]] == [0]
    for result in results[1:]:
        assert result["trace"][0]["call"]["arguments"]["ref"] == result["ref"]


def test_a_drip_is_cut_at_the_deadline(shop: Shop) -> None:
    """Each byte comes in time for a socket timeout; the whole reply would take several seconds."""
    shop.env["LLM_TIMEOUT_S"] = "0.3"
    sent = threading.Event()
    slow = [send(http(b"", length=500)), drip(b" " * 480, 0.01), lambda *_: sent.set(), drip(b" " * 20, 0.01)]
    with serving(lambda request: slow if request.stage else None) as server:
        shop.url = server.url
        failed(shop.run("ask", QUESTION), 3, r"no complete reply within 0\.3 s")
        assert not sent.is_set(), "the client listened nearly to the end"


@pytest.mark.parametrize(("more", "status"), [(0, 1), (1, 3)])
def test_a_reply_of_8_mib_is_read_and_no_byte_more(more: int, status: int, shop: Shop) -> None:
    start, end = completion("?"), b" " * ((8 << 20) - len(completion("?")) + more)
    with serving(lambda request: [send(http(start + end))] if request.stage else None) as server:
        shop.url = server.url
        failed(shop.run("ask", QUESTION), status, "larger than 8388608 bytes" if more else "not JSON")
