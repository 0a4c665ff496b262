"""`report`: one self-contained HTML page about a run, to be read from a file.

What it says is decided in `content` and `question`, how it looks in `page.html.j2` with `page.css`
and `page.js`. Texts from a model or a server go through the template's escaping, with control and direction characters
as escapes. Measures come from `evaluate`: without its file the page says so.
"""

import base64
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from src.base import printable
from src.base.errors import Precondition
from src.base.messages import translator
from src.base.records import JsonObject, JsonValue, Language, Run
from src.report.content import TEXTS_BUDGET, content
from src.report.question import duration, shown
from src.report.space import STRIP, lay_out
from src.runs import runfile, store
from src.runs.outputs import Outputs

if TYPE_CHECKING:
    import jinja2

NO_BREAK = "\u00a0"  # in our own figures, `8.1 s`
HERE = Path(__file__).parent


def report(outputs: Outputs) -> Path:
    """Write `report.html` about the last run; returns its path.

    Raises `Precondition` when there is no run or the template library is missing.
    """
    run = runfile.read(outputs.json("agent"), runfile.remedy(outputs))
    if not run["results"]:
        raise Precondition(f"{outputs.json('agent')} holds no result; {runfile.remedy(outputs)}")
    extra = {name: _optional(outputs.json(name)) for name in ("evaluation", "negatives")}
    return store.write_text(outputs.folder / "report.html", page(run, **extra))


def _optional(path: Path) -> JsonObject | None:
    found = store.read_json(path, "make it again or move it away") if path.exists() else None
    return found if isinstance(found, dict) else None


def page(run: Run, evaluation: JsonValue, negatives: JsonValue) -> str:
    """Return the page about `run`; the other two are the contents of their files, or `None` where there is none."""
    made = engine("en")
    from markupsafe import Markup  # of Jinja2

    style, script = ((HERE / f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    told = content(run, evaluation, negatives)
    lay_out(told["questions"])
    return made.get_template("page.html.j2").render(
        **told,
        strip=STRIP,
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
        raise Precondition(
            f"the report needs Jinja2 ({exc}); install it with: pip install --require-hashes -r configs/app.lock"
        ) from exc
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_fit,
        extensions=["jinja2.ext.i18n"],
    )
    made.policies["ext.i18n.trimmed"] = True  # a sentence may be written over several lines
    made.install_gettext_translations(translator(language), newstyle=True)  # type: ignore[attr-defined]  # of i18n
    made.filters["shown"] = shown
    made.filters["duration"] = duration
    made.filters["of"] = lambda count, word: f"{count} {word}" if count == 1 else f"{count} {word}s"
    made.filters["tojson_text"] = lambda value: shown(json.dumps(value, ensure_ascii=False, indent=2), TEXTS_BUDGET)
    return made


def _fit(value: object) -> object:
    """Make every text safe to show, cut by `shown` or not; the spaces that keep a unit with its number stay."""
    return NO_BREAK.join(map(printable.shown, value.split(NO_BREAK))) if type(value) is str else value


def _hash(text: str) -> str:
    """The source of a Content-Security-Policy that allows exactly this inline text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
