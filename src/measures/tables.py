"""The measures of a run as tables for a terminal: the published ones, what lies beyond them, and what changed.

Our figures and those of others have columns of their own, and the two blocks tables of their own.
"""

from collections.abc import Sequence
from typing import get_args

from src.base.printable import dumps, excerpt
from src.base.records import Server
from src.measures import published, rows
from src.measures.beyond import SPLIT
from src.measures.published import PUBLISHED
from src.measures.records import Beyond, Comparison, Evaluation, Measures, Stage, Times

IDS_SHOWN = 12  # query numbers in one cell; evaluation.json has them all
CHANGES_SHOWN = 30  # questions listed; evaluation.json has them all
TEXT_SHOWN = 100  # characters of a text that changed

STAGES: tuple[Stage, ...] = get_args(Stage)


def table(lines: Sequence[Sequence[str]]) -> str:
    """Return lines of cells as columns: the first to the left, the others to the right; the first line is the head."""
    widths = [max(len(row[column]) for row in lines) for column in range(len(lines[0]))]
    drawn = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in lines
    ]
    return "\n".join(line.rstrip() for line in [drawn[0], "  ".join("-" * width for width in widths), *drawn[1:]])


def evaluation(result: Evaluation) -> str:
    """Return all that `evaluate` found: whose run it is, its measures, what lies beyond them, the other run if any."""
    parts = [
        f"{heading(result)}\n",
        measures([("this run", result["measures"])]),
        f"\n{beyond(result['beyond'], result['measures']['queries'])}",
    ]
    if result["against"] is not None:
        parts.append(against(result["against"], result["measures"]))
    return "\n".join(parts)


def heading(evaluation: Evaluation) -> str:
    """Return whose figures these are (model, build, device, servers, machine), and what is wrong with the whole run."""
    conditions = evaluation["provenance"]["run"]
    server = conditions["server"]
    named = (
        server["model"] or "a model that the server does not name",
        server["build"] or "build not reported",
        server["device"] or "device not reported",
        _servers(server),
        f"client on {conditions['cpu']}" if "cpu" in conditions else "",
    )
    lines = [", ".join(excerpt(part) for part in named if part)]
    if mixed := evaluation.get("mixed"):
        models = "; ".join(f"{what} {' and '.join(map(excerpt, names))}" for what, names in mixed.items())
        lines.insert(0, f"TWO MODELS ANSWERED ({models}): these figures describe neither; start a new run")
    elif not evaluation["complete"]:
        lines.append(f"INCOMPLETE: {evaluation['measures']['queries']} results; finish the run with agent --resume")
    if not evaluation["unchanged"]:
        lines.append("THE DATABASE CHANGED during the run")
    if other := published.not_r3(conditions):
        lines.append(f"not R3's: {', '.join(other)}; the published columns were made with others")
    return "\n".join(lines)


def _servers(server: Server) -> str:
    """How many servers shared the questions, e.g. `2 servers of 4 slots`; nothing for one, as R3 has it."""
    replicas, slots = server.get("replicas", 1), server["slots"]
    if replicas == 1:
        return ""
    return f"{replicas} servers" + (f" of {slots} slot{'s' * (slots > 1)}" if slots else "")


def measures(runs: Sequence[tuple[str, Measures]]) -> str:
    """Return the measures of our runs beside the published ones, which are labelled as somebody else's."""
    columns = [*runs, *((f"R3 {place}*", run) for place, run in enumerate(PUBLISHED["runs"], 1))]
    lines = [["measure", *(name for name, _ in columns)]]
    lines += [[key, *(rows.number(values[key]) for _, values in columns)] for key, _ in rows.MEASURES]
    note = f"* published by {PUBLISHED['source']}: {PUBLISHED['model']} on an {PUBLISHED['machine']}; not ours"
    return f"{table(lines)}\n{note}"


def beyond(block: Beyond, queries: int) -> str:
    """Return the second block: reads of another product, each wording measure with its queries, then the time."""
    columns = rows.sides(block)
    shares = [[f"share {words}", *(rows.number(side[key]) for _, side in columns), ""] for key, words in rows.SHARES]
    lines = [
        ["beyond the published marker", *(name for name, _ in columns), "  queries (of the model's answers)"],
        *map(_cells, rows.counted(block)),
        *shares,
        *map(_cells, rows.replaced(block)),
    ]
    widest = max(len(line[-1]) for line in lines)
    return f"{table([[*line[:-1], line[-1].ljust(widest)] for line in lines])}\n{times(block['time'], queries)}"


def _cells(row: rows.Row) -> list[str]:
    return [row.words, *("" if count is None else str(count) for count in row.counts), f"  {_listed(row.ids)}"]


def _listed(ids: Sequence[int]) -> str:
    shown = ", ".join(map(str, ids[:IDS_SHOWN]))
    return f"{shown}, … ({len(ids)})" if len(ids) > IDS_SHOWN else shown


def times(block: Times, queries: int) -> str:
    """Return the percentiles and where the time of a question went, in lines."""
    lines = [
        f"time a question: p50 {block['p50_ms']:.0f} ms, p95 {block['p95_ms']:.0f} ms "
        f"(slowest: {_listed(block['slowest']['ids'])})"
    ]
    if block["split_mean_ms"] is None:
        return "\n".join([*lines, "  where it went is not known: no question has the timings of both generations"])
    total = sum(block["split_mean_ms"].values()) or 1.0
    for name, words in SPLIT.items():
        value = block["split_mean_ms"][name]
        lines.append(f"  {words:<28} {value:>10.1f} ms  {100 * value / total:>5.1f} %")
    if block["split_queries"] < queries:
        lines.append(f"  (mean of the {block['split_queries']} questions of {queries} with both timings)")
    return "\n".join(lines)


def against(compared: Comparison, ours: Measures) -> str:
    """Return the measures of both runs and, question by question, what changed from the other run to ours."""
    lines = [
        f"\nagainst {excerpt(compared['run'])}",
        measures([("that run", compared["measures"]), ("this run", ours)]),
    ]
    lines += [
        f"  differs as well: {key}: {_text(then)} there, {_text(now)} here"
        for key, (then, now) in compared["notes"].items()
        if key != "time"
    ]
    lines.append(f"{len(compared['changed'])} of {compared['questions']} questions changed")
    for change in compared["changed"][:CHANGES_SHOWN]:
        lines += [
            f"  question {change['id']}, {stage}: {_text(change[stage][0])} -> {_text(change[stage][1])}"
            for stage in STAGES
            if stage in change
        ]
    if (left := len(compared["changed"]) - CHANGES_SHOWN) > 0:
        lines.append(f"  … and {left} more in evaluation.json")
    return "\n".join(lines)


def _text(value: object) -> str:
    return excerpt(value if isinstance(value, str) else dumps(value), TEXT_SHOWN)
