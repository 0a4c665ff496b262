"""The measures of a run as tables for a terminal: the published ones, what lies beyond them, and what changed.

Our figures and those of others have columns of their own, and the two blocks tables of their own. The words are in the
reader's language and the keys of the records as they are; nothing is wider than the terminal.
"""

import textwrap
from collections.abc import Sequence

from src.base.layout import table, width, wrapped
from src.base.messages import N_, Translator, translator
from src.base.printable import dumps, excerpt
from src.base.records import Language
from src.measures import published, rows
from src.measures.beyond import SPLIT
from src.measures.published import PUBLISHED
from src.measures.records import Beyond, Comparison, Evaluation, Measures, Stage, Times
from src.runs.records import Server

LEAST_IDS, MOST_IDS = 15, 28  # characters of query numbers in one cell; evaluation.json has them all
BESIDE_IDS = 52  # characters of the other columns, where there is room
CHANGES_SHOWN = 30  # questions listed; evaluation.json has them all
TEXT_SHOWN = 100  # characters of a text that changed
STAGES: dict[Stage, str] = {
    "proposal": N_("proposal"),
    "observation": N_("observation"),
    "answer": N_("answer"),
    "error": N_("error"),
    "delivered": N_("delivered"),
}


def evaluation(result: Evaluation, language: Language = "en") -> str:
    """Return all that `evaluate` found: whose run it is, its measures, what lies beyond them, the other run if any."""
    said = translator(language)
    parts = [
        f"{heading(result, language)}\n",
        measures([(said.gettext("this run"), result["measures"])], language),
        f"\n{beyond(result['beyond'], result['measures']['queries'], said)}",
    ]
    if result["against"] is not None:
        parts.append(against(result["against"], result["measures"], said))
    return "\n".join(parts)


def heading(evaluation: Evaluation, language: Language, indent: str = "") -> str:
    """Return whose figures these are (model, build, device, servers, machine), and what is wrong with the whole run."""
    _ = translator(language).gettext
    conditions = evaluation["provenance"]["run"]
    server = conditions["server"]
    named = (
        server["model"] or _("a model that the server does not name"),
        server["build"] or _("build not reported"),
        server["device"] or _("device not reported"),
        servers(server, translator(language)),
        _("client on {cpu}").format(cpu=conditions["cpu"]) if "cpu" in conditions else "",
    )
    lines = [", ".join(excerpt(part) for part in named if part)]
    if mixed := evaluation.get("mixed"):
        models = "; ".join(f"{what} {', '.join(map(excerpt, names))}" for what, names in mixed.items())
        told = _("TWO MODELS ANSWERED ({models}): these figures describe neither; start a new run")
        lines.insert(0, told.format(models=models))
    elif not evaluation["complete"]:
        told = _("INCOMPLETE: {n} results; finish the run with agent --resume")
        lines.append(told.format(n=evaluation["measures"]["queries"]))
    if not evaluation["unchanged"]:
        lines.append(_("THE DATABASE CHANGED during the run"))
    if other := published.not_r3(conditions):
        told = _("not R3’s: {parts}; the published columns were made with others")
        lines.append(told.format(parts=", ".join(other)))
    return "\n".join(wrapped(line, indent, indent + "  ") for line in lines)


def servers(server: Server, said: Translator) -> str:
    """How many servers shared the questions, e.g. `2 servers of 4 slots`; nothing for one, as R3 has it."""
    replicas, slots = server.get("replicas", 1), server["slots"]
    if replicas == 1:
        return ""
    if not slots:
        return said.gettext("{replicas} servers").format(replicas=replicas)
    return said.ngettext("{replicas} servers of {n} slot", "{replicas} servers of {n} slots", slots).format(
        replicas=replicas, n=slots
    )


def measures(runs: Sequence[tuple[str, Measures]], language: Language = "en") -> str:
    """Return the measures of our runs beside the published ones, which are labelled as somebody else's."""
    said = translator(language)
    columns = [*runs, *((f"R3 {place}*", run) for place, run in enumerate(PUBLISHED["runs"], 1))]
    lines = [[said.gettext("measure"), *(name for name, _ in columns)]]
    lines += [[key, *(said.figure(rows.number(values[key])) for _, values in columns)] for key, _ in rows.MEASURES]
    note = said.gettext("* published by {source}: {model} on an {machine}; not ours")
    source = said.gettext(PUBLISHED["source"])
    note = note.format(source=source, model=PUBLISHED["model"], machine=PUBLISHED["machine"])
    return "\n".join([table(lines), wrapped(note, rest="  ")])


