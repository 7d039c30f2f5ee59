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

from webassay.agents.base import Agent, BrowserDriver
from webassay.agents.choose import MODEL_AGENTS, is_model_agent, model_agent
from webassay.agents.external import External
from webassay.agents.human import AskPerson, Human
from webassay.agents.naive import NAIVE, naive
from webassay.agents.oracle import Oracle
from webassay.benchmarks import chores, verified, webarena
from webassay.benchmarks import open as open_tasks
from webassay.benchmarks.arena.template import Template, instances, templates_in
from webassay.core.errors import AgentError, InputError, boundary
from webassay.core.task import Task, load_tasks
from webassay.environments.arena import Arena
from webassay.environments.base import Environment
from webassay.environments.open_web import OpenWeb
from webassay.grading.grade import grade
from webassay.llm.client import PROVIDERS_CHOICE, Model, Settings
from webassay.registry import Registry
from webassay.sites.kit import Site, World, snapshot

SITES: Mapping[str, str] = {"shop": "webassay.sites.shop:SITE"}

TEMPLATES: Registry[type[Template]] = Registry(
    "template", templates_in, packages=("webassay.benchmarks.arena",), group="webassay.templates"
)

GRADERS = {"rules": grade}

COMMAND = "cmd:"
"""Before the command line of a program that drives the browser itself."""

AGENTS: Mapping[str, str] = {
    "oracle": "The reference solution of each template (arena tasks only).",
    **{name: f"{words} Needs --model." for name, words in MODEL_AGENTS.items()},
    "human": "You, in a browser window (with --headed).",
    **dict.fromkeys(NAIVE, "A naive baseline: what it scores is what a benchmark gives away."),
}

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
        if name == "oracle":
            return Oracle(_template(task).solve)
        if name in NAIVE:
            return naive(name, seed)
        if is_model_agent(name):
            if self.minds.model is None:
                raise InputError(f"{name} needs a model.", hint="Give one: --model openai:NAME, or --model NAME@URL.")
            return model_agent(name, self.minds.model, self.minds.settings)
        if name == "human":
            if self.minds.ask is None:
                raise InputError("The agent `human` needs a terminal and --headed.")
            return Human(self.minds.ask)
        if name.startswith(COMMAND):
            return External(name.removeprefix(COMMAND))
        with boundary(AgentError, f"Agent {name} cannot be made"):
            made = load_attribute(_registered("webassay.agents").get(name, name))
            agent = made() if callable(made) else made
        if not isinstance(agent, Agent | BrowserDriver):
            raise InputError(
                f"{name} is not an agent.", hint="It needs a name, `wants`, `start(goal)` and `decide(observation)`."
            )
        return agent


def check_agent(name: str) -> None:
    """Before anything starts: does this name mean an agent?"""
    known = {**AGENTS, **_registered("webassay.agents")}
    if is_model_agent(name) or name.startswith(COMMAND):
        return
    if name not in known and ":" not in name:
        raise nearest("agent", name, known, hint="Your own: --agent module:Class or file.py:Class.")
    if ":" in name:
        load_attribute(name)


def arena_tasks(chosen: Selection, cache: Path | None) -> list[Task]:
    picked = [TEMPLATES.get(name) for name in chosen.templates] or list(TEMPLATES)
    if chosen.tasks and not chosen.templates:
        # Naming a task is enough: only its template has to be drawn.
        wanted = {name.rsplit(".", 2)[0] for name in chosen.tasks}
        picked = [template for template in picked if template.name in wanted] or picked
    sites = {site for template in picked for site in template.sites}
    worlds = {site: open_world(site, chosen.world_seed, cache) for site in sorted(sites)}
    return [task for one in picked for task in instances(one, worlds, chosen.instances, chosen.seed)]


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
    if task.template not in TEMPLATES:
        raise InputError(
            f"Task {task.id} has no reference solution: {task.template!r} is not a template of the arena.",
            hint="The oracle plays arena tasks only.",
        )
    return TEMPLATES.get(task.template).from_parameters(task.parameters)


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
