"""Fara and webeval: a `web_surfer.log` with one JSON event per line, screenshots, and the final answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from webassay.core.errors import Fault, InputError
from webassay.core.text import well_formed, well_formed_json
from webassay.core.trajectory import AgentInfo, BlobRef, Ending, RecordedObservation, Step, Trajectory, WritableBlobs
from webassay.importers.base import Importer
from webassay.importers.reading import Source, goal, number, optional, shown

_LOG = "web_surfer.log"
_ANSWER = "_final_answer.json"
_THOUGHTS = ("thoughts", "reasoning", "state_description")
_STOPS = ("terminate", "stop_execution", "stop_and_answer_question")
NO_ANSWER = "<no_answer>"


def recognises(place: Path) -> bool:
    return (place / _LOG).is_file()


def read(folder: Path, blobs: WritableBlobs) -> Trajectory:
    source = Source(folder)
    answers = sorted(item.name for item in folder.iterdir() if item.name.endswith(_ANSWER))
    final = source.object(answers[0]) if answers else {}
    task_data = source.object("task_data.json") if source.has("task_data.json") else {}
    times = source.object("times.json") if source.has("times.json") else {}
    events = list(_actions(source))
    shots = [source.picture(name, blobs) for name in _screenshots(final, source)]
    steps = tuple(_step(i, events, shots) for i in range(max(len(events), len(shots))))
    answer = optional(final, "final_answer")
    name = well_formed(folder.name)
    instruction = optional(task_data, "task_proposal", "initial_task_proposal", "task") or optional(final, "task")
    if not instruction:
        raise InputError(
            f"{shown(folder)}: the text of the task is missing.", hint="task_data.json must have `task_proposal`."
        )
    return Trajectory(
        id="",
        task_id=well_formed(answers[0].removesuffix(_ANSWER)) if answers else name,
        benchmark="fara",
        goal=goal(instruction, optional(task_data, "init_url")),
        agent=AgentInfo(name="fara"),
        started_at=optional(task_data, "start_timestamp"),
        seconds=number(times, "duration"),
        steps=steps,
        answer="" if answer == NO_ANSWER else answer,
        ending=_ending(
            aborted=bool(final.get("is_aborted")),
            stopped=bool(events) and events[-1]["action"] in _STOPS,
            answer=answer,
        ),
        source="fara",
        provenance={"folder": name, "token_usage": final.get("token_usage")},
    )


def _screenshots(final: Mapping[str, Any], source: Source) -> list[str]:
    """As the final answer lists them; absolute paths are of the machine that wrote them, so only their names count."""
    listed = final.get("screenshots")
    if not isinstance(listed, list) or not listed:
        return source.pictures()
    return [Path(name).name if Path(name).is_absolute() else name for name in map(str, listed)]


def _ending(*, aborted: bool, stopped: bool, answer: str) -> Ending:
    if aborted:
        fault = Fault(boundary="imported", message="The run was aborted by its own harness.")
        return Ending(kind="fault", message="aborted", fault=fault)
    if answer == NO_ANSWER or (not stopped and not answer):
        return Ending(kind="step_limit", message="The agent never gave an answer.")
    return Ending(kind="answered")


def _actions(source: Source) -> Iterator[dict[str, Any]]:
    """Tool calls only: each action is logged twice, and its summary has no `action`."""
    place = shown(source.root / _LOG)
    for line_number, line in enumerate(source.text(_LOG).splitlines(), 1):
        if not line.strip():
            continue
        try:
            event = well_formed_json(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place}, line {line_number}: not JSON ({error}).") from None
        if not isinstance(event, dict):
            raise InputError(f"{place}, line {line_number}: not an event.")
        arguments = event.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        name = event.get("action") or arguments.get("action")
        if name:
            yield {**event, "action": str(name), "arguments": arguments}


def _step(i: int, events: Sequence[Mapping[str, Any]], shots: Sequence[BlobRef]) -> Step:
    shot = shots[i] if i < len(shots) else None
    if i >= len(events):
        return Step(index=i, seen=RecordedObservation(url="", screenshot=shot))
    event = events[i]
    given: dict[str, Any] = dict(event["arguments"])
    given.pop("action", None)
    thought = " ".join(str(given.pop(key)) for key in reversed(_THOUGHTS) if given.get(key))
    text = f"{event['action']}({', '.join(f'{key}={value!r}' for key, value in given.items())})"
    return Step(
        index=i,
        seen=RecordedObservation(url=str(event.get("url") or ""), screenshot=shot),
        action_text=text,
        thought=thought,
        error=str(event.get("error") or ""),
        info={"action": event["action"], "arguments": given, "time": event.get("timestamp")},
    )


FARA = Importer(
    name="fara",
    summary="Fara and webeval: folders with web_surfer.log.",
    recognises=recognises,
    read=read,
)
