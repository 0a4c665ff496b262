"""The broken replies, by kind: one table for `ask` and `agent`, the first and the second generation.

A kind is a family of public complaints and what lies beside them. Each row says with which words
the failure is named and whether it counts as the server's (`ask` ends with 3) or as a refusal (1).
"""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.faulty_server import Step, completion, drip, endless, hang_up, http, proposal, reset, send, wait

REFUSAL, SERVER = 1, 3
TIMEOUT_S = 0.4  # LLM_TIMEOUT_S of the runs with these rows
GOOD = proposal()
BODY = completion(GOOD)


@dataclass(frozen=True)
class Row:
    kind: str
    name: str
    steps: Sequence[Step]
    says: str
    status: int = SERVER
    transport: bool = False
    both: bool = True  # also a fault when it comes in place of the sentence

    @property
    def id(self) -> str:
        return f"{self.kind}/{self.name}".replace(" ", "_")


def texts(kind: str, says: str, **contents: str) -> list[Row]:
    """Whole replies whose text is no proposal; free text would be right in the second generation."""
    return [
        Row(kind, name, [send(http(completion(text)))], says, REFUSAL, both=False) for name, text in contents.items()
    ]


def bodies(kind: str, says: str, **contents: bytes) -> list[Row]:
    """Bodies under status 200 that are no chat completion."""
    return [Row(kind, name, [send(http(body))], says) for name, body in contents.items()]


def statuses(kind: str, says: str, **replies: bytes) -> list[Row]:
    return [Row(kind, name, [send(reply)], says) for name, reply in replies.items()]


def wires(kind: str, says: str, **steps: Sequence[Step]) -> list[Row]:
    """Replies that never arrive whole."""
    return [Row(kind, name, what, says, transport=True) for name, what in steps.items()]


def error(code: int, reason: str, message: str, kind: str = "invalid_request_error") -> bytes:
    body = json.dumps({"error": {"code": code, "message": message, "type": kind}}).encode()
    return http(body, f"{code} {reason}")


def call(outil: Any = "consulter_stock", ref: Any = "REF-001") -> str:
    return json.dumps({"outil": outil, "arguments": {"ref": ref}})


NOT_JSON = "not JSON"
GATE = "Outil interdit ou appel mal formé"
ARGUMENTS = "Référence ou arguments invalides"
CUT = "Proposition tronquée"
SHAPE = "not a chat completion"

