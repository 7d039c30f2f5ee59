"""Tasks on an application of one's own, out of its `app.toml`: see docs/served.md."""

from pathlib import Path

from webassay.benchmarks.base import Benchmark, Selection, Sources
from webassay.benchmarks.open import FREE
from webassay.core.application import FILE, read_application, source_of
from webassay.core.errors import InputError
from webassay.core.interaction import Goal
from webassay.core.task import ProgramCheck, Task


def load(place: str) -> tuple[Task, ...]:
    if not place:
        raise InputError("No application was named.", hint=f"Write --benchmark served:FOLDER; it has a file {FILE}.")
    folder = Path(place)
    found = read_application(folder)
    home, name = folder if folder.is_dir() else folder.parent, found.application.name
    if not found.tasks:
        raise InputError(f"{folder} has no tasks.", hint="Add some: [[tasks]] with id, goal and verify.")
    return tuple(
        Task(
            id=f"{name}.{one.id}",
            benchmark="served",
            template=f"{name}.{one.template or one.id}",
            kind="mutate",
            goal=Goal(
                instruction=one.goal, start_urls=(f"__{name.upper()}__{one.page}",), protocol=FREE, sites=(name,)
            ),
            checks=(ProgramCheck(program=one.verify, source=source_of(home, one.verify), may_change=one.may_change),),
            sites=(name,),
            difficulty=one.difficulty,
            max_steps=one.max_steps,
        )
        for one in found.tasks
    )


def _load(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    return load(selection.place)


SERVED = Benchmark(
    "served",
    "Tasks on an application of your own: served:FOLDER, described by its app.toml.",
    _load,
    environment="served",
    in_folder=True,
)
