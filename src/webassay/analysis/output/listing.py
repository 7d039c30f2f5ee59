"""Audits, subsets, agreement and leaderboards as tables: said once, written for the terminal, Markdown, CSV, a page."""

import csv
import io
from collections.abc import Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from webassay.analysis.benchmark.audit import Audit
from webassay.analysis.benchmark.subset import Subset
from webassay.analysis.numbers.agreement import Agreement, Annotation
from webassay.analysis.output import text as render
from webassay.analysis.output.section import Section
from webassay.analysis.results.leaderboard import Entry, Leaderboard
from webassay.analysis.results.page import environment
from webassay.analysis.results.spreadsheet import csv_cell
from webassay.core.report import Interval
from webassay.core.text import printable

# --- writing --------------------------------------------------------------------------------------------


def to_markdown(title: str, sections: Sequence[Section]) -> str:
    lines = [f"# {render.plain(title)}"]
    for section in sections:
        lines += ["", f"## {render.plain(section.title)}", ""]
        lines += [render.plain(section.note), ""] if section.note else []
        lines += render.markdown_table(section.headings, section.rows)
    return "\n".join(lines) + "\n"


def to_table(title: str, sections: Sequence[Section], most: int = 50) -> RenderableType:
    """A terminal is for looking, not for working through: of a long table only the first rows, and how many follow."""
    parts: list[RenderableType] = [Text(printable(title), style="bold")]
    for section in sections:
        places = range(len(section.headings)) if section.narrow is None else section.narrow
        shown = [[row[place] for place in places] for row in section.rows[:most]]
        headings = [section.headings[place] for place in places]
        parts.append(render.rich_table(section.title, headings, shown, lines=section.lines))
        left = len(section.rows) - most
        notes = [section.note] * bool(section.note) + [f"... and {left} more rows."] * (left > 0)
        parts += [Text(printable(note, lines=True), style="dim") for note in notes]
    return Stack(*parts)


def to_csv(section: Section) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(section.headings)
    writer.writerows([csv_cell(cell) for cell in row] for row in section.rows)
    return out.getvalue()


def to_html(title: str, sections: Sequence[Section]) -> str:
    return environment.get_template("listing.html").render(title=title, sections=sections)


# --- what there is to say -------------------------------------------------------------------------------


def of_audit(audit: Audit) -> list[Section]:
    facts = [
        ("tasks", str(audit.tasks)),
        ("templates", str(audit.templates)),
        ("on several sites", str(audit.multi_site)),
        ("Gini of the template sizes", "–" if audit.gini is None else f"{audit.gini:.4f}"),
        *((f"kind: {kind}", str(count)) for kind, count in audit.kinds.items()),
    ]
    counts = [(name.replace("_", " "), str(count)) for name, count in audit.counts.items()]
    sections = [Section("The benchmark", ("fact", "value"), facts), Section("Detectors", ("detector", "tasks"), counts)]
    if audit.naive:
        note = (
            "Answers given without looking, under the original string rules. The published count for the numbers of "
            "the intent, 11, is what the constant 1 2 3 gets."
        )
        naive = [(name, str(count)) for name, count in audit.naive.items()]
        sections.append(Section("Passed without looking", ("answer", "tasks"), naive, note))
    if audit.graders is not None:
        sections += of_agreement(audit.graders)
    if audit.annotation is not None:
        sections += of_annotation(audit.annotation)
    order = {"defect": 0, "risk": 1, "suspect": 2}
    issues = [
        (issue.task_id, issue.template, issue.severity, issue.detector.replace("_", " "), issue.reason, issue.fix)
        for issue in sorted(audit.issues, key=lambda issue: order[issue.severity])
    ]
    headings = ("task", "template", "severity", "detector", "reason", "suggested fix")
    return [*sections, Section("To work through", headings, issues)]


def of_subset(subset: Subset) -> list[Section]:
    counts = [(name, str(count)) for name, count in subset.counts.items()]
    counts += [
        ("chosen", str(len(subset.tasks))),
        ("hard at 95 %, as in the text", str(subset.hard_in_text)),
        ("hard at z = 1.282, as in the appendix", str(subset.hard_in_appendix)),
        ("templates covered", f"{subset.templates} of {subset.templates_of_all}"),
        *((f"{name} saved", render.percent(share)) for name, share in subset.saved.items()),
    ]
    agents = ", ".join(subset.ranked_agents) or "none has a score for nine tenths of the tasks"
    measure = f"Kendall's tau-b, all and subset, over {subset.ranked_tasks} shared tasks"
    ranking = [(measure, _plain_interval(subset.ranking), agents)]
    grid = [
        (f"{cell.z:.3f}", f"{cell.easy_threshold:.2f}", str(cell.hard), render.percent(cell.flipped))
        for cell in subset.grid
    ]
    return [
        Section("Tasks", ("what", "tasks"), counts),
        Section("Ranking", ("measure", "value and 95 % interval", "agents"), ranking),
        Section("Sensitivity", ("z", "easy threshold", "hard tasks", "tasks that change their class"), grid),
        Section("The subset", ("task",), [(task,) for task in subset.tasks]),
    ]


def of_agreement(agreement: Agreement) -> list[Section]:
    pairs = [
        (pair.first, pair.second, str(pair.items), render.percent(pair.same.value), _plain_interval(pair.kappa),
         "–" if pair.weighted is None else _plain_interval(pair.weighted))
        for pair in agreement.pairs
    ]  # fmt: skip
    overall = [
        ("Fleiss' kappa", str(agreement.rated_by_all), _plain_interval(agreement.fleiss)),
        ("Krippendorff's alpha", str(agreement.items), _plain_interval(agreement.alpha)),
    ]
    return [
        Section("Pairs", ("rater", "rater", "items", "same label", "Cohen's kappa", "weighted"), pairs),
        Section("All raters", ("measure", "items", "value and 95 % interval"), overall),
    ]


def of_annotation(annotation: Annotation) -> list[Section]:
    sites = [(site.site, str(site.tasks), _plain_interval(site.kappa)) for site in annotation.sites]
    total = str(sum(site.tasks for site in annotation.sites))
    sites.append(("all, weighted by tasks", total, _plain_interval(annotation.overall)))
    return [Section("Inter-rater reliability", ("site", "tasks", "kappa and 95 % interval"), sites)]


_BOARD_NARROW = (0, 1, 3, 4, 6, 8)


def of_leaderboard(leaderboard: Leaderboard) -> list[Section]:
    sections = []
    for board in leaderboard.boards:
        judged = any(entry.process for entry in board.entries)
        rows = [
            (str(place), _name(entry), entry.model or "–", entry.run, *render.success_cells(entry.success))
            + (render.process_cells(entry.process) if judged else ())
            for place, entry in enumerate(board.entries, 1)
        ]
        grader = f"{board.label} ({board.grader})" if board.label not in ("", board.grader) else board.grader
        note = f"Grader: {grader or 'none yet'}. Tasks and keys: {board.data} ({board.tasks} tasks)."
        headings = ["#", "agent", "model", "run", *render.SUCCESS_HEADINGS[1:]]
        headings += render.PROCESS_HEADINGS if judged else ()
        sections.append(
            Section(", ".join(board.benchmarks) or "no benchmark named", headings, rows, note, _BOARD_NARROW)
        )
    return sections


def _name(entry: Entry) -> str:
    return f"{entry.agent} (baseline)" if entry.baseline else entry.agent


def _plain_interval(interval: Interval) -> str:
    if interval.value is None:
        return "–"
    if interval.low is None or interval.high is None:
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
