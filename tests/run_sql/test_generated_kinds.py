"""The kinds of silent wrong answers and of deaths, generated: names in quotes, types compared, broken engines, bytes.

Each is held against SQLite itself, asked in a form that leaves nothing to guess. Run alone:
python -m pytest tests/run_sql/test_generated_kinds.py
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from src.run_sql import open_reservo, run_sql
from src.run_sql.database import create, image
from src.run_sql.guard import Reservo
from tests.run_sql import harness
from tests.run_sql.test_cli import run
from tests.run_sql.test_worker import COUNT, FIVE, wide
from tests.support.generated import tries


@pytest.fixture(scope="module")
def plain() -> Iterator[sqlite3.Connection]:
    """The lesson's database in an SQLite without guards."""
    with closing(sqlite3.connect(":memory:")) as con:
        con.deserialize(image())
        yield con


def rows(plain: sqlite3.Connection, query: str) -> list[list[object]] | None:
    """What SQLite answers to the query, None for an error."""
    try:
        return [list(row) for row in plain.execute(query).fetchall()]
    except sqlite3.Error:
        return None


# A name in double quotes is a column or an error. In brackets it is never a text, so that is what it must be equal to.
NAMES = """
    name name name id id tier tier NAME hourly_cents rooms r m n pro activo nombre precio rowid strftime
    main temp a"b x`y é 1 %Y
"""
PLACES = """
    SELECT {} FROM rooms r ORDER BY 1 | SELECT r.{} FROM rooms r ORDER BY r.id | SELECT {}, COUNT(*) AS n FROM members m GROUP BY {}
    SELECT id FROM members m WHERE {} = {} ORDER BY id | SELECT COUNT(*) FROM members WHERE tier = {} OR {} LIKE 'p%'
    SELECT id AS {} FROM rooms ORDER BY {} | SELECT COUNT(*) AS n FROM members GROUP BY tier HAVING {} > 1 ORDER BY {}
    SELECT m.id FROM members m JOIN rooms r ON {} = {} ORDER BY m.id, r.id | SELECT upper({}) FROM rooms r ORDER BY {}
    SELECT (SELECT {} FROM rooms ORDER BY id LIMIT 1) AS v | WITH x AS (SELECT {} AS v FROM rooms) SELECT {} FROM x ORDER BY v
    SELECT CASE WHEN {} IS NULL THEN 1 ELSE {} END FROM members m | SELECT id FROM rooms WHERE {} IN (SELECT {} FROM members)
    SELECT rank() OVER (PARTITION BY {} ORDER BY {}) FROM members m | SELECT id AS {} FROM rooms UNION SELECT {} FROM members ORDER BY 1
    SELECT {}.id FROM rooms AS {} ORDER BY 1 | SELECT COUNT(*) FROM {} | SELECT group_concat({}, {}) FROM rooms
"""  # noqa: E501
TEMPLATES = [template.strip() for line in PLACES.strip().splitlines() for template in line.split("|")]


@tries(400)
@given(template=st.sampled_from(TEMPLATES), names=st.lists(st.sampled_from(NAMES.split()), min_size=2, max_size=2))
def test_a_name_in_double_quotes_is_a_column_or_an_error(
    con: Reservo, plain: sqlite3.Connection, template: str, names: list[str]
) -> None:
    query = template.format(*('"' + name.replace('"', '""') + '"' for name in names))
    expected = rows(plain, template.format(*(f"[{name}]" for name in names)))
    answer = run_sql(query, con)
    harness.count(f"names in double quotes {'read' if answer['ok'] else 'refused'}")
    if expected is None:
        assert not answer["ok"], query
    else:
        assert answer["ok"] and answer["rows"] == expected, (query, answer)


