"""A report as text: for the terminal, for Markdown, for a program."""

from collections.abc import Iterator, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from webassay.analysis.output.document import Section
from webassay.analysis.output.text import (
    DASH,
    bounds,
    decimal,
    money,
    number,
    p_value,
    percent,
    plain,
    points,
    rich_table,
    tokens,
    with_bounds,
)
from webassay.analysis.output.writers import in_markdown, on_terminal
from webassay.core.report import (
    AgentReport,
    Comparison,
    Concord,
    Contamination,
    ErrorCount,
    GraderOpinion,
    Process,
    Report,
    ReportedGrouping,
    Success,
    is_reference,
)
from webassay.core.text import printable


def outcome(comparison: Comparison) -> str:
    """Judged by the corrected p-value, so that many comparisons do not find something by trying often."""
    difference = comparison.difference.value
    if comparison.p_adjusted is None or difference is None:
        return "not enough templates"
    if comparison.p_adjusted >= 0.05:
        return "no difference shown"
    return f"{'above' if difference > 0 else 'below'} {comparison.anchor}"


def conclusion(report: Report) -> list[str]:
    """What the numbers say, and what they leave open, in sentences."""
    scored = [agent for agent in contestants(report) if agent.success.macro.value is not None]
    if not scored:
        return ["No agent has a score yet."]
    references = [agent for agent in scored if is_reference(agent.name)]
    rivals = [agent for agent in scored if agent not in references] or scored
    best, told = rivals[0], []
    for one in references if rivals is not scored else ():
        counts = one.success.counts
        told.append(f"{one.name} plays the reference solutions: it passes {counts.passed} of {counts.scored} episodes.")
    said = f"{best.name} passes {with_bounds(best.success.macro)} of the tasks, each template counting once"
    told.append(f"{said}: no other agent passes more." if len(rivals) > 1 else f"{said}.")
    told += [sentence for agent in rivals[:MOST_SPLIT] if (sentence := kinds_in_words(agent))]
    for word, ending in (("below", "less than"), ("above", "more than")):
        if found := [one for one in report.comparisons if outcome(one).startswith(word)]:
            passes = "passes" if len(found) == 1 else "pass"
            named = _listed([f"{one.agent} ({_p(one.p_adjusted)})" for one in found])
            told.append(f"{named} {passes} {ending} {report.anchor} by more than chance would explain.")
    if unsure := [one.agent for one in report.comparisons if one.p_adjusted is None or one.p_adjusted >= 0.05]:
        told.append(f"These {report.templates} templates do not tell {_listed(unsure)} from {report.anchor}.")
    return told


def kinds_in_words(agent: AgentReport) -> str:
    """Where the one number hides that an agent can do some kinds of tasks and not others."""
    kinds = [(one.name, one.success.counts) for one in agent.groups if one.dimension == "kind"]
    kinds = [(name, counts) for name, counts in kinds if counts.scored]
    shares = [counts.passed / counts.scored for _, counts in kinds]
    if len(kinds) < 2 or max(shares) - min(shares) < SPLIT:
        return ""
    said = ", ".join(f"{name} {counts.passed}/{counts.scored}" for name, counts in kinds)
    return f"{agent.name} by kind of task: {said}."


SPLIT = 0.5
"""Shares of success that are so far apart are said."""
MOST_SPLIT = 3
"""Agents of which it is said."""


def _p(value: float | None) -> str:
    shown = p_value(value)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


def _listed(names: Sequence[str], most: int = 6) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} others"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def paired_on(comparison: Comparison) -> str:
    same = "identical tasks" if comparison.identical_tasks else f"{comparison.tasks_left_out} left out"
    return f"{comparison.tasks} tasks, {comparison.difference.units} templates; {same}"


def tasks_a_template(report: Report) -> float:
    """Where each template has one task, its rate is the task's, and two ways to average are one."""
    return report.tasks / report.templates if report.templates else 1.0


def contestants(report: Report) -> tuple[AgentReport, ...]:
    """Agents that try; where there are none, all. Details of baselines would only hide those of the others."""
    return tuple(agent for agent in report.agents if not agent.baseline) or report.agents


# --- the tables, once -----------------------------------------------------------------------------------

SUCCESS_HEADINGS = (
    "agent",
    "success (template-macro, 95 %)",
    "unscored as failures",
    "passed / scored",
    "micro (Wilson 95 %)",
    "attempted / planned",
    "faulted",
    "abstained",
    "missing",
)


