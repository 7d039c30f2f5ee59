"""WebChoreArena: 532 tasks from the file that its authors publish, kept as they are."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from webassay.benchmarks.base import Benchmark, Selection, Sources, task_file
from webassay.benchmarks.webarena import built, goal_of, kind_of, logins_of, parameters_of, read_list
from webassay.core.errors import TaskError
from webassay.core.files import read_regular
from webassay.core.interaction import Modality
from webassay.core.legacy import probes_of
from webassay.core.task import Checkpoint, ChoreType, LegacyCheck, PagePattern, Task, TaskKind

SMALL, SMALL_IDS = "webchorearena-small", "small_set_ids.txt"
INFERRED = "start_url_lite (inferred)"

_CHORES: dict[str, ChoreType] = {
    "massive_memory": "massive_memory",
    "calc": "calculation",
    "long-term": "long_term_memory",
    "others": "others",
}

_MODALITIES: dict[str, Modality] = {"any": "tree", "text": "tree", "image": "tree+screenshot"}
"""`any`: either will do, so the cheaper one. Which of the two it was stays in the tags."""


def load(path: Path) -> tuple[Task, ...]:
    return tuple(_task(raw, f"{path}: task {raw.get('task_id', '?')}") for raw in read_list(path))


def small_set(tasks: tuple[Task, ...], numbers: str) -> tuple[Task, ...]:
    """The tasks whose numbers stand in a text; an unknown one is an error, not a smaller set."""
    wanted = [f"webchorearena.{number}" for number in re.findall(r"[^\s,]+", numbers)]
    by_id = {task.id: task for task in tasks}
    unknown = [name for name in wanted if name not in by_id]
    if unknown:
        raise TaskError(f"There are no tasks {', '.join(unknown[:5])}.", hint="Do the two files belong together?")
    return tuple(by_id[name] for name in wanted)


def _task(raw: Mapping[str, Any], place: str) -> Task:
    def build() -> Task:
        # The id is written site, template, instance: 1 0034 2 is instance 2 of the admin site's template 34.
        template = str(int(raw["task_id"]) // 10)
        modality = _MODALITIES[raw["required_obs"]]
        return Task(
            id=f"webchorearena.{raw['task_id']}",
            benchmark="webchorearena",
            template=template,
            kind=_kind(raw),
            goal=goal_of(raw).model_copy(update={"modality": modality}),
            checks=(LegacyCheck(flavor="webchorearena", eval=raw["eval"]),),
            sites=tuple(raw["sites"]),
            logins=logins_of(raw),
            parameters=parameters_of(raw) | {"start_url_lite": raw.get("start_url_lite", "")},
            probes=probes_of(raw["eval"], "webchorearena"),
            chore=_CHORES[raw["type_main"]],
            difficulty=raw["instantiation_dict"].get("difficulty") or "",
            checkpoints=_checkpoints(raw),
            tags=_tags(raw),
        )

    return built(place, build)


def _kind(raw: Mapping[str, Any]) -> TaskKind:
    kind = kind_of(raw["eval"])
    return "mutate" if raw.get("affects_environment") is True and kind != "unachievable" else kind


def _tags(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """A task has one chore type and sometimes a second; the paper's Tables E, G and H count it under both."""
    types = dict.fromkeys(name for name in (raw["type_main"], raw.get("type_sub")) if name)
    wait = ("wait-after",) if raw.get("required_wait") is True else ()
    return (f"observation:{raw['required_obs']}", *(f"chore:{_CHORES[name]}" for name in types), *wait)


def _checkpoints(raw: Mapping[str, Any]) -> tuple[Checkpoint, ...]:
    """The page near the goal that the task file names. The paper's own `checkpoint_url` was never published
    (docs/papers.md), so these are labeled as inferred."""
    near = str(raw.get("start_url_lite") or "")
    place = re.fullmatch(r"__([A-Z_]+?)__(/[^?#]*)?(?:\?([^#]*))?.*", near)
    if place is None or near.rstrip("/") == str(raw["start_url"]).rstrip("/"):
        return ()
    page = PagePattern(
        site=place[1].lower(),
        path=f"{re.escape((place[2] or '').rstrip('/'))}(/.*)?",
        query={name: re.escape(value) for name, value in parse_qsl(place[3] or "")},
    )
    return (Checkpoint(name=INFERRED, visits=(page,)),)


def _load(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    return load(task_file("webchorearena", selection))


def _load_small(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    path = task_file(SMALL, selection)
    numbers = read_regular(path.with_name(SMALL_IDS), hint=f"{SMALL_IDS} has to lie beside the task file.")
    return small_set(load(path), numbers.decode("utf-8", "replace"))


WEBCHOREARENA = Benchmark(
    "webchorearena", "The 532 tasks of WebChoreArena (from a file: --tasks-file).", _load, environment="live"
)
WEBCHOREARENA_SMALL = Benchmark(
    SMALL, "Its small set of 102 tasks, one for each template of a site.", _load_small, environment="live"
)
