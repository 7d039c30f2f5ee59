"""Applications that come as a folder with a server, tasks and verifiers, as those of WebArena-Infinity do."""

import json
from pathlib import Path
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from webassay.benchmarks.base import Benchmark, Selection, Sources
from webassay.benchmarks.open import FREE
from webassay.core.application import source_of
from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.interaction import Goal
from webassay.core.record import Record
from webassay.core.task import ProgramCheck, Task

FILES = {"real-tasks.json": "real", "function-tasks.json": "function"}


class _Entry(Record):
    id: str = Field(coerce_numbers_to_str=True)
    instruction: str
    verify: str
    difficulty: str | None = None


_LIST = TypeAdapter(list[_Entry])


def site_name(folder: Path) -> str:
    """The folder's name, as a name of a site."""
    name = "".join(one if one.isascii() and one.isalnum() else "_" for one in folder.resolve().name.lower())
    return name if name[:1].isalpha() else f"app_{name}"


def load(place: str) -> tuple[Task, ...]:
    folder = Path(place)
    present = [name for name in FILES if (folder / name).is_file()]
    if not place or not present:
        raise InputError(
            f"{place or 'It'} holds neither {' nor '.join(FILES)}.",
            hint="Write --benchmark infinity:FOLDER with the folder of one application, such as apps/gmail.",
        )
    return tuple(task for name in present for task in _tasks(folder, name))


def _tasks(folder: Path, name: str) -> list[Task]:
    path = folder / name
    try:
        given: list[Any] = json.loads(read_regular(path))
        entries = _LIST.validate_python([{key: one[key] for key in _Entry.model_fields if key in one} for one in given])
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {place}: {first['msg']}.") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path} is not a list of tasks: {error}.") from error
    site, family = site_name(folder), FILES[name]
    return [
        Task(
            id=f"{site}.{family}.{entry.id}",
            benchmark="infinity",
            template=f"{site}.{family}.{entry.id}",
            kind="mutate",
            goal=Goal(
                instruction=entry.instruction, start_urls=(f"__{site.upper()}__/",), protocol=FREE, sites=(site,)
            ),
            checks=(ProgramCheck(program=entry.verify, source=source_of(folder, entry.verify)),),
            sites=(site,),
            difficulty=entry.difficulty or "",
            tags=(f"tasks:{family}",),
        )
        for entry in entries
    ]


def _load(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    return load(selection.place)


INFINITY = Benchmark(
    "infinity",
    "Applications in the form of WebArena-Infinity: infinity:FOLDER, such as infinity:apps/gmail.",
    _load,
    environment="infinity",
    in_folder=True,
)
