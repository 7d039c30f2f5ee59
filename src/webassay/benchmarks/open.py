"""Open tasks: an address and a goal. No rule can grade them, and they say so; a judge may."""

import json
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, TypeAdapter, ValidationError

from webassay.benchmarks.base import Benchmark, Selection, Sources, task_file
from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.interaction import Goal, Modality, ResponseProtocol
from webassay.core.record import Record, content_hash
from webassay.core.task import JudgedCheck, Task
from webassay.core.text import lines_of

FREE = ResponseProtocol(name="free", instructions="When you are done, say in a few sentences what you did and found.")


class OpenTask(Record):
    """One line of a file of open tasks."""

    url: str
    goal: str
    id: str = ""
    template: str = ""
    modality: Modality = "tree"
    max_steps: int = Field(default=30, ge=1, le=1000)


def open_task(given: OpenTask) -> Task:
    try:
        parts = urlsplit(given.url)
        _ = parts.port  # read only now, and may be no port at all
    except ValueError as error:
        raise InputError(f"{given.url!r} is not an address: {error}.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{given.url!r} is not an address.", hint="Write it whole, such as https://example.org/.")
    if not given.goal.strip():
        raise InputError(f"There is no goal for {given.url}.")
    name = given.id or content_hash([given.url, given.goal]).removeprefix("sha256:")[:12]
    return Task(
        id=f"open.{name}",
        benchmark="open",
        template=given.template or f"open.{name}",
        kind="retrieve",
        goal=Goal(
            instruction=given.goal,
            start_urls=(given.url,),
            protocol=FREE,
            sites=(parts.hostname,),
            modality=given.modality,
        ),
        checks=(JudgedCheck(),),
        sites=(parts.hostname,),
        max_steps=given.max_steps,
    )


_FILE = TypeAdapter(list[OpenTask])


def load(path: Path) -> tuple[Task, ...]:
    """A JSON list, or one JSON object a line."""
    try:
        text = read_regular(path).decode()
        lines = [json.loads(line) for line in lines_of(text) if line.strip()] if path.suffix == ".jsonl" else None
        found = _FILE.validate_python(lines) if lines is not None else _FILE.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {place}: {first['msg']}.", hint='Write [{"url": "…", "goal": "…"}].') from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}.") from error
    return tuple(open_task(one) for one in found)


def _load(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    return load(task_file("open", selection))


OPEN = Benchmark(
    "open",
    "Goals on any site that you allow (from a file: --tasks-file); no rule grades them, judges can.",
    _load,
    environment="open-web",
)