# Two values of different types are never equal, whatever they look like; where neither is a column, that is an error.
TEXTS = ["strftime('%Y', starts_at)", "date(starts_at)", "substr(starts_at, 1, 4)", "upper('a')", "trim(' 4 ')"]
NUMBERS = ["length(starts_at)", "abs(id)", "julianday(starts_at)", "round(id / 2.0)", "instr(starts_at, '-')"]
LITERALS = ["2026", "'2026'", "'4'", "4", "-1", "0.5", "'x'"]
SIGNS = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "IS", "IS NOT"]
FRAMES = [
    "SELECT COUNT(*) FROM bookings WHERE {}",
    "SELECT id FROM bookings WHERE id > 2 AND {} ORDER BY id",
    "SELECT SUM(CASE WHEN {} THEN 1 ELSE 0 END) FROM bookings",
    "SELECT COUNT(*) FROM bookings GROUP BY room_id HAVING {} ORDER BY 1",
]
FORMS = ["{0} {1} {2}", "{0} IN ({2})", "{0} BETWEEN {2} AND {2}", "NOT ({0} {1} {2})"]


@tries(300)
@given(
    left=st.sampled_from([*TEXTS, *NUMBERS]),
    sign=st.sampled_from(SIGNS),
    right=st.sampled_from(LITERALS),
    frame=st.sampled_from(FRAMES),
    form=st.sampled_from(FORMS),
    turned=st.booleans(),
)
def test_a_text_compared_with_a_number_is_an_error_and_nothing_else_of_the_kind_is(
    con: Reservo, plain: sqlite3.Connection, left: str, sign: str, right: str, frame: str, form: str, turned: bool
) -> None:
    sides = (right, left) if turned and "{2}" not in form else (left, right)
    query = frame.format(form.format(sides[0], sign, sides[1]))
    ((one, other),) = plain.execute(f"SELECT typeof({left}), typeof({right}) FROM bookings LIMIT 1")
    answer = run_sql(query, con)
    harness.count(f"types compared {'alike' if answer['ok'] else 'unlike'}")
    if (one == "text") != (other == "text"):
        assert not answer["ok"] and "compara un texto con un número" in answer["error"], (query, answer)
    elif answer["ok"]:
        assert answer["rows"] == rows(plain, query), (query, answer)
    else:  # a text in another form than the values of the function have
        assert one == other == "text" and "no encaja: " in answer["error"], (query, answer)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reservo]:
    """A connection of this module, whose process dies now and then."""
    con = open_reservo(create(tmp_path_factory.mktemp("breaking") / "reservo.db"))
    yield con
    con.close()


@tries(60)
@given(columns=st.integers(60, 100), terms=st.integers(60, 100), term=st.sampled_from(["1 + 1", "'x'||'y'", "-1.5"]))
def test_a_statement_that_may_kill_its_engine_is_an_answer_and_the_next_call_is_served(
    own: Reservo, columns: int, terms: int, term: str
) -> None:
    answer = run_sql(wide(columns, terms, term), own)
    harness.check_answer(answer)
    assert answer["ok"] or "cayó con esta consulta (SIG" in answer["error"], answer
    assert run_sql(COUNT, own) == FIVE
    harness.count(f"wide statements {'answered' if answer['ok'] else 'that killed their process'}")


ENCODINGS = ["utf-8", "utf-8-sig", "latin1", "cp1252", "mac-roman", "cp437", "utf-16", "utf-16-le", "utf-32", "gb18030"]


@tries(60)
@given(
    name=st.sampled_from(["Íñigo Peña", "Nguyễn Văn Ân", "naïve", "ASCII", "½", "中文"]),
    encoding=st.sampled_from(ENCODINGS),
    junk=st.sampled_from([b"", b"", b"", b"", b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"]),
)
def test_bytes_are_read_as_utf8_or_refused(con: Reservo, name: str, encoding: str, junk: bytes) -> None:
    text = f"SELECT COUNT(*) FROM members WHERE name = '{name}' OR 1"
    sent = text.encode(encoding, "replace") + (b" --" + junk if junk else b"")
    (file,) = (Path(path) for _, name, path in con.execute("PRAGMA database_list") if name == "main")
    done = run("query", "-", "--db", str(file), stdin=sent.decode("utf-8", "surrogateescape"))
    try:
        read = sent.decode("utf-8")
    except UnicodeDecodeError:
        read = "\x00"
    harness.count(f"bytes {'read' if done.status == 0 else 'refused'}")
    assert (done.status == 0) == ("\x00" not in read), (sent, done)
