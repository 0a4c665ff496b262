"""What the model server sends, checked before anything reads it; nothing is repaired or guessed.

`read_reply()` takes the bytes of a chat completion, `decode()` the text in which the model proposes a call.
"""

import functools
import json
import math
from typing import TYPE_CHECKING, Final, cast

from src.base.paths import ROOT
from src.base.printable import EXCERPT, excerpt, loads
from src.base.records import JsonObject, JsonValue, Reply, Timings
from src.server.records import ChatCompletion, Choice

if TYPE_CHECKING:
    import jsonschema

SCHEMA = ROOT / "configs" / "reply.schema.json"
TIMINGS: Final = ("prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "cache_n")  # the fields of `Timings`
# Words of the interface and of those who offer it: OpenAI and llama.cpp; TGI; Gemini (in capitals), Anthropic, others.
ENDS = {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"}
CUTS = {"length", "max_tokens", "model_length", "max_output_tokens"}
ERROR_FIELDS = ("message", "detail", "errors")  # beside `error`: llama-cpp-python and TGI, FastAPI, Cloudflare
GZIP = b"\x1f\x8b"
MOST_DIGITS = 4000
MOST = 1e9  # tokens or ms in one of the numbers above; a larger one is not a measurement


class TransportFailure(Exception):
    """No complete reply arrived: refused, reset, timed out, cut short."""


class BadReply(Exception):
    """The server answered, but not with what its interface promises."""


def decode(text: str) -> JsonValue:
    """Return the JSON value in `text`; raises `ValueError` for anything else, repeated keys and NaN included.

    `json.loads` alone silently keeps the last of two equal keys, so a later check for exact keys would come too late.
    """
    if not text:
        raise ValueError("empty answer: the model wrote nothing")
    try:
        return loads(text, _exact_keys)
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None
    except json.JSONDecodeError as exc:
        raise ValueError(f"not JSON: {exc.msg} at character {exc.pos} of {excerpt(text)!r}") from None
    except ValueError as exc:  # a number of more digits than Python converts, or one of the two hooks below
        raise ValueError(f"not JSON: {excerpt(str(exc))}") from None


def _exact_keys(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("an object repeats a key")
    return made


@functools.cache
def _validator() -> "jsonschema.protocols.Validator":
    import jsonschema  # 0.15 s on a slow core, which commands that need no model do not pay

    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def read_reply(body: bytes) -> Reply:
    """Return `raw` (the model's text), `finish_reason`, and `model`, `build` and `timings` where the server tells them.

    `finish_reason` is `stop` for each of the words that servers have for an end, `length` for a cut. Raises `BadReply`
    saying what is wrong with a body that is not a chat completion, in the server's own words where it has any.
    """
    completion = _completion(_json(body))
    choice = completion["choices"][0]
    read: Reply = {"raw": choice["message"]["content"], "finish_reason": _ending(choice)}
    if isinstance(model := completion.get("model"), str):
        read["model"] = excerpt(model)
    if isinstance(build := completion.get("system_fingerprint"), str):
        read["build"] = excerpt(build)
    if timings := _timings(completion.get("timings")):
        read["timings"] = timings
    return read


def _completion(reply: JsonValue) -> ChatCompletion:
    """Return `reply` if it has the form of a completion; some servers and gateways send an error with status 200."""
    try:
        fault = next(iter(_validator().iter_errors(reply)), None)
    except RecursionError:  # where the validator quotes what is nested too deeply
        raise BadReply("the reply is not a chat completion: nested too deeply") from None
    if fault is None:
        return cast(ChatCompletion, reply)
    choices = reply.get("choices") if isinstance(reply, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    if words := _error(first) or reported(reply):
        raise BadReply(f"the server reports: {excerpt(words)}")
    raise BadReply(f"the reply is not a chat completion: {fault.json_path}: {excerpt(fault.message)}")


def _json(body: bytes) -> JsonValue:
    """The JSON value of a body; numbers that JSON does not have are let in, since none of them is needed."""
    try:
        value: JsonValue = json.loads(body.decode("utf-8"), object_pairs_hook=_exact_keys, parse_int=_whole)
        return value
    except UnicodeDecodeError as exc:
        if body.startswith(GZIP):
            raise BadReply(
                "the reply is compressed, though this program asks that none be: look at the proxy"
            ) from None
        raise BadReply(f"the reply is not UTF-8 text (byte {exc.start})") from None
    except RecursionError:
        why = "nested too deeply"
    except json.JSONDecodeError as exc:
        why = f"{exc.msg} at character {exc.pos}"
    except ValueError as exc:
        why = str(exc)
    shown = excerpt(body[: 4 * EXCERPT].decode("utf-8", "replace"))
    raise BadReply(f"the reply is not JSON: {shown!r} ({why})")


def _whole(digits: str) -> float:
    """A whole number; Python converts no more than 4300 digits, and nothing that is read has so many."""
    return int(digits) if len(digits) < MOST_DIGITS else math.inf


def _ending(choice: Choice) -> str:
    """`stop` for an end, `length` for a cut; `BadReply` where the server says neither, for then nobody knows."""
    reason = choice.get("finish_reason")
    if reason is not None and reason.lower() in ENDS:
        return "stop"
    if reason is not None and reason.lower() in CUTS:
        return "length"
    if words := _error(cast(JsonObject, choice)):  # a gateway's: what is behind it failed in the middle
        raise BadReply(f"the server reports: {excerpt(words)}")
    raise BadReply(f"the reply does not say that it is whole: finish_reason {json.dumps(reason)}")


def _error(choice: JsonValue) -> str:
    """The words of the error or of the refusal that a choice holds, empty for a choice without one."""
    if not isinstance(choice, dict):
        return ""
    message = choice.get("message")
    refusal = message.get("refusal") if isinstance(message, dict) else None
    return reported({"error": choice.get("error") or refusal})


def reported(reply: JsonValue) -> str:
    """The server's own words in the body of an error, whichever of the usual fields has them; else an empty text."""
    if not isinstance(reply, dict):
        return ""
    error = reply.get("error")
    words = error.get("message") if isinstance(error, dict) else None
    found = next((said for said in (words, error, *(reply.get(name) for name in ERROR_FIELDS)) if said), "")
    return found if isinstance(found, str) else json.dumps(found)


def _timings(block: JsonValue) -> Timings:
    """Keep the documented numbers of the `timings` block; other servers have none, or another one."""
    if not isinstance(block, dict):
        return {}
    kept: Timings = {}
    for name in TIMINGS:
        value = block.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST:
            kept[name] = value
    return kept
