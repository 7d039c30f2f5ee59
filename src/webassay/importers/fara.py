"""Fara and webeval: a `web_surfer.log` with one JSON event per line, screenshots, and the final answer."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from webassay.core.errors import Fault, InputError
from webassay.core.rater import published_verdict, read_label, with_output
from webassay.core.text import well_formed, well_formed_json
from webassay.core.trajectory import (
    AgentInfo,
    BlobRef,
    Blobs,
    Ending,
    RecordedObservation,
    Step,
    Trajectory,
    WritableBlobs,
)
from webassay.core.verdict import Verdict
from webassay.importers.base import Importer
from webassay.importers.originals import FILES, all_files, keep_files, picture_name, write_files, write_originals
from webassay.importers.reading import Source, goal, json_lines, number, optional, printable

_LOG = "web_surfer.log"
_ANSWER = "_final_answer.json"
_THOUGHTS = ("thoughts", "reasoning", "state_description")
_STOPS = ("terminate", "stop_execution", "stop_and_answer_question")
NO_ANSWER = "<no_answer>"


def recognizes(place: Path) -> bool:
    return (place / _LOG).is_file()


def read(folder: Path, blobs: WritableBlobs) -> Trajectory:
    source = Source(folder)
    answers = sorted(item.name for item in folder.iterdir() if item.name.endswith(_ANSWER))
    final = source.object(answers[0]) if answers else {}
    task_data = source.object("task_data.json") if source.has("task_data.json") else {}
    times = source.object("times.json") if source.has("times.json") else {}
    events = list(events_of(source.text(_LOG), source.root / _LOG))
    shots = [source.picture(name, blobs) for name in _screenshots(final, source)]
    steps = steps_of(events, shots)
    answer = optional(final, "final_answer")
    name = well_formed(folder.name)
    instruction = optional(task_data, "task_proposal", "initial_task_proposal", "task") or optional(final, "task")
    if not instruction:
        raise InputError(
            f"{printable(folder)}: the text of the task is missing.", hint="task_data.json must have `task_proposal`."
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
        ending=ending_of(events, answer, aborted=bool(final.get("is_aborted"))),
        source="fara",
        provenance={
            "folder": name,
            "token_usage": final.get("token_usage"),
            FILES: keep_files(source, all_files(source), blobs),
        },
    )


def _screenshots(final: Mapping[str, Any], source: Source) -> list[str]:
    """As the final answer lists them; absolute paths are of the machine that wrote them, so only their names count."""
    listed = final.get("screenshots")
    if not isinstance(listed, list) or not listed:
        return source.pictures()
    return [Path(name).name if Path(name).is_absolute() else name for name in map(str, listed)]


def ending_of(events: Sequence[Mapping[str, Any]], answer: str, *, aborted: bool) -> Ending:
    stopped = bool(events) and events[-1]["action"] in _STOPS
    if aborted:
        fault = Fault(boundary="imported", message="The run was aborted by its own harness.")
        return Ending(kind="fault", message="aborted", fault=fault)
    if answer == NO_ANSWER or (not stopped and not answer):
        return Ending(kind="step_limit", message="The agent never gave an answer.")
    return Ending(kind="answered")


def events_of(log: str, place: Path) -> Iterator[dict[str, Any]]:
    """Tool calls only: each action is logged twice, and its summary has no `action`."""
    for _, event in json_lines(log, place):
        arguments = event.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        name = event.get("action") or arguments.get("action")
        if name:
            yield {**event, "action": str(name), "arguments": arguments}


def steps_of(events: Sequence[Mapping[str, Any]], shots: Sequence[BlobRef]) -> tuple[Step, ...]:
    return tuple(_step(i, events, shots) for i in range(max(len(events), len(shots))))


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


# --- what was said of it ------------------------------------------------------------------------------------------


def verdicts(folder: Path) -> Iterator[Verdict]:
    """The outputs of its own verifiers, in `scores`."""
    source = Source(folder)
    place = folder / "scores"
    for name in sorted(item.name for item in place.iterdir()) if place.is_dir() else ():
        if name.endswith(".json"):
            yield verdict_of(source.object(f"scores/{name}"), well_formed(name.removesuffix(".json")))


def verdict_of(record: Mapping[str, Any], name: str) -> Verdict:
    """A score file: the score, and what the verifier said, as JSON in a text."""
    try:
        said = well_formed_json(json.loads(str(record.get("gpt_response_text") or "{}")))
    except (ValueError, RecursionError):
        said = {}
    said = said if isinstance(said, dict) else {}
    outcome = said.get("outcome_success")
    success = said.get("rubric_is_success")
    earned, most = number(said, "rubric_total_earned_points"), number(said, "rubric_total_max_points")
    verdict = published_verdict(
        name,
        read_label(record.get("score") if outcome is None else outcome),
        score=earned / most if 0 <= earned <= most and most > 0 else None,
        process=None if success is None else bool(success),
        comment=str(said.get("outcome_reasoning") or _reasoning(said))[:2000],
    )
    return with_output(verdict, said)


def _reasoning(said: Mapping[str, Any]) -> str:
    outcome = said.get("rubric_outcome_verification")
    return str(outcome.get("reasoning") or "") if isinstance(outcome, dict) else ""


def write(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    """What was read from this layout is given back as it was; anything else is written as Fara would have."""
    if trajectory.source == "fara" and write_originals(trajectory, blobs, folder):
        return
    log, files = [], {}
    pages = [step.seen.screenshot for step in trajectory.steps]
    names = [picture_name(f"screenshot_{i}", shot) if shot else "" for i, shot in enumerate(pages, 1)]
    for name, shot in zip(names, pages, strict=True):
        if shot is not None:
            files[name] = blobs.read(shot)
    for i, step in enumerate(trajectory.steps):
        last = i == len(trajectory.steps) - 1 and trajectory.ending.kind == "answered"
        text = "; ".join(action.text for action in step.actions) or step.action_text
        arguments = {"thoughts": step.thought, "text": text}
        log.append({"url": step.seen.url, "action": "terminate" if last else "act", "arguments": arguments})
    answered = trajectory.answer or NO_ANSWER
    final = {"final_answer": answered, "screenshots": [name for name in names if name], "is_aborted": False}
    task = {
        "task_proposal": trajectory.goal.instruction,
        "init_url": next(iter(trajectory.goal.start_urls), ""),
        "start_timestamp": trajectory.started_at,
    }
    files[_LOG] = "\n".join(json.dumps(event) for event in log).encode()
    files[f"{_file_name(trajectory.task_id)}{_ANSWER}"] = json.dumps(final).encode()
    files["task_data.json"] = json.dumps(task).encode()
    write_files(folder, files)


def _file_name(task: str) -> str:
    return re.sub(r"[^\w.-]+", "_", task)[:100] or "task"


FARA = Importer(
    name="fara",
    summary="Fara and webeval: folders with web_surfer.log.",
    recognizes=recognizes,
    read=read,
    write=write,
    verdicts=verdicts,
)
