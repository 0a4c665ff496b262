"""Replies of the kinds that servers and gateways send with status 200: an error, numbers JSON lacks, other endings.

The words of the server are told, and no question is lost for what nobody needs. Run alone:
python -m pytest tests/properties/test_replies.py
"""

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from src.server.reply import CUTS, ENDS, BadReply, read_reply
from tests.support import tally
from tests.support.generated import tries

WORDS = "Rate limit reached"
GOOD = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "37"}}

ERRORS = [
    {"error": WORDS},
    {"error": {"message": WORDS}},
    {"error": {"message": WORDS, "code": 429, "type": None}},
    {"error": {"code": 429, "status": WORDS}},
    {"message": WORDS, "object": "error"},
    {"detail": WORDS},
    {"detail": [{"loc": ["body"], "msg": WORDS}]},
    {"success": False, "errors": [{"code": 7, "message": WORDS}]},
]
NO_CHOICE: list[dict[str, Any]] = [
    {},
    {"choices": []},
    {"choices": None},
    {"choices": [None]},
    {"choices": [{}]},
    {"choices": [{"finish_reason": "error", "message": {"content": None}}]},
]
FILLING = st.dictionaries(
    st.sampled_from(["id", "created", "usage", "model", "x"]), st.one_of(st.none(), st.integers(), st.text(max_size=5))
)


@given(error=st.sampled_from(ERRORS), choices=st.sampled_from(NO_CHOICE), more=FILLING, first=st.booleans())
@tries(200)
def test_an_error_with_status_200_is_told_in_the_servers_words(
    error: dict[str, Any], choices: dict[str, Any], more: dict[str, Any], first: bool
) -> None:
    body = {**error, **choices, **more} if first else {**more, **choices, **error}
    with pytest.raises(BadReply, match=f"the server reports: .*{WORDS}"):
        read_reply(json.dumps(body).encode())
    tally.count("properties", "read_reply: an error told")


@given(error=st.sampled_from(ERRORS[:4]), reason=st.sampled_from(["error", "", None, "content_filter"]))
@tries(50)
def test_an_error_in_the_middle_of_an_answer_is_told_too(error: dict[str, Any], reason: str | None) -> None:
    body = {"choices": [{**GOOD, **error, "finish_reason": reason}]}
    with pytest.raises(BadReply, match=f"the server reports: .*{WORDS}"):
        read_reply(json.dumps(body).encode())
    tally.count("properties", "read_reply: an error told")


def test_a_refusal_of_the_model_is_told_in_its_words() -> None:
    body = {"choices": [{"finish_reason": "stop", "message": {"content": None, "refusal": "I cannot help with that"}}]}
    with pytest.raises(BadReply, match="the server reports: I cannot help with that"):
        read_reply(json.dumps(body).encode())


def test_a_reply_that_a_proxy_compressed_is_called_that() -> None:
    with pytest.raises(BadReply, match="the reply is compressed, though"):
        read_reply(gzip.compress(json.dumps({"choices": [GOOD]}).encode()))


TOKENS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 5000]
UNNEEDED = ["timings", "usage", "created", "model", "system_fingerprint", "error", "x"]


@given(
    token=st.sampled_from(TOKENS),
    place=st.sampled_from(UNNEEDED),
    depth=st.integers(0, 3),
    word=st.sampled_from(sorted(ENDS | CUTS)),
    case=st.sampled_from([str.lower, str.upper, str.title]),
)
@tries(200)
def test_no_question_is_lost_for_a_number_that_nobody_needs_or_another_word_for_an_end(
    token: str, place: str, depth: int, word: str, case: Any
) -> None:
    body: dict[str, Any] = {"choices": [{**GOOD, "finish_reason": case(word), "logprobs": "@"}], place: "@"}
    for _ in range(depth):
        body[place] = {"prompt_ms": body[place], "values": [body[place]]}
    read = read_reply(json.dumps(body).replace('"@"', token).encode())
    assert read["raw"] == "37" and read["finish_reason"] == ("length" if word in CUTS else "stop")
    assert "timings" not in read
    tally.count("properties", "read_reply: taken")


@given(token=st.sampled_from(TOKENS[:3]), place=st.sampled_from(["content", "message", "choices", "finish_reason"]))
@tries(30)
def test_where_a_number_stands_for_what_is_needed_the_reply_is_refused(token: str, place: str) -> None:
    text = json.dumps({"choices": [{"finish_reason": "stop", "message": {"content": "37"}}]})
    whole = {"content": '"37"', "message": '{"content": "37"}', "finish_reason": '"stop"'}
    body = f'{{"choices": {token}}}' if place == "choices" else text.replace(whole[place], token)
    with pytest.raises(BadReply, match=r"not a chat completion: .*(nan|inf)"):
        read_reply(body.encode())
    tally.count("properties", "read_reply: refused")
