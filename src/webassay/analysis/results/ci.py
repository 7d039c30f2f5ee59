"""What a pipeline reads: whether a threshold holds, JUnit XML, and a summary for the page of a GitHub run."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from webassay.analysis.episode.view import cut
from webassay.analysis.numbers.rows import RowStatus
from webassay.analysis.output.document import Section
from webassay.analysis.output.text import percent, plain
from webassay.analysis.output.writers import in_markdown
from webassay.analysis.results import report_text
from webassay.core.registry import nearest
from webassay.core.report import AgentReport, Report
from webassay.core.text import printable

LISTED = 50
"""Episodes that a summary names."""
SHORT = 300
"""Characters where a line is read among others; evidence that was never seen can be a long list."""


@dataclass(frozen=True)
class UnitCase:
    """One planned unit, as the test that a pipeline takes it for."""

    agent: str
    name: str
    status: RowStatus
    seconds: float
    reasons: tuple[str, ...] = ()
    """Why it did not pass, each in a sentence; none only if it did."""


@dataclass(frozen=True)
class Threshold:
    """What agents must reach: template-macro success, with a verdict on every unit that was planned."""

    success: float
    agents: Sequence[str] = ()
    """Empty: all that try; baselines do not."""
    max_unscored: int = 0
    """Units that may be missing, faulted or abstained, all agents together."""

    def failures(self, report: Report) -> list[str]:
        """Why it does not hold, in sentences; empty: it holds."""
        agents = chosen_agents(report, self.agents)
        if not agents:
            return ["Nothing was planned, so nothing was measured."]
        found = [self._below(agent) for agent in agents]
        counts = [agent.success.counts for agent in agents]
        fates = {fate: sum(getattr(one, fate) for one in counts) for fate in ("missing", "faulted", "abstained")}
        if sum(fates.values()) > self.max_unscored:
            said = ", ".join(f"{count} {fate}" for fate, count in fates.items() if count)
            planned = sum(one.planned for one in counts)
            found.append(f"Of {planned} planned units, {said}: at most {self.max_unscored} may have no verdict.")
        return [why for why in found if why]

    def _below(self, agent: AgentReport) -> str:
        value = agent.success.macro.value
        if value is None:
            return f"{agent.name} has no score: no unit of it passed or failed."
        if value >= self.success:
            return ""
        return f"{agent.name} passes {percent(value)} of its tasks, less than {percent(self.success)}."


def chosen_agents(report: Report, names: Sequence[str]) -> list[AgentReport]:
    """Those named; without a name, all that try."""
    known = {agent.name: agent for agent in report.agents}
    for name in names:
        if name not in known:
            raise nearest("agent", name, known)
    return [known[name] for name in names] or list(report_text.contestants(report))


# --- JUnit ----------------------------------------------------------------------------------------------


def to_junit(cases: Sequence[UnitCase], title: str) -> str:
    """A suite for each agent and a case for each unit. A unit without a verdict is an error: nothing unscored may look
    as if it had passed."""
    root = ET.Element("testsuites", _about(title, cases))
    for agent, own in groupby(sorted(cases, key=lambda case: case.agent), key=lambda case: case.agent):
        units = list(own)
        suite = ET.SubElement(root, "testsuite", _about(agent, units))
        for case in units:
            told = {"classname": printable(agent), "name": printable(case.name), "time": f"{case.seconds:.3f}"}
            made = ET.SubElement(suite, "testcase", told)
            if case.status != "pass":
                kind = "failure" if case.status == "fail" else "error"
                said = [printable(reason, lines=True) for reason in case.reasons]
                first = {"type": case.status, "message": cut(said[0].partition("\n")[0], SHORT)}
                ET.SubElement(made, kind, first).text = "\n".join(said)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _about(name: str, cases: Sequence[UnitCase]) -> dict[str, str]:
    failed = sum(case.status == "fail" for case in cases)
    errors = sum(case.status not in ("pass", "fail") for case in cases)
    counts = {"tests": len(cases), "failures": failed, "errors": errors}
    seconds = sum(case.seconds for case in cases)
    return {"name": printable(name), **{what: str(count) for what, count in counts.items()}, "time": f"{seconds:.3f}"}


# --- GitHub ---------------------------------------------------------------------------------------------


def to_github(report: Report) -> str:
    """Short enough for the page of a run: who passed how much, what that says, and what to know beforehand."""
    rows = [(one.name, *report_text.success_cells(one.success)) for one in report.agents]
    shown = in_markdown([Section(report.title or "webassay", report_text.SUCCESS_HEADINGS, rows)])
    notes = [f"- **Note:** {plain(warning)}" for warning in report_text.all_warnings(report)]
    return "\n".join([*shown[1:], "", plain(" ".join(report_text.conclusion(report))), "", *notes]) + "\n"


def failed_in_markdown(cases: Sequence[UnitCase], report: Report, agents: Sequence[str] = ()) -> str:
    """The episodes of these agents that did not pass, by default without those of baselines, which should not; empty
    if all did."""
    trying = {agent.name for agent in chosen_agents(report, agents)}
    failed = [case for case in cases if case.status != "pass" and case.agent in trying]
    rows = [(case.agent, case.name, case.status, cut(" ".join(case.reasons), SHORT)) for case in failed[:LISTED]]
    if not rows:
        return ""
    lines = in_markdown([Section("What did not pass", ("agent", "task", "status", "why"), rows)])
    more = [f"\n… and {len(failed) - LISTED} more."] if len(failed) > LISTED else []
    return "\n".join([*lines, *more]) + "\n"