def success_cells(success: Success) -> tuple[str, ...]:
    counts = success.counts
    return (
        with_bounds(success.macro),
        _worst(success),
        f"{counts.passed} / {counts.scored}",
        _micro(success),
        f"{counts.attempted} / {counts.planned}",
        str(counts.faulted),
        str(counts.abstained),
        str(counts.missing),
    )


COMPARISON_HEADINGS = (
    "agent",
    "difference (points)",
    "95 % interval",
    "p",
    "p (Holm)",
    "verdict",
    "paired on",
    "templates to see 3 points",
)


def comparison_cells(comparison: Comparison) -> tuple[str, ...]:
    needed = comparison.templates_to_see_3_points
    return (
        comparison.agent,
        points(comparison.difference),
        bounds(comparison.difference),
        p_value(comparison.p_value),
        p_value(comparison.p_adjusted),
        outcome(comparison),
        paired_on(comparison),
        DASH if needed is None else f"{needed:,}",
    )


EFFORT_HEADINGS = (
    "agent",
    "steps (median)",
    "seconds with thinking (median)",
    "tokens in",
    "tokens out",
    "cost",
    "cost per success",
)


def effort_cells(agent: AgentReport) -> tuple[str, ...]:
    effort = agent.efficiency
    return (
        agent.name,
        number(effort.steps.median).removesuffix(".0"),
        number(effort.seconds.median),
        tokens(effort.input_tokens.total) if effort.input_tokens.known else DASH,
        tokens(effort.output_tokens.total) if effort.output_tokens.known else DASH,
        money(effort.cost_usd.total) if effort.cost_usd.known else DASH,
        money(effort.cost_per_success),
    )


def effort_table(report: Report) -> tuple[list[str], list[list[str]]]:
    """Headings and rows, without what is known of no agent."""
    rows = [effort_cells(agent) for agent in contestants(report)]
    known = [place for place in range(len(EFFORT_HEADINGS)) if any(row[place] != DASH for row in rows)]
    return [EFFORT_HEADINGS[place] for place in known], [[row[place] for place in known] for row in rows]


# --- what judges add, once ------------------------------------------------------------------------------


PROCESS_HEADINGS = ("process score (95 %)", "good process (Wilson 95 %)")


def process_cells(process: Process | None) -> tuple[str, ...]:
    if process is None:
        return (DASH, DASH)
    return (decimal(process.mean), f"{percent(process.good.value)} {bounds(process.good)}")


def sections(report: Report) -> list[Section]:
    """In the order in which they are shown."""
    made = [
        *(_alone(report, grouping) for grouping in report.groupings if grouping.shown_alone),
        _sites(report),
        _opinions(report),
        _concords(report),
        _process(report),
        _diagnosed(report),
    ]
    made += [_errors(report, "categories"), _errors(report, "codes")]
    return [section for section in made if section.rows]


def _alone(report: Report, grouping: ReportedGrouping) -> Section:
    rows = [
        (agent.name, group.name, with_bounds(group.success.macro), f"{counts.passed} / {counts.scored}")
        for agent in contestants(report)
        for group in agent.groups
        if group.dimension == grouping.name and (counts := group.success.counts)
    ]
    return Section(f"By {grouping.title}", ("agent", grouping.name, "success, template-macro", "passed / scored"), rows)


def _sites(report: Report) -> Section:
    rows = [
        (agent.name, with_bounds(agent.site_macro), str(agent.site_macro.units))
        for agent in contestants(report)
        if agent.site_macro.units > 1
    ]
    note = "Every site counts once, with the template-macro of its tasks; tasks on several sites are left out."
    return Section("Site-macro success", ("agent", "success (site-macro, 95 %)", "sites"), rows, note)


def _process(report: Report) -> Section:
    rows = [(agent.name, *process_cells(agent.process)) for agent in contestants(report) if agent.process]
    note = "How well the work was done, whatever came of it, from 0 to 1: template-macro mean. Good is 0.8 or more."
    return Section("Process", ("agent", *PROCESS_HEADINGS), rows, note)


def _diagnosed(report: Report) -> Section:
    rows = [
        (
            agent.name,
            str(found.episodes),
            str(found.with_errors),
            str(sum(error.count for error in found.codes)),
            number(found.first_step.median, 0),
            number(found.first_step.p90, 0),
        )
        for agent in contestants(report)
        if (found := agent.diagnosis)
    ]
    headings = ("agent", "diagnosed", "with errors", "errors", "first error at step (median)", "(90 % by)")
    return Section("Diagnosed episodes", headings, rows)


