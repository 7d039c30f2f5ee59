"""Tables with two sides, such as WebChoreArena's: success by type and site, by modality and site; tools; benchmarks.

Shares are of scored episodes, as the paper's are, with Wilson's interval. A task of two types counts under both.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from webassay.analysis.numbers import stats
from webassay.analysis.numbers.intervals import interval
from webassay.analysis.numbers.rows import ResultRow
from webassay.analysis.output import svg, text
from webassay.analysis.output.document import Document, Section
from webassay.core.groupings import GROUPINGS, Grouping, site_of
from webassay.core.record import Record
from webassay.core.report import Interval

OVERALL = "overall"


class SiteCell(Record):
    agent: str
    row: str
    column: str
    share: Interval
    passed: int


class SiteTable(Record):
    name: str
    cells: tuple[SiteCell, ...]


class ToolUse(Record):
    agent: str
    tool: str
    """Empty: any."""
    calls: int
    using: int
    """Episodes that used it."""
    with_tool: Interval
    without_tool: Interval


class BenchmarkShare(Record):
    """One agent on two benchmarks (WebChoreArena's Figure 5)."""

    agent: str
    benchmark: str
    share: Interval


class Tables(Record):
    tables: tuple[SiteTable, ...]
    tools: tuple[ToolUse, ...]
    benchmarks: tuple[BenchmarkShare, ...]


def tables(rows: Iterable[ResultRow], groupings: Iterable[Grouping] = GROUPINGS) -> Tables:
    # Here the modality is the agent's own, which may differ from what the task asks for.
    scored = [replace(row, modality=row.seen or row.modality) for row in rows if row.score is not None]
    agents = list(dict.fromkeys(row.agent for row in scored))
    made = [_table(grouping, agents, scored) for grouping in groupings if grouping.by_site]
    return Tables(
        tables=tuple(table for table in made if table.cells),
        tools=tuple(use for agent in agents for use in _tools(agent, [row for row in scored if row.agent == agent])),
        benchmarks=_against(agents, scored),
    )


def _table(grouping: Grouping, agents: Sequence[str], rows: Sequence[ResultRow]) -> SiteTable:
    cells = []
    for agent in agents:
        found: dict[tuple[str, str], list[float]] = defaultdict(list)
        for row in rows:
            if row.agent == agent and row.score is not None:
                groups = grouping.groups_of(row)
                for name in groups:
                    found[name, site_of(row.sites)].append(row.score)
                    found[name, OVERALL].append(row.score)
                if groups:
                    found[OVERALL, site_of(row.sites)].append(row.score)
                    found[OVERALL, OVERALL].append(row.score)
        cells += [
            SiteCell(agent=agent, row=name, column=column, share=_share(scores), passed=int(sum(scores)))
            for (name, column), scores in sorted(found.items(), key=lambda item: item[0][0] == OVERALL)
        ]
    return SiteTable(name=f"{grouping.name} × site", cells=tuple(cells))


def _share(scores: Sequence[float]) -> Interval:
    return interval(stats.wilson(int(sum(scores)), len(scores)))


def _tools(agent: str, rows: Sequence[ResultRow]) -> list[ToolUse]:
    names = sorted({name for row in rows for name in row.tools})
    uses = []
    for name in ("", *names):
        using = [row for row in rows if (sum(row.tools.values()) if not name else row.tools.get(name, 0))]
        others = [row for row in rows if row not in using]
        uses.append(
            ToolUse(
                agent=agent,
                tool=name,
                calls=sum(sum(row.tools.values()) if not name else row.tools.get(name, 0) for row in using),
                using=len(using),
                with_tool=_share([row.score or 0.0 for row in using]),
                without_tool=_share([row.score or 0.0 for row in others]),
            )
        )
    return uses if names else []


def _against(agents: Sequence[str], rows: Sequence[ResultRow]) -> tuple[BenchmarkShare, ...]:
    benchmarks = list(dict.fromkeys(row.benchmark for row in rows))
    if len(benchmarks) < 2:
        return ()
    return tuple(
        BenchmarkShare(agent=agent, benchmark=benchmark, share=_share(scores))
        for benchmark in benchmarks
        for agent in agents
        if (scores := [row.score or 0.0 for row in rows if row.agent == agent and row.benchmark == benchmark])
    )


# --- as tables ------------------------------------------------------------------------------------------


def tables_document(made: Tables) -> Document:
    sections = [_section(table) for table in made.tables]
    if made.tools:
        rows = [
            (use.agent, use.tool or "any", str(use.calls), str(use.using), text.with_bounds(use.with_tool),
             text.with_bounds(use.without_tool))
            for use in made.tools
        ]  # fmt: skip
        headings = ("agent", "tool", "calls", "episodes with it", "success with it", "success without it")
        sections.append(Section("Tools", headings, rows))
    if made.benchmarks:
        sections.append(_figure(made.benchmarks))
    return Document("Tables", sections, made.model_dump_json(indent=1))


def _section(table: SiteTable) -> Section:
    known = list(dict.fromkeys(cell.column for cell in table.cells))
    columns = [*sorted(name for name in known if name != OVERALL), OVERALL]
    cells = {(cell.agent, cell.row, cell.column): cell for cell in table.cells}
    rows = [
        (agent, name, *(_shown(cells.get((agent, name, column))) for column in columns))
        for agent, name in dict.fromkeys((cell.agent, cell.row) for cell in table.cells)
    ]
    note = "Share of scored episodes, their number, and Wilson's 95 % interval."
    return Section(table.name.capitalize(), ("agent", table.name.partition(" ×")[0], *columns), rows, note)


def _shown(cell: SiteCell | None) -> str:
    return "–" if cell is None else f"{text.with_bounds(cell.share)} of {cell.share.units}"


def _figure(points: Sequence[BenchmarkShare]) -> Section:
    first = points[0].benchmark
    bars = [
        svg.Bar(f"{one.agent}, {one.benchmark}", one.share, text.with_bounds(one.share), one.benchmark != first)
        for one in points
    ]
    rows = [(one.agent, one.benchmark, text.with_bounds(one.share), str(one.share.units)) for one in points]
    return Section(
        "One benchmark against another",
        ("agent", "benchmark", "success", "episodes"),
        rows,
        "Where agents lie close together on one benchmark and apart on the other, the other tells more.",
        picture=svg.forest(bars, low=0.0, high=1.0, step=0.25),
    )
