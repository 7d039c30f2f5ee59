"""From a selection to tasks."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from webassay.arena.kit.chores import SiteChores
from webassay.arena.kit.template import Template
from webassay.benchmarks.base import (
    RANDOM_WORLD,
    Benchmark,
    Selection,
    Sources,
    drawn_seed,
    features,
    mirroring,
)
from webassay.compose.registries import BENCHMARKS, CHORES, ENVIRONMENTS, SITES, TEMPLATES
from webassay.compose.setup import Setup
from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.options import read_options, read_spec
from webassay.core.progress import OnNotice, unheard
from webassay.core.record import Record
from webassay.core.registry import nearest
from webassay.core.task import Task, load_tasks
from webassay.environments.base import Environment, EnvironmentRequest
from webassay.sites.kit import SqlValue, World, snapshot


@dataclass(frozen=True)
class TaskSet:
    """The tasks of a selection, by id."""

    selection: Selection
    benchmark: Benchmark
    tasks: tuple[Task, ...]

    @cached_property
    def _by_id(self) -> dict[str, Task]:
        return {task.id: task for task in self.tasks}

    def get(self, task_id: str) -> Task:
        if task_id not in self._by_id:
            raise nearest("task", task_id, self._by_id, hint="`webassay tasks list` lists them.")
        return self._by_id[task_id]


def select(selection: Selection, setup: Setup, *, trusted: bool = True) -> TaskSet:
    """`trusted`: the user named the benchmark just now. A name that comes from a run directory is not trusted: it
    may be built in, installed, or a task file, but it never loads code by a path or a module name."""
    if selection.world_seed == RANDOM_WORLD:
        selection = replace(selection, world_seed=drawn_seed())
        setup.tell(
            f"The worlds come from a seed that was drawn: --world-seed {selection.world_seed} builds them again."
        )
    benchmark = benchmark_named(selection.benchmark, trusted=trusted)
    tasks = _of_difficulty(selection, benchmark.load(selection, _sources(setup)))
    if selection.tasks:
        known = {task.id: task for task in tasks}
        missing = next((name for name in selection.tasks if name not in known), None)
        if missing is not None:
            raise nearest("task", missing, known, hint="`webassay tasks list` lists them.")
        tasks = [known[name] for name in selection.tasks]
    if not tasks:
        raise InputError(f"Benchmark {selection.benchmark!r} has no tasks.")
    return TaskSet(selection, benchmark, tuple(spread(tasks, selection.limit)))


def spread(tasks: Sequence[Task], limit: int | None) -> Sequence[Task]:
    """As many tasks as that, of as many templates as possible, in the benchmark's own mix of kinds, sites and
    difficulties: a small score should mean what the whole one means."""
    if limit is None or limit >= len(tasks):
        return tasks
    rounds: dict[int, list[int]] = {}
    seen: Counter[str] = Counter()
    for place, task in enumerate(tasks):
        template = task.template or task.id
        rounds.setdefault(seen[template], []).append(place)
        seen[template] += 1
    chosen: list[int] = []
    for places in rounds.values():
        marks = [features(task.kind, task.sites, task.difficulty) for task in map(tasks.__getitem__, places)]
        chosen += [places[number] for number in mirroring(marks, limit - len(chosen))]
    return [tasks[place] for place in sorted(chosen)]


def adopted(selection: Selection) -> Selection:
    """Templates may be named by the file in which they stand, `file.py:Class`: only for what the user typed just now.
    From then on they are known by their own names, which is all that a run directory says of them."""
    return replace(selection, templates=tuple(map(TEMPLATES.adopt, selection.templates)))


def _of_difficulty(selection: Selection, tasks: Sequence[Task]) -> Sequence[Task]:
    wanted = selection.difficulty.casefold()
    found = [task for task in tasks if not wanted or task.difficulty.casefold() == wanted]
    if tasks and not found:
        known = ", ".join(sorted({task.difficulty for task in tasks if task.difficulty}))
        raise InputError(
            f"{selection.benchmark} has no tasks of difficulty {selection.difficulty!r}.",
            hint=f"It has {known}." if known else "Its tasks have no difficulty levels.",
        )
    return found


def key_files(selection: Selection) -> tuple[Path, ...]:
    """What holds the keys of these tasks outside of the cache: nothing that an agent may read."""
    kind, _, place = selection.benchmark.partition(":")
    found = [Path(selection.file)] if selection.file else []
    if selection.benchmark.endswith(".json"):
        found.append(Path(selection.benchmark))
    code = (kind, *(name.rpartition(":")[0] for name in selection.templates))
    found += [Path(file) for file in code if file.endswith(".py")]
    if place and kind in BENCHMARKS.built_in() and BENCHMARKS.get(kind).in_folder:
        found.append(Path(place) if Path(place).is_dir() else Path(place).parent)
    return tuple(found)


def benchmark_named(name: str, *, trusted: bool) -> Benchmark:
    kind = name.partition(":")[0]
    if kind in BENCHMARKS.built_in() and BENCHMARKS.get(kind).in_folder:
        return BENCHMARKS.get(kind)  # Its folder is read, never executed, until it is played.
    if name.endswith(".json"):
        return _of_file(name)
    if trusted:
        return BENCHMARKS.load(name)
    if ":" in name and name not in BENCHMARKS:
        raise InputError(
            f"The tasks of this run come from {name}, which is code. It was not loaded.",
            hint=f"If you trust it, name it yourself: --benchmark {name}",
        )
    return BENCHMARKS.get(name)


def _of_file(name: str) -> Benchmark:
    tasks = load_tasks(read_regular(Path(name)), name)
    origins = {task.benchmark for task in tasks}
    origin = origins.pop() if len(origins) == 1 else ""
    environment = BENCHMARKS.get(origin).environment if origin in BENCHMARKS else "arena"
    for task in tasks if environment == "arena" else ():
        if strange := sorted(_named_sites(task) - set(task.sites)):
            raise InputError(
                f"{name}: the task {task.id} names the site {strange[0]!r}, which is not among its sites"
                f" ({', '.join(task.sites)}); nobody could pass it.",
                hint="Add it to `sites`, or correct the name.",
            )
    return Benchmark(name, "Tasks from a file.", lambda selection, sources: tasks, environment=environment)


_PLACE = re.compile(r"^__([A-Z][A-Z0-9_]*)__")


def _named_sites(task: Task) -> set[str]:
    """Wherever a task speaks of a site."""
    starts = (_PLACE.match(url) for url in task.goal.start_urls)
    found = {*task.goal.sites, *task.logins, *(place[1].lower() for place in starts if place)}
    queue: list[Any] = [*task.checks, *task.checkpoints]
    while queue:
        one = queue.pop()
        if isinstance(one, Record):
            found.add(getattr(one, "site", ""))
            queue += [getattr(one, name) for name in type(one).model_fields]
        elif isinstance(one, list | tuple):
            queue += one
        elif isinstance(one, dict):
            queue += one.values()
    return found - {""}


def _sources(setup: Setup) -> Sources:
    return Sources(
        cache=setup.cache,
        world=partial(open_world, setup),
        templates=partial(_templates, setup.tell),
        chores=chores_of,
    )


def open_world(setup: Setup, site: str, seed: int, scale: str = "") -> World:
    """A world of one's own, without a server: for truth queries."""
    found = SITES.get(site)
    return World(found, seed, snapshot(found, seed, setup.cache, scale))


