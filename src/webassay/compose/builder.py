"""Agents and tasks for the units of a run, put together from what the user named."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from webassay.agents.base import (
    Agent,
    AgentFactory,
    AgentRequest,
    AskPerson,
    BrowserDriver,
    Need,
    Solution,
    check_needs,
    make_agent,
)
from webassay.agents.cells.cell import ProgramCell, need_cell
from webassay.agents.cells.child import Nursery
from webassay.agents.cells.external import COMMAND, external, read_command
from webassay.agents.oracle import OracleOptions
from webassay.arena.kit.detours import past_obstacles
from webassay.compose.models import ModelOptions, OpenModels
from webassay.compose.registries import AGENTS, TEMPLATES
from webassay.compose.sources import files_of
from webassay.compose.tasks import TaskSet, chores_of
from webassay.core.errors import InputError
from webassay.core.options import read_options, read_spec
from webassay.core.progress import OnNotice, unheard
from webassay.core.registry import Files
from webassay.core.task import Task
from webassay.core.unit import UnitOfWork
from webassay.llm.client import PROVIDERS_CHOICE
from webassay.play.episode import Limits, Recording


@dataclass(frozen=True)
class PlayOptions:
    """How episodes are played, whatever the tasks and agents."""

    trials: int = 1
    workers: int = 2
    model: ModelOptions | None = None
    environment: str = ""
    """Empty: where the benchmark says."""
    allow: tuple[str, ...] = ()
    """Hosts that open tasks may reach, in addition to those of their start pages."""
    headed: bool = False
    offline: bool = False
    keep_going: bool = False
    """Without a look at models, sites and programs before the first episode, and without an end to the same fault."""
    video: bool = False
    trace: bool = False
    ask: AskPerson | None = None
    """How to ask the person at the terminal."""
    limits: Limits = field(default_factory=Limits)
    recording: Recording = field(default_factory=Recording)
    """What is kept of every step; less makes a run smaller and faster."""
    trust_agent: bool = False
    """Agent files run in this process, and programs without a cell: nothing keeps them from the keys."""
    agent_env: tuple[str, ...] = ()
    """Variables that agent files and programs get besides what every program needs, such as the key of a model."""
    agent_dirs: tuple[Path, ...] = ()
    """Folders that they may write."""


def expand(names: Sequence[str], tell: OnNotice = unheard) -> list[str]:
    """The name of a family (`naive`) stands for all of its members."""
    families: dict[str, list[str]] = {}
    if any(name not in AGENTS and ":" not in name and "[" not in name for name in names):
        for factory in AGENTS.usable(tell):
            families.setdefault(factory.family, []).append(factory.name)
    if not names:
        raise InputError("No agent was given.", hint="Give --agent NAME or --agent-cmd PROGRAM.")
    return list(dict.fromkeys(member for name in names for member in families.get(name, [name])))


@dataclass
class Builder:
    """Makes tasks and agents for units; the one implementation of `run.work.Build`."""

    options: PlayOptions
    models: OpenModels
    cell: ProgramCell | None = None
    """Where agents run that are not trusted; None: they are trusted."""
    tasks: TaskSet | None = None
    _factories: dict[str, tuple[AgentFactory, Any]] = field(default_factory=dict)
    _files: Files = field(default_factory=dict)
    """A file of agents is executed once a run, however many agents and episodes it gives."""
    _specs: dict[str, str] = field(default_factory=dict)
    """Name in reports to what the user typed."""
    _nurseries: list[Nursery] = field(default_factory=list)

    def task(self, unit: UnitOfWork) -> Task:
        assert self.tasks is not None
        return self.tasks.get(unit.task_id)

    def agent(self, unit: UnitOfWork, task: Task) -> Agent | BrowserDriver:
        return make_agent(self._factory(unit.agent)[0], self._request(unit, task))

    def check(self, name: str) -> None:
        """Before anything starts: does this name mean an agent, and is there all that it needs?"""
        available: list[Need] = ["solution"]  # That depends on the tasks: `check_solutions`.
        if self.options.model is not None:
            self.models.get(self.options.model.model)
            _ = self.options.model.settings  # What cannot be read is refused now, not in every episode.
            available.append("model")
        if self.options.ask is not None:
            available.append("person")
        check_needs(self._factory(name)[0], name, available)

    def check_solutions(self, names: Sequence[str]) -> None:
        """Before anything is played: an agent that plays reference solutions needs one for every task."""
        assert self.tasks is not None
        needing = next((name for name in names if "solution" in self._factory(name)[0].needs), None)
        unsolved = next((task for task in self.tasks.tasks if task.template not in TEMPLATES), None)
        if needing is not None and unsolved is not None:
            raise InputError(
                f"{needing} plays reference solutions, and task {unsolved.id} has none.",
                hint="It plays arena tasks only: choose those, or another agent.",
            )

    def name_agents(self, specs: Sequence[str], is_known: Callable[[str], bool]) -> list[str]:
        """What reports call them: built-in and installed ones as they were typed, with their settings; somebody's own
        by its own name. Where two would share a name, both say where they come from; a run that already knows an agent
        by what was typed (`is_known`) keeps that name."""
        wanted = {spec: self._own_name(spec) for spec in specs}
        taken = Counter(wanted.values())
        for spec, name in wanted.items():
            shared = taken[name] > 1 or (name != spec and name in AGENTS)
            shown = spec if is_known(spec) else f"{name} ({spec})" if shared and name != spec else name
            self._specs[shown] = spec
        return list(self._specs)

    def _own_name(self, spec: str) -> str:
        if not spec.startswith(COMMAND) and (":" not in spec or spec in AGENTS):
            return spec
        name = self._factory(spec)[0].name
        return f"{name}[{spec.partition('[')[2]}" if spec.endswith("]") and not spec.startswith(COMMAND) else name

    def is_baseline(self, name: str) -> bool:
        return self._factory(name)[0].baseline

    def needs(self, name: str) -> Collection[Need]:
        return self._factory(name)[0].needs

    def is_from_outside(self, name: str) -> bool:
        """Neither built in nor installed: it has never been seen to start."""
        return _from_outside(self._specs.get(name, name))

    def is_trusted(self, name: str) -> bool:
        """What came from outside, and was run as if it were ours."""
        return self.cell is None and self.is_from_outside(name)

    def made_of(self, name: str) -> dict[str, str]:
        """Whatever decides how this agent plays and is not in its name: its files, its command, its model."""
        spec = self._specs.get(name, name)
        made = files_of(spec) if self.is_from_outside(name) else {}
        if spec.startswith(COMMAND):
            made["command"] = read_command(spec.removeprefix(COMMAND))[1]
        chosen = self.options.model
        if chosen is not None and "model" in self.needs(name):
            made["model"] = chosen.model.partition("@")[0]  # The same one may answer at another address tomorrow.
            made["model settings"] = json.dumps(asdict(chosen.settings), sort_keys=True)
        return made

    async def close(self) -> None:
        for nursery in self._nurseries:
            await nursery.close()

    def _factory(self, name: str) -> tuple[AgentFactory, Any]:
        """Loaded once a run, however many episodes there are."""
        spec = self._specs.get(name, name)
        if spec not in self._factories:
            if self.cell is not None and _from_outside(spec):
                need_cell(spec)
            self._factories[spec] = self._loaded(spec)
        return self._factories[spec]

    def _loaded(self, spec: str) -> tuple[AgentFactory, Any]:
        if spec.startswith(COMMAND):
            return external(spec.removeprefix(COMMAND), self.cell), None
        # A path may have brackets of its own.
        name, wishes = read_spec(spec) if spec.endswith("]") or ":" not in spec else (spec, {})
        if self.cell is not None and _from_outside(name):
            nursery = Nursery(name, wishes, self.cell)
            self._nurseries.append(nursery)
            return nursery.load(), None
        factory = AGENTS.load(name, self._files)
        return factory, read_options(name, factory.options, wishes)

    def _request(self, unit: UnitOfWork, task: Task) -> AgentRequest:
        chosen = self.options.model
        factory, options = self._factory(unit.agent)
        return AgentRequest(
            name=unit.agent,
            options=options,
            seed=unit.seed,
            model=self.models.get(chosen.model, trial=unit.trial) if chosen else None,
            settings=chosen.settings if chosen else PROVIDERS_CHOICE,
            ask=self.options.ask,
            solution=solution_of(task, _route(options)) if "solution" in factory.needs else None,
            kind=task.kind if "solution" in factory.needs else "",
        )


def _from_outside(spec: str) -> bool:
    """A program, or a file or module that the user named: neither built in nor installed as an agent."""
    return spec.startswith(COMMAND) or (":" in spec and spec not in AGENTS)


def _route(options: object) -> str:
    return options.route if isinstance(options, OracleOptions) else ""


def solution_of(task: Task, route: str = "") -> Solution:
    """The reference solution, or another route of the template."""
    if task.template not in TEMPLATES:
        raise InputError(
            f"Task {task.id} has no reference solution: {task.template!r} is not an arena template.",
            hint="The oracle plays arena tasks only.",
        )
    solve = TEMPLATES.get(task.template).from_parameters(task.parameters).route(route)
    return past_obstacles(solve, task.goal.hints, chores_of(task.sites)) if task.obstacles else solve
