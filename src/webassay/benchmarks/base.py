"""What a benchmark is: a name, where its tasks come from, and where they can be played."""

import inspect
import secrets
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict

from webassay.core.errors import InputError
from webassay.core.logs import LogLayout
from webassay.core.task import Task
from webassay.sites.kit import World

RANDOM_WORLD = -1
"""Instead of a seed: draw one, once."""
GUESSABLE_SEEDS = 1 << 32
"""Seeds below can be tried one by one, by somebody who has this package."""


def drawn_seed() -> int:
    return secrets.randbelow((1 << 63) - GUESSABLE_SEEDS) + GUESSABLE_SEEDS


@dataclass(frozen=True)
class Selection:
    """Which tasks, and on which worlds."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    benchmark: str = "arena"
    file: str = ""
    """The task file of an outside benchmark; empty: the one in the cache."""
    templates: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    instances: int = 3
    world_seed: int = 0
    """`RANDOM_WORLD`: one that nobody can guess. A run keeps the one it drew."""
    seed: int = 0
    limit: int | None = None
    difficulty: str = ""
    """Only tasks of this difficulty; empty: of any."""
    scale: str = ""
    """How large the worlds are: one of a site's scales; empty: as large as usual."""
    obstacles: tuple[str, ...] = ()
    """What stands in the way, by name; `any`: one for each task, drawn by the seed."""

    @property
    def place(self) -> str:
        """The folder of a benchmark named with one, as in `infinity:FOLDER`."""
        return self.benchmark.partition(":")[2] or self.file


@dataclass(frozen=True)
class Sources:
    """What tasks may be built from."""

    cache: Path
    world: Callable[..., World]
    """Site, seed and, if it matters, scale to a world of one's own, for truth queries."""
    templates: Callable[[Sequence[str]], Sequence[Any]]
    """The templates of these names, or all of them."""
    chores: Callable[[Sequence[str]], Sequence[Any]]
    """The `SiteChores` of these sites."""


@dataclass(frozen=True)
class Logs:
    """How a benchmark's own harness writes its logs, so that they can be graded."""

    layout: Callable[[Path | None], LogLayout]
    """Given the harness's configuration file, if there is one."""
    by_folder: Callable[[Sequence[Task]], Mapping[str, Task]]
    """Tasks by the names of their log folders."""


@dataclass(frozen=True)
class Benchmark:
    name: str
    summary: str
    load: Callable[[Selection, Sources], Sequence[Task]]
    fetch: Callable[[Path], Path] | None = None
    """Gets the task file into a cache directory; None: there is nothing to get."""
    environment: str = "arena"
    in_folder: bool = False
    """It is named with the folder that holds its tasks, and the application that they are played on: NAME:FOLDER."""
    logs: Logs | None = None


def task_file(benchmark: str, selection: Selection, fetched: Path | None = None) -> Path:
    """The file that the user gave, or the one that `webassay tasks fetch` has put into the cache."""
    if selection.file:
        return Path(selection.file)
    if fetched is None:
        raise InputError(f"The tasks of {benchmark} come from a file.", hint="Give it with --tasks-file.")
    if not fetched.is_file():
        raise InputError(
            f"The tasks of {benchmark} are not on this machine.",
            hint=f"`webassay tasks fetch {benchmark}` gets them; or give their file with --tasks-file.",
        )
    return fetched


def as_benchmark(thing: Any, name: str) -> Benchmark | None:
    """A plain function that returns tasks, with or without the selection as its argument."""
    if not callable(thing) or isinstance(thing, type):
        return None
    takes_selection = bool(inspect.signature(thing).parameters)

    def load(selection: Selection, sources: Sources) -> Sequence[Task]:
        tasks: Sequence[Task] = thing(selection) if takes_selection else thing()
        return tasks

    summary = (inspect.getdoc(thing) or "Tasks of your own.").splitlines()[0]
    return Benchmark(name, summary, load)


# --- few of many ----------------------------------------------------------------------------------------------


def features(kind: str, sites: Iterable[str], difficulty: Hashable) -> tuple[Hashable, ...]:
    """What a task, or a template, is told by; how its kind goes with the rest counts as well."""
    where = tuple(sorted(sites))
    return (kind, where, difficulty, (kind, where), (kind, difficulty))


def mirroring(features: Sequence[Sequence[Hashable]], count: int) -> list[int]:
    """The places of so many things, each told by its features. One after the other is chosen: whichever has most of
    what is still missing. So a larger number holds a smaller one, and the same is always chosen."""
    marked = [list(enumerate(each)) for each in features]
    share = Counter(mark for marks in marked for mark in marks)
    taken: Counter[Hashable] = Counter()
    left, chosen = list(range(len(marked))), list[int]()
    while left and len(chosen) < count:
        part = (len(chosen) + 1) / len(marked)
        best = min(left, key=lambda place: sum(taken[mark] - part * share[mark] for mark in marked[place]))
        left.remove(best)
        chosen.append(best)
        taken.update(marked[best])
    return chosen
