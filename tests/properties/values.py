"""Values to throw at the gate: any JSON, any Python value, and objects that lie about what they equal."""

import json
from typing import Any

from hypothesis import strategies as st

from src.tools import TOOLS


class LyingText(str):
    """Equal to everything, with the hash of an allowed tool."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return hash(TOOLS[0])


class ExplodingText(str):
    """Raises when it is compared or hashed."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    def __hash__(self) -> int:
        raise RuntimeError("hashed")


class TwoFacedDict(dict[Any, Any]):
    """Shows harmless keys and gives out another value each time."""

    def __iter__(self) -> Any:
        return iter(("outil", "arguments"))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, key: Any) -> Any:
        return "consulter_stock" if key == "outil" else {"ref": "REF-001"}

    def keys(self) -> Any:
        return {"outil": 1, "arguments": 1}.keys()


class EqualToAll:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("outil")


class LyingInt(int):
    def __le__(self, other: object) -> bool:
        return True

    def __lt__(self, other: object) -> bool:
        return True

    __ge__ = __gt__ = __le__


class Pretender:
    """Claims to be a dict when asked for its class."""

    __class__ = dict  # type: ignore[assignment]


HOSTILE = [
    LyingText("delete"),
    LyingText("consulter_stock"),
    ExplodingText("consulter_stock"),
    LyingText("REF-001"),
    ExplodingText("REF-001"),
    TwoFacedDict(outil="delete", arguments={"ref": "x"}),
    TwoFacedDict(),
    EqualToAll(),
    Pretender(),
    LyingInt(7),
    True,
    float("nan"),
    float("inf"),
    10**4000,
    b"consulter_stock",
    bytearray(b"REF-001"),
    range(3),
    {"outil", "arguments"},
    frozenset({"ref"}),
    ("outil", "arguments"),
    object(),
    Exception,
    len,
    "\ud800",
    "REF-001\x00",
    "REF-٠٠١",
    "REF-001\n",
]
LYING_KEYS = [LyingText("outil"), EqualToAll(), 1, None, True, b"outil", ("outil",)]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=12,
)
REFS = st.one_of(
    st.from_regex(r"REF-[0-9]{3}", fullmatch=True),
    st.from_regex(r"[Rr]EF[-_–]\d{2,4}\s?", fullmatch=True),
    st.sampled_from(["REF-000", "REF-001", "REF-999", "REF-001\n", "ref-001", "REF-٠٠١", "REF-00１", "REF-001\u200f"]),
    st.text(st.characters(), max_size=9),
)
NAMES = st.sampled_from([*TOOLS, "delete", "Consulter_stock", "consulter_stock ", ""]) | st.text(
    st.characters(), max_size=9
)
ANY = st.one_of(
    JSON,
    st.integers(0, len(HOSTILE) - 1).map(HOSTILE.__getitem__),
    REFS,
    NAMES,
    st.binary(max_size=9),
    st.complex_numbers(),
)
KEYS = (
    st.sampled_from(["outil", "arguments", "ref"])
    | st.text(max_size=3)
    | st.integers(0, len(LYING_KEYS) - 1).map(LYING_KEYS.__getitem__)
)
ARGUMENTS = st.one_of(
    st.fixed_dictionaries({"ref": st.one_of(REFS, ANY)}),
    st.dictionaries(KEYS, ANY, max_size=3),
    ANY,
)
GOOD_CALLS = st.fixed_dictionaries(
    {
        "outil": st.sampled_from(TOOLS),
        "arguments": st.fixed_dictionaries({"ref": st.from_regex("REF-[0-9]{3}", fullmatch=True)}),
    }
)
CALLS = st.one_of(
    GOOD_CALLS,
    st.fixed_dictionaries({"outil": NAMES, "arguments": ARGUMENTS}),
    st.fixed_dictionaries({"outil": ANY, "arguments": ARGUMENTS}),
    st.fixed_dictionaries({"outil": NAMES, "arguments": ARGUMENTS}, optional={"admin": ANY}),
    st.dictionaries(KEYS, ANY, max_size=4),
    ANY,
)
COUNTS = st.one_of(st.integers(0, 2), st.integers(0, 2), st.integers(-2, 5), ANY)
# Text near a proposal: whole ones, damaged ones, and anything.
PROPOSALS = st.one_of(
    CALLS.filter(lambda value: _plain(value)).map(lambda value: json.dumps(value)),
    st.builds(
        lambda value, cut, more: json.dumps(value)[: cut or None] + more,
        JSON,
        st.integers(0, 30),
        st.text(st.characters(), max_size=4),
    ),
    st.text(st.sampled_from('{}[]",:\\u09eE+-.tfn \n\t\x00\ufeff\ud800') | st.characters(), max_size=60),
    st.integers(0, 6000).map(lambda depth: "[" * depth),
    st.integers(0, 6000).map(lambda digits: "9" * digits),
)


def _plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RuntimeError, RecursionError):
        return False
    return True