def query(setup: Setup, site: str, sql: str, seed: int, scale: str = "") -> list[dict[str, SqlValue]]:
    """Rows of a pristine world. It cannot be changed."""
    with closing(open_world(setup, site, seed, scale)) as world:
        world.db.pragma("query_only", True)
        try:
            return world.rows(sql)
        except apsw.Error as error:
            raise InputError(
                f"The query failed: {error}",
                hint=f"`webassay tasks tables {site}` lists tables and columns.",
            ) from error


class TableColumn(NamedTuple):
    table: str
    column: str
    form: str
    """Its type, and whether it may be null."""
    counts: str
    """Content is graded; a journal and telemetry may change by themselves."""


def site_tables(site: str) -> list[TableColumn]:
    owner = SITES.get(site).owner
    with closing(apsw.Connection(":memory:")) as db:
        db.execute(owner.schema)
        found = {
            (table, name): f"{kind.lower()}{' key' if key else '' if required else ', may be null'}"
            for table in owner.columns
            for name, kind, required, key in db.execute(
                'SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,)
            )
        }
    return [
        TableColumn(table, name, found[table, name], counts)
        for table, columns in owner.columns.items()
        for name, counts in columns.items()
    ]


def _templates(tell: OnNotice, names: Sequence[str]) -> list[type[Template]]:
    return [TEMPLATES.get(name) for name in names] if names else list(TEMPLATES.usable(tell))


def chores_of(sites: Iterable[str]) -> tuple[SiteChores, ...]:
    """A site without chores of its own has the defaults."""
    return tuple(CHORES.get(site) if site in CHORES else SiteChores(name=site) for site in sites)


def sites(tell: OnNotice = unheard) -> dict[str, str]:
    """Name to the place that a site server loads it from."""
    return {site.name: SITES.place(site.name) for site in SITES.usable(tell)}


def environment_for(tasks: TaskSet, setup: Setup, *, named: str = "", allow: Sequence[str] = ()) -> Environment:
    """Where these tasks can be played: as the user says, else as the benchmark says."""
    name, wishes = read_spec(named or tasks.benchmark.environment)
    factory = ENVIRONMENTS.load(name)
    needed = sorted({site for task in tasks.tasks for site in task.sites})
    return factory.make(
        EnvironmentRequest(
            tasks=tasks.tasks,
            sites={site: SITES.place(site) for site in needed if site in SITES},
            cache=setup.cache,
            allowed_hosts=tuple(allow),
            place=tasks.selection.place,
            tell=setup.tell,
            options=read_options(name, factory.options, wishes),
        )
    )
