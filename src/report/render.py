"""`report`: one self-contained HTML page about a run, to be read from a file.

What it says is decided in `content` and `question`, how it looks in `page.html.j2` with `page.css`
and `page.js`. Texts from a model or a server go through the template's escaping, with control and direction characters
as escapes. Measures come from `evaluate`: without its file the page says so.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from src.base import printable, shell
from src.base.errors import Precondition
from src.base.messages import Translator, translator
from src.base.records import JsonObject, JsonValue, Language
from src.measures import compare
from src.report.against import Other
from src.report.content import TEXTS_BUDGET, content
from src.report.space import STRIP, lay_out
from src.report.texts import duration, listed, shown
from src.report.verdict import MOST_NAMED
from src.runs import runfile, store
from src.runs.outputs import Outputs
from src.runs.records import Run
from src.runs.results import meaning

if TYPE_CHECKING:
    import jinja2

NO_BREAK = "\u00a0"  # in our own figures, `8.1 s`
HERE = Path(__file__).parent
RECORDS = ("agent", "evaluation", "negatives")  # the files that the page links to, where they are beside it


def report(outputs: Outputs, language: Language | None = None, other: Path | None = None) -> Path:
    """Write `report.html` about the last run; returns its path.

    In the language of the run where none is given, and with the run of another folder (or `agent.json`) beside it.
    Raises `Precondition` when a run or the template library is missing, or the other run asked other questions.
    """
    run = runfile.read(outputs.json("agent"), runfile.remedy(outputs))
    if not run["results"]:
        raise Precondition(f"{outputs.json('agent')} holds no result; {runfile.remedy(outputs)}")
    found = {name: _optional(outputs.json(name)) for name in ("evaluation", "negatives")}
    beside = [name for name in RECORDS if outputs.json(name).exists()]
    written = page(run, **found, language=language, other=_other(other) if other else None, beside=beside)
    return store.write_text(outputs.folder / "report.html", written)


def _other(path: Path) -> Other:
    run, folder = compare.load(path)
    return Other(run, folder.resolve().name, _optional(folder / "evaluation.json"))


def _optional(path: Path) -> JsonObject | None:
    found = store.read_json(path, "make it again or move it away") if path.exists() else None
    return found if isinstance(found, dict) else None


def page(
    run: Run,
    evaluation: JsonValue,
    negatives: JsonValue,
    language: Language | None = None,
    other: Other | None = None,
    beside: Sequence[str] = (),
) -> str:
    """Return the page about `run`; the next two are the contents of their files, or `None` where there is none.

    `beside` names the result files that lie in the folder of the page.
    """
    to = translator(language or run["provenance"]["language"])
    made = engine(to.language)
    from markupsafe import Markup  # of Jinja2

    style, script = ((HERE / f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    told = content(run, evaluation, negatives, to, other)
    lay_out(told["questions"])
    return made.get_template("page.html.j2").render(
        **told,
        strip=STRIP,
        most=MOST_NAMED,
        spoken=to.language,
        beside=beside,
        style=Markup(style),  # noqa: S704  # our own files, not data
        script=Markup(script),  # noqa: S704
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
    )


def engine(language: Language) -> "jinja2.Environment":
    """Return the template's engine, whose `_(...)` and `{% trans %}` speak this language.

    Subtle: the catalogue's text is HTML of our own, and a value inside a sentence is escaped but does not pass `_fit`:
    what is foreign goes in as `{% trans name=server.model|shown %}`. Raises `Precondition` without the library.
    """
    try:
        import jinja2
    except ImportError as exc:
        raise Precondition(f"the report needs Jinja2 ({exc}); {shell.package('app.lock')}") from exc
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_fit,
        extensions=["jinja2.ext.i18n"],
    )
    to = translator(language)
    made.policies["ext.i18n.trimmed"] = True  # a sentence may be written over several lines
    made.install_gettext_translations(to, newstyle=True)  # type: ignore[attr-defined]  # of i18n
    _add_filters(made, to)
    return made


def _add_filters(made: "jinja2.Environment", to: Translator) -> None:
    made.filters["shown"] = shown
    made.filters["duration"] = lambda milliseconds: duration(milliseconds, to)
    made.filters["percent"] = lambda share: to.figure(f"{share:.1f}{NO_BREAK}%")
    made.filters["figure"] = lambda value: to.figure(f"{value:.1f}")
    made.filters["listed"] = lambda texts: listed(texts, to)
    made.filters["translated"] = to.gettext
    made.filters["tongue"] = lambda reason: "fr" if meaning(reason, "en") not in ("", reason) else "en"
    made.filters["meaning"] = lambda reason: meaning(reason, to.language)
    made.filters["tojson_text"] = lambda value: shown(json.dumps(value, ensure_ascii=False, indent=2), TEXTS_BUDGET)


def _fit(value: object) -> object:
    """Make every text safe to show, cut by `shown` or not; the spaces that keep a unit with its number stay."""
    return NO_BREAK.join(map(printable.shown, value.split(NO_BREAK))) if type(value) is str else value


def _hash(text: str) -> str:
    """The source of a Content-Security-Policy that allows exactly this inline text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