FREE_TEXT = texts(
    "no schema: free text",
    NOT_JSON,
    sentence="Sure! The stock of REF-001 is fine.",
    reference="REF-001",
    call_in_words="consulter_stock(REF-001)",
    python_dict="{'outil': 'consulter_stock', 'arguments': {'ref': 'REF-001'}}",
    xml="<tool_call><ref>REF-001</ref></tool_call>",
    yaml="outil: consulter_stock\narguments:\n  ref: REF-001",
    special_token="<|im_start|>" + GOOD,
    sql="SELECT stock FROM products",
    space=" ",
    newlines="\n" * 99,
    minus_infinity='{"outil":"consulter_stock","arguments":{"ref":-Infinity}}',
    not_a_number='{"outil":"consulter_stock","arguments":{"ref":NaN}}',
    comment='{"outil":"consulter_stock","arguments":{"ref":"REF-001"}/* */}',
    trailing_comma='{"outil":"consulter_stock","arguments":{"ref":"REF-001"},}',
    single_brace="{",
    raw_control='{"outil":"consulter_stock","arguments":{"ref":"REF-001\n"}}',
    unfinished=GOOD[:-1],
)
WRONG_JSON = texts(
    "no schema: other JSON",
    GATE,
    string='"REF-001"',
    number="42",
    null="null",
    true="true",
    float_overflow="1e999",
    array=f"[{GOOD}]",
    empty_object="{}",
    empty_array="[]",
    openai_shape='{"name":"consulter_stock","arguments":{"ref":"REF-001"}}',
    only_tool='{"outil":"consulter_stock"}',
    only_arguments='{"arguments":{"ref":"REF-001"}}',
    more=json.dumps({"outil": "consulter_stock", "arguments": {"ref": "REF-001"}, "admin": True}),
    more_empty=json.dumps({"outil": "consulter_stock", "arguments": {"ref": "REF-001"}, "": None}),
    case='{"Outil":"consulter_stock","arguments":{"ref":"REF-001"}}',
    nested=json.dumps({"call": json.loads(GOOD)}),
    key_with_mark='{"outil\u200b":"consulter_stock","arguments":{"ref":"REF-001"}}',
    key_surrogate='{"\\ud800":1,"outil":"consulter_stock","arguments":{}}',
)
TOOL_NAMES = texts(
    "tool name",
    GATE,
    **{
        f"name{place}": call(outil)
        for place, outil in enumerate(
            [
                ["consulter_stock"],
                {"a": 1},
                None,
                True,
                1,
                0.5,
                [],
                {},
                "",
                "delete",
                "modifier_stock",
                "run_sql",
                "Consulter_stock",
                "consulter_stock ",
                "consulter_stock\n",
                "consulter_stock\x00",
                "consulter\u2010stock",
                "consulter_st\u043eck",  # a Cyrillic o
                "consulter_stock(ref)",
                "rechercher_produit,consulter_stock",
                "__import__('os')",
                "../tools",
                "\ud800",
                "x" * 100_000,
            ]
        )
    },
)
REFERENCES = texts(
    "reference",
    ARGUMENTS,
    **{
        f"ref{place}": call(ref=ref)
        for place, ref in enumerate(
            [
                "REF-٠٠١",
                "REF-００１",
                "REF-001\n",
                "REF-001\u0000",
                " REF-001",
                "REF-001 ",
                "ref-001",
                "REF-²²²",
                "REF-1",
                "REF-0001",
                "REF-01a",
                "REF–001",
                "REF_001",
                "REF-001;",
                "REF-001' OR '1'='1",
                "REF-000; DROP TABLE products",
                "%",
                "REF-___",
                "REF-*",
                "../../etc/passwd",
                "",
                "a_tool",
                "REF-001\u202e",
                "\ufeffREF-001",
                "REF-00\ud800",
                "R\u0415F-001",  # a Cyrillic E
                "REF-001REF-002",
                "REF-001,REF-002",
                "x" * 1_000_000,
                1,
                2**63,
                1.5,
                None,
                True,
                ["REF-001"],
                {"ref": "REF-001"},
                [],
                {},
            ]
        )
    },
    no_ref='{"outil":"consulter_stock","arguments":{}}',
    two_keys='{"outil":"consulter_stock","arguments":{"ref":"REF-001","stock":5}}',
    other_key='{"outil":"consulter_stock","arguments":{"reference":"REF-001"}}',
    arguments_text='{"outil":"consulter_stock","arguments":"{\\"ref\\":\\"REF-001\\"}"}',
    arguments_list='{"outil":"consulter_stock","arguments":["REF-001"]}',
    arguments_null='{"outil":"consulter_stock","arguments":null}',
)
REPEATED = texts(
    "repeated keys",
    "repeats a key",
    tool='{"outil":"rechercher_produit","outil":"consulter_stock","arguments":{"ref":"REF-001"}}',
    same_twice='{"outil":"consulter_stock","outil":"consulter_stock","arguments":{"ref":"REF-001"}}',
    ref='{"outil":"consulter_stock","arguments":{"ref":"REF-001","ref":"REF-002"}}',
    arguments='{"outil":"consulter_stock","arguments":{"ref":"REF-001"},"arguments":{"ref":"REF-002"}}',
    escaped='{"outil":"consulter_stock","\\u006futil":"delete","arguments":{"ref":"REF-001"}}',
)
NUMBERS = texts(
    "huge numbers",
    NOT_JSON,
    digits='{"outil":"consulter_stock","arguments":{"ref":' + "9" * 5000 + "}}",
    negative='{"outil":"consulter_stock","arguments":{"ref":-' + "1" * 4301 + "}}",
    alone="7" * 100_000,
) + texts(
    "huge numbers",
    ARGUMENTS,
    within='{"outil":"consulter_stock","arguments":{"ref":' + "9" * 4300 + "}}",
    exponent='{"outil":"consulter_stock","arguments":{"ref":1e400}}',
    many_digits='{"outil":"consulter_stock","arguments":{"ref":0.' + "1" * 5000 + "}}",
)
AROUND = texts(
    "text around",
    NOT_JSON,
    after=f"{GOOD} Voilà !",
    before=f"Voici : {GOOD}",
    fence=f"```json\n{GOOD}\n```",
    twice=f"{GOOD}{GOOD}",
    two_lines=f"{GOOD}\n{GOOD}",
    byte_order_mark=f"\ufeff{GOOD}",
    no_break_space=f"\u00a0{GOOD}",
    nul_after=f"{GOOD}\x00",
    end_token=f"{GOOD}<|im_end|>",
    thinking=f"<think>hm</think>{GOOD}",
)
DEEP = [
    *texts("nesting", "not JSON: nested|Outil interdit", arrays="[" * 100_000 + "]" * 100_000),
    *texts("nesting", NOT_JSON, open_arrays="[" * 100_000, open_objects='{"a":' * 100_000),
    *texts(
        "nesting",
        "not JSON: nested|invalides",
        reference='{"outil":"consulter_stock","arguments":{"ref":' + "[" * 900 + "]" * 900 + "}}",
    ),
    *bodies(
        "nesting",
        "not JSON|not a chat completion",
        body=b"[" * 200_000 + b"]" * 200_000,
        **{f"choices{depth}": b'{"choices":' + b"[" * depth + b"]" * depth + b"}" for depth in (300, 900, 980, 3000)},
        content=b'{"choices":[{"finish_reason":"stop","message":{"content":' + b"[" * 900 + b"]" * 900 + b"}}]}",
    ),
    *statuses(
        "nesting",
        "HTTP 500",
        **{
            f"message{depth}": http(b'{"error":{"message":' + b"[" * depth + b"]" * depth + b"}}", "500 Oops")
            for depth in (300, 900, 980, 3000, 30_000)
        },
    ),
]
FINISHED = [
    Row("cut or empty", name, [send(http(completion(text, reason)))], says, REFUSAL, both=False)
    for name, text, reason, says in [
        ("length", GOOD[:40], "length", CUT),
        ("length but whole", GOOD, "length", CUT),
        ("spaces to the limit", "{" + "\n" * 98, "length", CUT),
        ("another word for length", GOOD, "MAX_TOKENS", CUT),
        ("empty", "", "stop", "empty answer"),
    ]
] + [
    Row(
        "cut or empty",
        "reasoning only",
        [
            send(
                http(
                    json.dumps(
                        {"choices": [{"finish_reason": "stop", "message": {"content": "", "reasoning_content": GOOD}}]}
                    ).encode()
                )
            )
        ],
        "empty answer",
        REFUSAL,
        both=False,
    )
]
ENVELOPE = (
    bodies(
        "envelope",
        "does not say that it is whole",
        tool_calls=completion(GOOD, "tool_calls"),
        content_filter=completion(GOOD, "content_filter"),
        unknown_reason=completion(GOOD, ""),
        null_reason=completion(GOOD, None),
        no_reason=b'{"choices":[{"message":{"content":"x"}}]}',
    )
    + bodies(
        "envelope",
        "the server reports: .*(Rate limit|Loading model|no such|field required)",
        rate_limit=b'{"error":{"message":"Rate limit reached","type":"requests"}}',
        error=b'{"error":{"message":"Loading model"}}',
        error_text=b'{"error":"no such model"}',
        error_object=b'{"object":"error","message":"no such model","code":404}',
        detail=b'{"detail":[{"loc":["body"],"msg":"field required"}]}',
    )
    + bodies(
        "envelope",
        SHAPE,
        no_choice=b'{"choices":[]}',
        empty=b"{}",
        array=b"[]",
        null=b"null",
        number=b"42",
        text=b'"stop"',
        choices_null=b'{"choices":null}',
        choice_null=b'{"choices":[null]}',
        choice_empty=b'{"choices":[{}]}',
        choices_object=b'{"choices":{"0":{}}}',
        choices_text=b'{"choices":"stop"}',
        two_choices=json.dumps({"choices": json.loads(BODY)["choices"] * 2}).encode(),
        no_message=b'{"choices":[{"finish_reason":"stop"}]}',
        message_null=b'{"choices":[{"finish_reason":"stop","message":null}]}',
        message_list=b'{"choices":[{"finish_reason":"stop","message":[]}]}',
        no_content=b'{"choices":[{"finish_reason":"stop","message":{}}]}',
        only_reasoning=b'{"choices":[{"finish_reason":"stop","message":{"reasoning_content":"x"}}]}',
        legacy=b'{"choices":[{"finish_reason":"stop","text":"x"}]}',
        stream=b'{"choices":[{"finish_reason":"stop","delta":{"content":"x"}}]}',
        reason_number=completion(GOOD, 1),
        reason_list=completion(GOOD, ["stop"]),
        reason_long=completion(GOOD, "stop" * 100),
        **{
            f"content{place}": completion(content)
            for place, content in enumerate([None, 123, True, ["a"], [], {"type": "text"}, {}, 0.5])
        },
    )
    + bodies(
        "envelope",
        "not JSON",
        nothing=b"",
        spaces=b" \r\n",
        html=b"<html>502</html>",
        words=b"OK",
        event_stream=b"data: " + BODY + b"\n\ndata: [DONE]\n\n",
        twice=BODY + BODY,
        cut=BODY[:-5],
        byte_order_mark=b"\xef\xbb\xbf" + BODY,
        repeated_choices=b'{"choices":[],' + BODY[1:],
        repeated_content=BODY.replace(b'"content"', b'"content": "x", "content"'),
        nul=BODY + b"\x00",
    )
)
ENCODING = bodies(
    "encoding",
    "not UTF-8|the reply is compressed",
    byte_ff=BODY.replace(b"REF-001", b"REF-\xff01"),
    latin=BODY.replace(b"REF", b"R\xc9F"),
    overlong=BODY.replace(b"REF", b"R\xc0\x80F"),
    surrogate=BODY.replace(b"REF", b"R\xed\xa0\x80F"),
    utf16=BODY.decode().encode("utf-16"),
    compressed=gzip.compress(BODY),
    gzip_bomb=gzip.compress(b"\0" * (64 << 20)),
    utf16_bare=b"\xff\xfe" + BODY,
)
HTTP_STATUS = statuses(
    "HTTP status",
    "HTTP [3-5][0-9][0-9]: .",
    grammar=error(400, "Bad Request", "Failed to initialize samplers: failed to parse grammar"),
    template=error(400, "Bad Request", "Unable to generate parser for this template. Automatic generation failed"),
    context=error(400, "Bad Request", "the request exceeds the available context size", "exceed_context_size_error"),
    key=error(401, "Unauthorized", "Invalid API Key", "authentication_error"),
    lost=error(404, "Not Found", "File Not Found", "not_found_error"),
    busy=error(429, "Too Many Requests", "slow down"),
    output=error(500, "Internal Server Error", "The model produced output that does not match the expected format"),
    off=error(501, "Not Implemented", "off", "not_supported_error"),
    loading=error(503, "Service Unavailable", "Loading model", "unavailable_error"),
    plain=http(b"std::bad_alloc", "500 Internal Server Error"),
    html=http(b"<html>\r\n<h1>502 Bad Gateway</h1>\x1b[2J</html>", "502 Bad Gateway"),
    empty=http(b"", "500 Internal Server Error"),
    binary=http(bytes(range(256)) * 40, "500 Internal Server Error"),
    escapes=error(500, "Oops", "\x1b]0;owned\x07\x1b[31m\u202e\u2066red\r\nsecond line\x9b2J"),
    long=error(500, "Oops", "m" * 1_000_000),
    message_null=http(b'{"error":{"message":null}}', "500 Oops"),
    message_object=http(b'{"error":{"message":{"a":["\x1b"]}}}', "500 Oops"),
    error_text=http(b'{"error":"no"}', "500 Oops"),
    surrogate=http(b'{"error":{"message":"\\ud800"}}', "500 Oops"),
    moved=http(BODY, "301 Moved Permanently", "Location: http://127.0.0.1:1/"),
    found=http(BODY, "302 Found", "Location: /v1/models"),
    kept_post=http(BODY, "307 Temporary Redirect", "Location: /v1/chat/completions"),
    broken_location=http(BODY, "308 Permanent Redirect", "Location: http://[::1"),
    binary_location=http(BODY, "302 Found", "Location: \xff\xfe\x80"),
    redirect_bomb=http(gzip.compress(b"\0" * (64 << 20)), "302 Found", "Location: /health", "Content-Encoding: gzip"),
    strange=http(BODY, "599 Whatever"),
) + statuses(
    "HTTP status",
    "HTTP 2[0-9][0-9]: .",
    created=http(BODY, "201 Created"),
    no_content=http(b"", "204 No Content"),
    partial=http(BODY, "206 Partial Content"),
)
LATE = f"no complete reply within {TIMEOUT_S:g} s"
CHUNKED = "Transfer-Encoding: chunked"