def _errors(report: Report, level: str) -> Section:
    rows = [
        (agent.name, *error_cells(error))
        for agent in contestants(report)
        if agent.diagnosis
        for error in getattr(agent.diagnosis, level)
    ]
    title = "Errors by category" if level == "categories" else "Errors by code"
    note = "Errors per diagnosed episode; one episode can have several." if level == "categories" else ""
    narrow = () if level == "codes" else None
    return Section(title, ("agent", "code", "error", "per episode", "errors", "episodes"), rows, note, narrow)


def error_cells(error: ErrorCount) -> tuple[str, ...]:
    code = error.code if error.taxonomy == "paper" else f"{error.taxonomy} {error.code}"
    return (code, error.name or DASH, f"{error.rate:.3f}", str(error.count), str(error.episodes))


_OPINION_NARROW = (0, 1, 2, 3, 5)


def _opinions(report: Report) -> Section:
    headings: tuple[str, ...] = ("agent", "grader", "success, template-macro", "passed / scored", "micro, Wilson")
    if any(one.process for one in report.opinions):
        headings += PROCESS_HEADINGS
    rows = [opinion_cells(one)[: len(headings)] for one in report.opinions]
    return Section("Graders side by side", headings, rows, "The same episodes under several graders.", _OPINION_NARROW)


def opinion_cells(one: GraderOpinion) -> tuple[str, ...]:
    success = one.success
    scored = f"{success.counts.passed} / {success.counts.scored}"
    return (one.agent, one.grader, with_bounds(success.macro), scored, _micro(success), *process_cells(one.process))


def _concords(report: Report) -> Section:
    headings = ("graders", "both pass", "only the first", "only the second", "both fail", "undecided", "same", "kappa")
    note = "Kappa with its 95 % interval from resampling tasks. Undecided: at least one of the two gave no verdict."
    return Section("Agreement of the graders", headings, [concord_cells(one) for one in report.concords], note, ())


def concord_in_words(one: Concord) -> str:
    return (
        f"{one.first} / {one.second}: both pass {one.both_pass}, only the first {one.only_first_passes}, only the "
        f"second {one.only_second_passes}, both fail {one.both_fail}, undecided {one.undecided}; "
        f"the same on {percent(one.same.value)}, kappa {decimal(one.kappa)}."
    )


def concord_cells(one: Concord) -> tuple[str, ...]:
    counts = (one.both_pass, one.only_first_passes, one.only_second_passes, one.both_fail, one.undecided)
    return (f"{one.first} / {one.second}", *map(str, counts), percent(one.same.value), decimal(one.kappa))


def graded_by(report: Report) -> str:
    return f"Graded by {report.grader}." if report.grader else ""


# --- terminal -------------------------------------------------------------------------------------------


def to_summary(report: Report) -> RenderableType:
    """Who passed how much, and what that says; meant to fit 80 columns, as all that goes to a terminal."""
    complete = all(agent.success.complete for agent in report.agents)
    several = tasks_a_template(report) > 1
    rows = []
    for agent in report.agents:
        counts = agent.success.counts
        worst = () if complete else (_worst(agent.success),)
        micro = (_micro(agent.success),) if several else ()
        rows.append(
            (agent.name, with_bounds(agent.success.macro), *worst, *micro, f"{counts.passed} / {counts.scored}")
        )
    worst_heading = () if complete else ("unscored as failures",)
    macro_heading = "success, template-macro" if several else "success [95 % interval]"
    success = (macro_heading, *worst_heading, *(("micro, Wilson",) if several else ()))
    headings = ("agent", *success, "passed / scored")
    return Stack(
        rich_table(report.title or None, headings, rows),
        *([Text(graded_by(report), style="dim")] if report.grader else []),
        *(Text(printable(sentence)) for sentence in conclusion(report)),
    )


FEW_SITES, FEW_TEMPLATES = 5, 30
"""With fewer, a terminal does not show what is broken down by sites or by difficulty: the page does."""


def _worth_a_terminal(report: Report) -> Iterator[Section]:
    for section in sections(report):
        if section.title == "Site-macro success" and all(one.site_macro.units < FEW_SITES for one in report.agents):
            continue
        if section.title == "By difficulty" and report.templates < FEW_TEMPLATES:
            continue
        yield section


def to_table(report: Report) -> RenderableType:
    parts: list[RenderableType] = [to_summary(report)]
    if not all(agent.success.complete for agent in report.agents):
        fates = [_fates(agent) for agent in report.agents]
        parts += on_terminal([Section("What became of the work", ("agent", *FATES), fates)])
    parts += on_terminal([_comparisons(report)]) if report.comparisons else []
    rows = map(comparison_cells, report.comparisons)
    needed = report.templates >= FEW_TEMPLATES
    parts += [Text(printable(f"{row[0]}: {row[6]}{_needed(row[7]) if needed else ''}"), style="dim") for row in rows]
    parts += on_terminal(list(_worth_a_terminal(report)))
    parts += [Text(concord_in_words(one), style="dim") for one in report.concords]
    parts += on_terminal([Section("Effort", *effort_table(report))])
    if report.contamination is not None:
        parts.append(Text(without_work(report.contamination)))
    parts.extend(Text(printable(f"! {warning}"), style="yellow") for warning in all_warnings(report))
    return Stack(*parts)


