"""Tasks on an application of one's own, out of its `app.toml`: see docs/served.md."""

import hashlib
from pathlib import Path

from webassay.benchmarks.base import Benchmark, Selection, Sources
from webassay.benchmarks.open import FREE
from webassay.core.application import FILE, read_application
from webassay.core.errors import InputError
from webassay.core.files import leads_out, read_regular
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
            checks=(program_check(home, one.verify, one.may_change),),
            sites=(name,),
            difficulty=one.difficulty,
            max_steps=one.max_steps,
        )
        for one in found.tasks
    )


def program_check(home: Path, program: str, may_change: tuple[str, ...] | None = None) -> ProgramCheck:
    source = ""
    if program.endswith(".py") and " " not in program:
        path = home / program
        if leads_out(path, home):
            raise InputError(f"The verifier {program} is not in {home}.")
        hint = "Name the file as it is called from the application's folder."
        source = "sha256:" + hashlib.sha256(read_regular(path, hint=hint)).hexdigest()
    return ProgramCheck(program=program, source=source, may_change=may_change)


def _load(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    return load(selection.place)


SERVED = Benchmark(
    "served",
    "Tasks on an application of your own: served:FOLDER, described by its app.toml.",
    _load,
    environment="served",
    in_folder=True,
)