def chunks(*parts: bytes) -> bytes:
    return http(b"".join(parts), "200 OK", CHUNKED, length=None)


TRANSPORT = [
    *wires(
        "connection ends",
        "connection reset|closed|cut short|not HTTP",
        at_once=[hang_up],
        reset_at_once=[reset],
        in_the_status_line=[send(b"HTTP/1."), hang_up],
        reset_in_the_headers=[send(http(BODY)[:40]), wait(0.05), reset],
        in_the_body=[send(http(BODY)[:-30]), hang_up],
        reset_in_the_body=[send(http(BODY)[:-30]), wait(0.05), reset],
        one_byte_short=[send(http(BODY, length=len(BODY) + 1)), hang_up],
        far_too_long=[send(http(BODY, length=10**18)), hang_up],
        in_a_chunk=[send(chunks(b"400\r\n", BODY[:100])), hang_up],
        between_chunks=[send(chunks(b"10\r\n", BODY[:16], b"\r\n")), hang_up],
        no_last_chunk=[send(chunks(b"%x\r\n" % len(BODY), BODY, b"\r\n")), hang_up],
    ),
    *wires(
        "too slow",
        LATE,
        silence=[wait(9)],
        slow_status=[drip(http(BODY), 0.2)],
        slow_headers=[send(b"HTTP/1.1 200 OK\r\n"), drip(b"X-Slow: 1\r\n" * 99, 0.05)],
        slow_body=[send(http(BODY)[:-30]), drip(BODY[-30:], 0.2)],
        slow_without_length=[send(http(BODY, length=None)), drip(b" " * 200, 0.05)],
        slow_chunks=[send(chunks(b"1\r\n{\r\n")), drip(b"1\r\n \r\n" * 50, 0.05)],
        slow_trailers=[send(chunks(b"%x\r\n" % len(BODY), BODY, b"\r\n0\r\n")), drip(b"X: 1\r\n" * 50, 0.05)],
        body_held_back=[send(http(b"", length=len(BODY))), wait(9)],
        continues=[drip(b"HTTP/1.1 100 Continue\r\n\r\n" * 20, 0.02)],
        # what follows such a line is no header: without a length the end of the connection would be the end
        header_without_colon=[send(http(BODY, "200 OK", "no colon here", "X-Fine: 1"))],
    ),
    *wires(
        "too slow",
        f"{LATE}|got more than 100",  # newer Pythons count what comes before and behind a reply
        endless_continues=[endless(b"HTTP/1.1 100 Continue\r\n\r\n")],
        endless_trailers=[send(chunks(b"0\r\n")), endless(b"X: 1\r\n")],
    ),
    *wires(
        "not HTTP",
        "is not HTTP|closed the connection without a reply|was cut short|no complete reply|[A-Z][A-Za-z]+: ",
        banner=[send(b"SSH-2.0-OpenSSH_9.2\r\n"), hang_up],
        old_http=[send(BODY), hang_up],
        tls_alert=[send(b"\x15\x03\x01\x00\x02\x02\x46"), hang_up],
        binary=[send(bytes(range(256)) * 16), hang_up],
        endless_garbage=[endless(b"\x00\xff")],
        endless_status=[send(b"HTTP/1.1 200 "), endless(b"x")],
        status_word=[send(b"HTTP/1.1 OK 200\r\n\r\n"), hang_up],
        status_huge=[send(b"HTTP/1.1 99999999999 OK\r\n\r\n"), hang_up],
        status_negative=[send(b"HTTP/1.1 -200 OK\r\n\r\n"), hang_up],
        long_header=[send(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n"), hang_up],
        many_headers=[send(http(BODY, "200 OK", *(f"X-{n}: 1" for n in range(5000)))), hang_up],
        endless_headers=[send(b"HTTP/1.1 200 OK\r\n"), endless(b"X: 1\r\n")],
        endless_header=[send(b"HTTP/1.1 200 OK\r\nX: "), endless(b"x")],
        chunk_size_word=[send(chunks(b"size\r\n", BODY)), hang_up],
        chunk_size_negative=[send(chunks(b"-5\r\n", BODY)), hang_up],
        chunk_size_minus_one=[send(chunks(b"-1\r\n")), endless(b"x")],
        chunk_size_endless=[send(chunks()), endless(b"1")],
        chunk_size_huge=[send(chunks(b"f" * 5000 + b"\r\n", BODY)), hang_up],
        two_lengths=[send(http(BODY, "200 OK", f"Content-Length: {len(BODY) + 7}")), hang_up],
    ),
    *[
        Row("too large", name, steps, "larger than")
        for name, steps in {
            "with_length": [send(http(b"", length=1 << 40)), endless(b"x")],
            "without_length": [send(http(b"", length=None)), endless(b" ")],
            "one_chunk": [send(chunks(b"fffffffffff\r\n")), endless(b"x")],
            "many_chunks": [send(chunks()), endless(b"1000\r\n" + b"x" * 4096 + b"\r\n")],
            "valid_start": [send(http(BODY, length=None)), endless(b"\n")],
        }.items()
    ],
    *[
        Row("wrong length", name, [send(http(BODY, "200 OK", length=length)), wait(0.05)], "not JSON")
        for name, length in [("too_short", 20), ("zero", 0), ("one_less", len(BODY) - 1)]
    ],
]

# The headers end where the connection does; what a library makes of them is an empty reply.
HEADERS_CUT = Row("connection ends", "in_the_headers", [send(http(BODY)[:40]), hang_up], "not JSON: ''")

CONTENT = [*FREE_TEXT, *WRONG_JSON, *TOOL_NAMES, *REFERENCES, *REPEATED, *NUMBERS, *AROUND, *FINISHED]
ROWS: list[Row] = [*CONTENT, *DEEP, *ENVELOPE, *ENCODING, *HTTP_STATUS, *TRANSPORT, HEADERS_CUT]

# Odd in form, and whole: these must not be refused.
ACCEPTED: dict[str, Sequence[Step]] = {
    "no length": [send(http(BODY, length=None)), hang_up],
    "chunks": [send(chunks(b"10\r\n", BODY[:16], b"\r\n%x\r\n" % len(BODY[16:]), BODY[16:], b"\r\n0\r\n\r\n"))],
    "chunk extension": [send(chunks(b"%x;a=b\r\n" % len(BODY), BODY, b"\r\n0\r\nX: 1\r\n\r\n"))],
    "continue first": [send(b"HTTP/1.1 100 Continue\r\n\r\n" + http(BODY))],
    "closes after": [send(http(BODY, "200 OK", "Connection: close")), hang_up],
    "resets after": [send(http(BODY, "200 OK", "Connection: close")), wait(0.05), reset],
    "HTTP/1.0": [send(http(BODY).replace(b"HTTP/1.1", b"HTTP/1.0")), hang_up],
    "text/plain": [send(http(BODY).replace(b"application/json", b"text/plain"))],
    "pretty proposal": [send(http(completion(json.dumps(json.loads(GOOD), indent=2))))],
    "spaces around": [send(http(b"\n " + completion(f"\n{GOOD}\n") + b"\n"))],
    "other order": [send(http(completion('{"arguments":{"ref":"REF-001"},"outil":"consulter_stock"}')))],
    "escaped": [send(http(completion('{"outil":"consulter\\u005fstock","arguments":{"ref":"\\u0052EF-001"}}')))],
    "other tool": [send(http(completion(proposal(tool="rechercher_produit"))))],
    "more fields": [send(http(completion(GOOD, x=[None, {"y": "\ud800"}], usage=None, timings={"prompt_ms": "slow"})))],
    "huge timings": [send(http(completion(GOOD, timings={"prompt_ms": 10**400, "prompt_n": True, "cache_n": -1})))],
    "timings that are no numbers": [send(http(BODY[:-1] + b',"timings":{"prompt_ms":NaN,"cache_n":-Infinity}}'))],
    "infinity of digits": [send(http(BODY[:-1] + b',"created":' + b"9" * 5000 + b',"usage":1e999}'))],
    **{f"ends by {word}": [send(http(completion(GOOD, word)))] for word in ("eos_token", "STOP", "end_turn", "eos")},
    "strange model": [send(http(completion(GOOD, id="\x1b[2J", created=[])))],
    "many cookies": [send(http(BODY, "200 OK", *(f"Set-Cookie: a{n}=\x80;expires=never" for n in range(50))))],
    "content encoding named only": [send(http(BODY, "200 OK", "Content-Encoding: gzip"))],
    "in small pieces": [drip(http(BODY), 0.001)],
    "junk after": [send(http(BODY) + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")],
}
