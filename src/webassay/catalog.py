"""Where names become things. Concrete sites, benchmarks, agents and graders meet here and nowhere below.

A name is one of ours, one that an installed package registers (entry points `webassay.agents`,
`webassay.benchmarks`), or `module:attribute` / `path/to/file.py:attribute`.
"""

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from webassay.agents.base import (
    Agent,
    AgentFactory,
    AgentRequest,
    AskPerson,
    BrowserDriver,
    as_factory,
    make_agent,
)
from webassay.agents.external import COMMAND, external
from webassay.benchmarks import chores, verified, webarena
from webassay.benchmarks import open as open_tasks
from webassay.benchmarks.arena import TEMPLATES
from webassay.benchmarks.arena.template import Template, instances
from webassay.core.errors import InputError
from webassay.core.options import read_options, read_spec
from webassay.core.task import Task, load_tasks
from webassay.environments.arena import Arena
from webassay.environments.base import Environment
from webassay.environments.open_web import OpenWeb
from webassay.grading.grade import grade
from webassay.llm.client import PROVIDERS_CHOICE, Model, Settings
from webassay.registry import Registry, instances_of
from webassay.sites.kit import Site, World, snapshot

SITES: Mapping[str, str] = {"shop": "webassay.sites.shop:SITE"}

GRADERS = {"rules": grade}

BUILT_IN = Registry("agent", instances_of(AgentFactory), packages=("webassay.agents",), group="webassay.agents.none")

AGENTS: Mapping[str, str] = BUILT_IN.summaries()

BENCHMARKS: Mapping[str, str] = {
    "arena": "Chores on the embedded sites, generated from templates, with keys computed by SQL.",
    "webarena-verified": "The 812 tasks of WebArena Verified (after `webassay tasks fetch`, or from a file).",
    "webarena-verified-hard": "Its published Hard subset of 258 tasks.",
    "webarena": "The 812 tasks of the original WebArena (after `webassay tasks fetch`, or from a file).",
    "webchorearena": "The 532 tasks of WebChoreArena (from a file: --tasks-file).",
    "open": "Goals on any site that you allow (from a file: --tasks-file); graded by judges only.",
}

FETCHED: Mapping[str, Callable[[Path], Path]] = {
    "webarena-verified": verified.fetch,
    "webarena-verified-hard": verified.fetch,
    "webarena": webarena.fetch,
}
"""Benchmarks whose task files lie in wheels of others."""


def nearest(kind: str, name: str, known: Iterable[str], *, hint: str = "") -> InputError:
    """An error that says what was probably meant."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    meant = (
        f"Did you mean {' or '.join(close)}?"
        if close
        else f"Known: {', '.join(names[:12])}{'…' if names[12:] else ''}."
    )
    return InputError(f"There is no {kind} {name!r}.", hint=" ".join(part for part in (meant, hint) if part))


def site(name: str) -> Site:
    if name not in SITES:
        raise nearest("site", name, SITES)
    found = load_attribute(SITES[name])
    if not isinstance(found, Site):
        raise InputError(f"{SITES[name]} is not a site.")
    return found


def arena(cache: Path | None, *, port: int = 0) -> Arena:
    return Arena(SITES, cache=cache, port=port)


def environment(tasks: Sequence[Task], cache: Path | None, allowed_hosts: Sequence[str] = ()) -> Environment:
    """Where these tasks can be played."""
    kinds = {task.benchmark for task in tasks}
    if kinds == {"open"}:
        return OpenWeb(allowed_hosts)
    foreign = sorted({name for task in tasks for name in task.sites} - set(SITES))
    if foreign:
        raise InputError(
            f"The sites {', '.join(foreign)} are not embedded, so these tasks cannot be played here.",
            hint="Logs of them can be graded: `webassay grade LOGS --benchmark webarena-verified`.",
        )
    return arena(cache)


def load_attribute(name: str) -> Any:
    """`package.module:attribute`, or `file.py:attribute`."""
    place, _, attribute = name.rpartition(":")
    try:
        if place.endswith(".py"):
            module = _load_file(Path(place))
        else:
            module = importlib.import_module(place)
        return getattr(module, attribute)
    except (ImportError, AttributeError, FileNotFoundError, SyntaxError) as error:
        raise InputError(
            f"{name} cannot be loaded: {error}.", hint="Write module:attribute or file.py:attribute."
        ) from error


def _load_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _registered(group: str) -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group=group)}


@dataclass
class Selection:
    """Which tasks, and on which worlds."""

    benchmark: str = "arena"
    file: str = ""
    """Where an outside benchmark's task file lies; empty: in the cache."""
    templates: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    instances: int = 3
    world_seed: int = 0
    seed: int = 0
    limit: int | None = None


@dataclass
class ModelContext:
    """What some agents need beside their name."""

    model: Model | None = None
    settings: Settings = PROVIDERS_CHOICE
    ask: AskPerson | None = None
    """How to ask the person at the terminal."""