FATES = ("planned", "attempted", "faulted", "abstained", "missing")


def _fates(agent: AgentReport) -> tuple[str, ...]:
    return (agent.name, *(str(getattr(agent.success.counts, fate)) for fate in FATES))


def without_work(found: Contamination) -> str:
    # Without its interval: that is of tasks, and beside the tables' intervals of templates it reads as a contradiction.
    if not found.solved:
        return f"Success without work: none; {_listed(found.members)} passed no task."
    passed = f"{percent(found.union.value)} of the tasks"
    if len(found.members) == 1:
        return f"Success without work: the baseline {found.members[0]} passes {passed}."
    return (
        f"Success without work: {len(found.members)} baselines, {percent(found.mean.value)} on average; "
        f"at least one of them passes {passed}."
    )


def _needed(templates: str) -> str:
    return "" if templates == DASH else f"; 3 points would show on {templates} templates"


def _micro(success: Success) -> str:
    return with_bounds(success.micro)


def _worst(success: Success) -> str:
    return "same" if success.complete else with_bounds(success.worst)


def all_warnings(report: Report) -> Iterator[str]:
    yield from report.warnings
    for comparison in report.comparisons:
        for warning in comparison.warnings:
            yield f"{comparison.agent} and {comparison.anchor}: {warning}."


# --- Markdown, JSON -------------------------------------------------------------------------------------


def to_markdown(report: Report) -> str:
    summary = f"{_in_words(report)} {plain(graded_by(report))}".rstrip()
    lines = [f"# {plain(report.title or 'Report')}", "", summary, "", plain(" ".join(conclusion(report))), ""]
    lines += [f"- **Note:** {plain(warning)}" for warning in all_warnings(report)]
    agents = contestants(report)
    shown = [Section("Success", SUCCESS_HEADINGS, [(one.name, *success_cells(one.success)) for one in report.agents])]
    shown += [_comparisons(report)] if report.comparisons else []
    by_group = {f"By {grouping.title}" for grouping in report.groupings}
    shown += [one for one in sections(report) if one.title not in by_group]  # those come in full
    shown += _groups(report)
    shown.append(Section("Effort", EFFORT_HEADINGS, [effort_cells(agent) for agent in agents]))
    modes = [
        (agent.name, mode.check, mode.code or DASH, str(mode.episodes), str(mode.count))
        for agent in agents
        for mode in agent.failures
    ]
    shown += [Section("What went wrong", ("agent", "check", "code", "episodes", "times"), modes)] if modes else []
    lines += in_markdown(shown)
    if report.contamination is not None:
        lines += ["", plain(without_work(report.contamination))]
    if report.gradings:
        rows = [(one.agent, one.label or DASH, one.fingerprint, str(one.units)) for one in report.gradings]
        lines += in_markdown([Section("Graders", ("agent", "grader", "fingerprint", "verdicts"), rows)])
    return "\n".join(lines) + "\n"


def _groups(report: Report) -> list[Section]:
    shown = []
    for grouping in report.groupings:
        rows = [
            (agent.name, group.name, *success_cells(group.success))
            for agent in contestants(report)
            for group in agent.groups
            if group.dimension == grouping.name
        ]
        if len({row[1] for row in rows}) >= (1 if grouping.shown_alone else 2):
            headings = ("agent", grouping.name, *SUCCESS_HEADINGS[1:])
            shown.append(Section(f"By {grouping.title}", headings, rows))
    return shown


def _comparisons(report: Report) -> Section:
    rows = [comparison_cells(comparison) for comparison in report.comparisons]
    return Section(f"Paired differences to {report.anchor}", COMPARISON_HEADINGS, rows, narrow=tuple(range(6)))


def _in_words(report: Report) -> str:
    counts = report.counts
    return (
        f"{len(report.agents)} agents, {report.tasks} tasks of {report.templates} templates. "
        f"Planned {counts.planned}, attempted {counts.attempted}, scored {counts.scored}, "
        f"faulted {counts.faulted}, abstained {counts.abstained}, missing {counts.missing}."
    )


def to_json(report: Report) -> str:
    return report.model_dump_json(indent=1) + "\n"