def beyond(block: Beyond, queries: int, said: Translator) -> str:
    """Return the second block: reads of another product, each wording measure with its queries, then the time."""
    _ = said.gettext
    columns = rows.sides(block)
    shares = [
        [
            _("share {words}").format(words=_(words)),
            *(said.figure(rows.number(side[key])) for _name, side in columns),
            "",
        ]
        for key, words in rows.SHARES
    ]
    lines = [
        [_("beyond the published marker"), *(_(name) for name, _side in columns), _("queries (model)")],
        *(_cells(row, said) for row in rows.counted(block)),
        *shares,
        *(_cells(row, said) for row in rows.replaced(block)),
    ]
    widest = max(len(line[-1]) for line in lines)
    return f"{table([[*line[:-1], line[-1].ljust(widest)] for line in lines])}\n{times(block['time'], queries, said)}"


def _cells(row: rows.Row, said: Translator) -> list[str]:
    counts = ("" if count is None else str(count) for count in row.counts)
    return [said.gettext(row.words), *counts, _listed(row.ids)]


def _listed(ids: Sequence[int]) -> str:
    """Return the numbers of queries; of many those for which there is room, and how many there are."""
    whole, room = ", ".join(map(str, ids)), width() - BESIDE_IDS
    room = max(LEAST_IDS, min(MOST_IDS, room))
    if len(whole) <= room:
        return whole
    return f"{textwrap.shorten(whole, room - len(f' ({len(ids)})'), placeholder=' …')} ({len(ids)})"


def times(block: Times, queries: int, said: Translator) -> str:
    """Return the percentiles and where the time of a question went, in lines."""
    _ = said.gettext
    told = _("time a question: p50 {p50} ms, p95 {p95} ms (slowest: {ids})")
    ids = _listed(block["slowest"]["ids"])
    lines = [wrapped(told.format(p50=round(block["p50_ms"]), p95=round(block["p95_ms"]), ids=ids), rest="  ")]
    if block["split_mean_ms"] is None:
        unknown = _("where it went is not known: no question has the timings of both generations")
        return "\n".join([*lines, wrapped(unknown, "  ", "    ")])
    total = sum(block["split_mean_ms"].values()) or 1.0
    widest = max(len(_(words)) for words in SPLIT.values())
    for name, words in SPLIT.items():
        value = block["split_mean_ms"][name]
        shares = said.figure(f"{value:>9.1f} ms  {100 * value / total:>5.1f} %")
        lines.append(f"  {_(words):<{widest}} {shares}")
    if block["split_queries"] < queries:
        told = _("(mean of the {n} questions of {queries} with both timings)")
        lines.append(f"  {told.format(n=block['split_queries'], queries=queries)}")
    return "\n".join(lines)


def against(compared: Comparison, ours: Measures, said: Translator) -> str:
    """Return the measures of both runs and, question by question, what changed from the other run to ours."""
    _ = said.gettext
    both = [(_("that run"), compared["measures"]), (_("this run"), ours)]
    lines = ["\n" + _("against {run}").format(run=excerpt(compared["run"])), measures(both, said.language)]
    differs = _("differs as well: {key}: {then} there, {now} here")
    lines += [
        wrapped(differs.format(key=key, then=_text(then), now=_text(now)), "  ", "    ")
        for key, (then, now) in compared["notes"].items()
        if key != "time"
    ]
    changed = _("{n} of {queries} questions changed")
    lines.append(changed.format(n=len(compared["changed"]), queries=compared["questions"]))
    told = _("question {id}, {stage}: {then} -> {now}")
    for change in compared["changed"][:CHANGES_SHOWN]:
        lines += [
            wrapped(told.format(id=change["id"], stage=_(name), then=_text(then), now=_text(now)), "  ", "    ")
            for stage, name in STAGES.items()
            if stage in change
            for then, now in [change[stage]]
        ]
    if (left := len(compared["changed"]) - CHANGES_SHOWN) > 0:
        lines.append("  " + _("… and {n} more in evaluation.json").format(n=left))
    return "\n".join(lines)


def _text(value: object) -> str:
    return excerpt(value if isinstance(value, str) else dumps(value), TEXT_SHOWN)
