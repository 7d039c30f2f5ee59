"""Tasks and the sites that they are drawn from."""

from collections.abc import Sequence
from pathlib import Path

from webassay.benchmarks.base import Selection
from webassay.compose import tasks as compose
from webassay.compose.registries import BENCHMARKS, TEMPLATES
from webassay.compose.setup import Setup
from webassay.core.progress import Progress
from webassay.core.registry import nearest
from webassay.core.task import Task
from webassay.sites.kit import SqlValue

ALL_TASKS = Selection()


def tasks(setup: Setup, selection: Selection = ALL_TASKS) -> tuple[Task, ...]:
    """With their keys. The first time, the worlds that they are drawn from have to be built."""
    setup.on_progress(Progress("building tasks"))
    return compose.select(compose.adopted(selection), setup).tasks


def named_tasks(setup: Setup, name: str) -> tuple[Task, ...]:
    """`NAME`, or `NAME=FILE` for a benchmark that is read from a file."""
    benchmark, _, file = name.partition("=")
    return tasks(setup, Selection(benchmark=benchmark, file=file))


def adopt_templates(names: Sequence[str]) -> tuple[str, ...]:
    """Templates in files of yours, `file.py:Class`, to grade and show runs that were made with them: a run says how
    its templates are called, never where they are. Returns how they are called."""
    return tuple(map(TEMPLATES.adopt, names))


def query(setup: Setup, site: str, sql: str, world_seed: int = 0, scale: str = "") -> list[dict[str, SqlValue]]:
    """Rows of a site's pristine world, which the query cannot change."""
    return compose.query(setup, site, sql, world_seed, scale)


def fetch(setup: Setup, benchmark: str) -> Path:
    """Gets an outside benchmark's task file into the cache."""
    get = BENCHMARKS.get(benchmark).fetch if benchmark in BENCHMARKS else None
    if get is None:
        raise nearest("fetchable benchmark", benchmark, [one.name for one in BENCHMARKS if one.fetch is not None])
    setup.on_progress(Progress(f"fetching {benchmark}"))
    return get(setup.cache)