@dataclass
class Catalog:
    """Builds tasks and agents by name; the one implementation of `run.work.Build`."""

    selection: Selection
    cache: Path | None = None
    minds: ModelContext = field(default_factory=ModelContext)
    _tasks: dict[str, Task] = field(default_factory=dict)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        chosen = self.selection
        tasks: Sequence[Task]
        if chosen.benchmark == "arena":
            tasks = arena_tasks(chosen, self.cache)
        elif chosen.benchmark in BENCHMARKS:
            tasks = published_tasks(chosen.benchmark, Path(chosen.file) if chosen.file else None, self.cache)
        elif chosen.benchmark.endswith(".json"):
            tasks = _from_file(Path(chosen.benchmark))
        else:
            tasks = _from_outside(chosen.benchmark)
        if chosen.tasks:
            known = {task.id: task for task in tasks}
            missing = next((name for name in chosen.tasks if name not in known), None)
            if missing is not None:
                raise nearest("task", missing, known, hint="`webassay tasks list` lists them.")
            tasks = [known[name] for name in chosen.tasks]
        if not tasks:
            raise InputError(f"Benchmark {chosen.benchmark!r} has no tasks.")
        return tuple(tasks[: chosen.limit])

    def task(self, task_id: str) -> Task:
        if not self._tasks:
            self._tasks = {task.id: task for task in self.tasks}
        if task_id not in self._tasks:
            raise nearest("task", task_id, self._tasks, hint="`webassay tasks list` lists them.")
        return self._tasks[task_id]

    def agent(self, name: str, task: Task, seed: int) -> Agent | BrowserDriver:
        factory, options = agent_factory(name)
        solve = _template(task).solve if "solution" in factory.needs else None
        request = AgentRequest(
            name=name,
            options=options,
            seed=seed,
            model=self.minds.model,
            settings=self.minds.settings,
            ask=self.minds.ask,
            solution=solve and (lambda page: solve(task.goal, task.parameters, page)),
        )
        return make_agent(factory, request)


def agent_factory(spec: str) -> tuple[AgentFactory, Any]:
    if spec.startswith(COMMAND):
        return external(spec.removeprefix(COMMAND)), None
    name, wishes = read_spec(spec) if ":" not in spec else (spec, {})
    registered = _registered("webassay.agents")
    if name in BUILT_IN:
        factory = BUILT_IN.get(name)
    elif name in registered or ":" in name:
        factory = as_factory(load_attribute(registered.get(name, name)), name)
    else:
        raise nearest("agent", name, {**AGENTS, **registered}, hint="Your own: --agent module:Class or file.py:Class.")
    return factory, read_options(name, factory.options, wishes)


def check_agent(name: str) -> None:
    """Before anything starts: does this name mean an agent?"""
    agent_factory(name)


def arena_tasks(chosen: Selection, cache: Path | None) -> list[Task]:
    templates = {template.id: template for template in TEMPLATES}
    for name in chosen.templates:
        if name not in templates:
            raise nearest("template", name, templates, hint="`webassay tasks list --templates` lists them.")
    picked = [templates[name] for name in chosen.templates] or list(templates.values())
    if chosen.tasks and not chosen.templates:
        # Naming a task is enough: only its template has to be drawn.
        wanted = {name.rsplit(".", 2)[0] for name in chosen.tasks}
        picked = [template for template in picked if template.id in wanted] or picked
    worlds: dict[str, World] = {}
    tasks: list[Task] = []
    for template in picked:
        if template.site not in worlds:
            worlds[template.site] = open_world(template.site, chosen.world_seed, cache)
        tasks.extend(instances(template, worlds[template.site], chosen.instances, chosen.seed))
    return tasks


def published_tasks(name: str, path: Path | None, cache: Path | None) -> Sequence[Task]:
    """Tasks of others, in the format that they are published in."""
    if path is None:
        path = task_file(name, cache)
    if name == "webchorearena":
        return chores.load(path)
    if name == "open":
        return open_tasks.load(path)
    if name == "webarena":
        return webarena.load(path)
    tasks = verified.load(path)
    if name == "webarena-verified":
        return tasks
    hard = verified.load_subset(path.with_name(Path(verified.HARD_MEMBER).name))
    return [task for task in tasks if verified.number_of(task) in hard]


def task_file(name: str, cache: Path | None) -> Path:
    """Where `webassay tasks fetch` has put it."""
    module = {"webarena": webarena}.get(name, verified)
    member = webarena.MEMBER if module is webarena else verified.TASKS_MEMBER
    place = (cache or Path()) / f"{module.PACKAGE}-{module.VERSION}" / Path(member).name
    if name not in FETCHED:
        raise InputError(f"{name} is read from a file.", hint="Give it with --tasks-file.")
    if not place.is_file():
        raise InputError(
            f"The tasks of {name} are not on this machine.",
            hint=f"`webassay tasks fetch {name}` gets them; or give their file with --tasks-file.",
        )
    return place


def open_world(name: str, seed: int, cache: Path | None) -> World:
    """A world of one's own, without a server: for truth queries."""
    found = site(name)
    return World(found, seed, snapshot(found, seed, cache))


def _template(task: Task) -> Template:
    for template in TEMPLATES:
        if template.id == task.template:
            return template
    raise InputError(
        f"Task {task.id} has no reference solution: {task.template!r} is not a template of the arena.",
        hint="The oracle plays arena tasks only.",
    )


def _from_file(path: Path) -> tuple[Task, ...]:
    try:
        return load_tasks(path.read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def _from_outside(name: str) -> Sequence[Task]:
    registered = _registered("webassay.benchmarks")
    if name not in registered and ":" not in name:
        raise nearest("benchmark", name, {**BENCHMARKS, **registered}, hint="A JSON file of tasks works too.")
    factory: Callable[[], Sequence[Task]] = load_attribute(registered.get(name, name))
    return factory()
