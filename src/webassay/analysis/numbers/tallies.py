"""What only has to be counted of rows as they come in: how an agent's episodes went."""

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import compress, count
from typing import NamedTuple

from webassay.analysis.numbers.rows import UNACHIEVABLE, Block
from webassay.core.groupings import site_of

Findings = Sequence[tuple[str, str]]
"""Check and code of each."""
Counted = tuple[tuple[str, int], ...]
"""Names and how often each occurs in one episode."""

_UNEXPLAINED = (("unexplained", ""),)
DIAGNOSIS = "diagnosis"
"""The check under which judges report errors of a taxonomy."""


class UnachievableRun(NamedTuple):
    """A scored run on an unachievable task."""

    site: str
    steps: int
    passed: bool
    evidence: bool = False
    """It had seen what shows that the task cannot be done."""


LISTED_ATTEMPTS = 200
"""Attempts that an agent is shown with, one by one; all others are only counted."""


class AgentTally:
    """What only has to be counted: how an agent's episodes went, whether or not they succeeded."""

    def __init__(self) -> None:
        self.model = ""
        self.baseline = False
        self.actions: Counter[tuple[str, int]] = Counter()
        """Action and how often an episode has it, to how many episodes have it so often."""
        self.tools: Counter[tuple[str, int]] = Counter()
        self.endings: Counter[str] = Counter()
        self.evidence_by: Counter[str] = Counter()
        self.failures: Counter[tuple[str, str]] = Counter()
        self.failure_episodes: Counter[tuple[str, str]] = Counter()
        self.diagnosed = self.diagnosed_with_errors = 0
        self.errors_found: Counter[str] = Counter()
        self.error_episodes: Counter[str] = Counter()
        """Code, as the judge wrote it, to how often; and to how many episodes. Categories are `taxonomy:number`."""
        self.first_error_steps = array("d")
        self.attempted: Counter[UnachievableRun] = Counter()
        self.first_attempts: list[tuple[str, UnachievableRun]] = []
        """With the task's id."""

    def append(self, later: "AgentTally") -> None:
        self.model = self.model or later.model
        self.baseline = self.baseline or later.baseline
        self.diagnosed += later.diagnosed
        self.diagnosed_with_errors += later.diagnosed_with_errors
        self.first_error_steps.extend(later.first_error_steps)
        self.first_attempts = [*self.first_attempts, *later.first_attempts][:LISTED_ATTEMPTS]
        for name, counted in vars(later).items():
            if isinstance(counted, Counter):
                getattr(self, name).update(counted)

    def add_diagnosis(self, findings: Findings, first_step: int | None) -> None:
        codes = [code for check, code in findings if check == DIAGNOSIS]
        named = [*codes, *map(category_of, codes)]
        self.diagnosed += 1
        self.diagnosed_with_errors += bool(codes)
        self.errors_found.update(named)
        self.error_episodes.update(set(named))
        if first_step is not None:
            self.first_error_steps.append(first_step)


class Tallies(dict[str, AgentTally]):
    """Agent to what is counted of it. Many episodes are alike: those are counted first, and looked into once."""

    MOST_KINDS = 20_000
    """Held before they are looked into: memory stays flat even where no two episodes are alike."""

    def __init__(self) -> None:
        self._actions: Counter[tuple[str, Counted]] = Counter()
        self._tools: Counter[tuple[str, Counted]] = Counter()
        self._endings: Counter[tuple[str, str]] = Counter()
        self._evidence: Counter[tuple[str, str]] = Counter()
        self._failed: Counter[tuple[str, Findings, bool]] = Counter()

    def __missing__(self, agent: str) -> AgentTally:
        self[agent] = AgentTally()
        return self[agent]

    def extend(self, of: Block) -> None:
        for agent in set(compress(of["agent"], of["baseline"])):
            self[agent].baseline = True
        for agent, model in dict.fromkeys(zip(of["agent"], of["model"], strict=True)):
            self[agent].model = self[agent].model or model
        if "missing" in of["status"]:
            there = [status != "missing" for status in of["status"]]
            of = {name: list(compress(of[name], there)) for name in _TALLIED}
        agents = of["agent"]
        self._actions.update(zip(agents, [tuple(one.items()) for one in of["actions"]], strict=True))
        if any(of["tools"]):
            self._tools.update(zip(agents, [tuple(one.items()) for one in of["tools"]], strict=True))
        self._endings.update(zip(agents, of["ending"], strict=True))
        self._evidence.update(zip(agents, of["evidence_by"], strict=True))
        ended = zip(agents, of["findings"], of["diagnosed"], strict=True)
        self._failed.update(compress(ended, map(_FAILED.__contains__, of["status"])))
        for place in compress(count(), of["diagnosed"]):
            self[agents[place]].add_diagnosis(of["findings"][place], of["first_error_step"][place])
        if UNACHIEVABLE in of["kind"]:
            self._add_attempts(of)
        if len(self._actions) + len(self._tools) + len(self._failed) > self.MOST_KINDS:
            self.finish()

    def _add_attempts(self, of: Block) -> None:
        fields = ("agent", "kind", "status", "traced", "task_id", "sites", "steps", "evidence")
        for agent, kind, status, traced, task, sites, steps, evidence in zip(*map(of.get, fields), strict=True):
            if kind == UNACHIEVABLE and traced and status in _SCORED:
                own, tried = self[agent], UnachievableRun(site_of(sites), steps, status == "pass", evidence is True)
                own.attempted[tried] += 1
                if len(own.first_attempts) < LISTED_ATTEMPTS:
                    own.first_attempts.append((task, tried))

    def append(self, later: "Tallies") -> None:
        self.finish()
        later.finish()
        for agent, tallied in later.items():
            self[agent].append(tallied)

    def finish(self) -> None:
        """Looks into what has been counted so far."""
        for (agent, actions), episodes in self._actions.items():
            for action in actions:
                self[agent].actions[action] += episodes
        for (agent, tools), episodes in self._tools.items():
            for tool in tools:
                self[agent].tools[tool] += episodes
        for (agent, ending), episodes in self._endings.items():
            if ending:
                self[agent].endings[ending] += episodes
        for (agent, kind), episodes in self._evidence.items():
            if kind:
                self[agent].evidence_by[kind] += episodes
        for (agent, findings, diagnosed), episodes in self._failed.items():
            modes = _failure_modes(findings, diagnosed)
            for mode in modes:
                self[agent].failures[mode] += episodes
            for mode in set(modes):
                self[agent].failure_episodes[mode] += episodes
        for counted in (self._actions, self._tools, self._endings, self._evidence, self._failed):
            counted.clear()


_TALLIED = (
    *("agent", "status", "actions", "tools", "ending", "diagnosed", "findings", "first_error_step", "kind", "traced"),
    *("task_id", "sites", "steps", "evidence", "evidence_by"),
)
_SCORED = frozenset(("pass", "fail"))
_FAILED = frozenset(("fail", "fault"))


def _failure_modes(findings: Findings, diagnosed: bool) -> Findings:
    """What a judge diagnosed is counted apart from these."""
    found = findings or _UNEXPLAINED
    return [mode for mode in found if mode[0] != DIAGNOSIS] if diagnosed else found


def category_of(code: str) -> str:
    """`paper:2.1:output_contradiction` belongs to `paper:2`."""
    taxonomy, _, rest = code.partition(":")
    return f"{taxonomy}:{rest.partition(':')[0].partition('.')[0]}"
