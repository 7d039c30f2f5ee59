"""WebVoyager: the conversation in `interact_messages.json`, and one numbered screenshot per step."""

import json
import re
from pathlib import Path
from typing import Any

from webassay.core.errors import InputError
from webassay.core.text import well_formed
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
from webassay.importers.base import Importer
from webassay.importers.originals import FILES, all_files, keep_files, picture_name, write_files, write_originals
from webassay.importers.reading import Source, by_number, goal, printable

_MESSAGES = "interact_messages.json"
_SCREENSHOT = re.compile(r"screenshot([0-9]+)")
# White space around what is found is stripped afterwards: a pattern that skips it is tried again at each of its places.
_TASK = re.compile(r"Now given a task:(.*?)Please interact with\s+(\S+)", re.DOTALL)
_ACTION = re.compile(r"Action:(.*)", re.DOTALL)
_THOUGHT = re.compile(r"Thought:(.*?)(?=\n[ \t]*Action:|\Z)", re.DOTALL)
_ANSWER = re.compile(r"ANSWER[; ]+(.*)", re.DOTALL)


def recognizes(place: Path) -> bool:
    return (place / _MESSAGES).is_file()


def read(folder: Path, blobs: WritableBlobs) -> Trajectory:
    source = Source(folder)
    messages = source.json(_MESSAGES)
    if not isinstance(messages, list):
        raise InputError(f"{printable(folder / _MESSAGES)}: a list of messages is expected.")
    said = [(str(m.get("role")), _text_of(m.get("content"))) for m in messages if isinstance(m, dict)]
    task = next((found for role, text in said if role == "user" and (found := _TASK.search(text))), None)
    if task is None:
        raise InputError(
            f"{printable(folder / _MESSAGES)}: no message states the task.",
            hint="Expected 'Now given a task: … Please interact with …'.",
        )
    replies = [text for role, text in said if role == "assistant"]
    shots = _screenshots(source, len(replies), blobs)
    steps = []
    for i in range(max(len(replies), len(shots))):
        reply = replies[i] if i < len(replies) else ""
        action, thought = _ACTION.search(reply), _THOUGHT.search(reply)
        steps.append(
            Step(
                index=i,
                seen=RecordedObservation(url="", screenshot=shots[i] if i < len(shots) else None),
                action_text=action[1].strip() if action else "",
                thought=thought[1].strip() if thought else "",
                raw=reply,
            )
        )
    answer = _ANSWER.search(steps[-1].action_text) if steps else None
    name = well_formed(folder.name)
    return Trajectory(
        id="",
        task_id=name.removeprefix("task"),
        benchmark="webvoyager",
        goal=goal(task[1].strip(), task[2].rstrip(".,")),
        agent=AgentInfo(name="unknown"),
        steps=tuple(steps),
        answer=answer[1].strip().removeprefix("[").removesuffix("]").strip() if answer else "",
        ending=Ending(kind="answered") if answer else Ending(kind="step_limit", message="No ANSWER was given."),
        source="webvoyager",
        provenance={"folder": name, FILES: keep_files(source, all_files(source), blobs)},
    )


def _screenshots(source: Source, replies: int, blobs: WritableBlobs) -> list[BlobRef | None]:
    """Screenshot N was shown before reply N. None is taken after a failed action, and the last has no reply if the
    call failed."""
    names = source.pictures()
    names = [name for name in names if _SCREENSHOT.fullmatch(Path(name).stem)] or names
    placed = by_number(names, _SCREENSHOT, first=1, pages=replies + 1)
    return [source.picture(name, blobs) if name else None for name in placed]


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def write(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    """What was read from this layout is given back as it was; anything else as a conversation of the same kind."""
    if trajectory.source == "webvoyager" and write_originals(trajectory, blobs, folder):
        return
    url = next(iter(trajectory.goal.start_urls), "") or "the web"
    task = f"Now given a task: {trajectory.goal.instruction}  Please interact with {url} and get the answer."
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    files = {}
    for number, step in enumerate(trajectory.steps, 1):
        last = number == len(trajectory.steps) and trajectory.ending.kind == "answered"
        text = "; ".join(action.text for action in step.actions) or step.action_text
        action = f"ANSWER; [{trajectory.answer}]" if last else text
        messages.append({"role": "assistant", "content": f"Thought: {step.thought}\nAction: {action}"})
        if step.seen.screenshot is not None:
            files[picture_name(f"screenshot{number}", step.seen.screenshot)] = blobs.read(step.seen.screenshot)
    files[_MESSAGES] = json.dumps(messages).encode()
    write_files(folder, files)


WEBVOYAGER = Importer(
    name="webvoyager",
    summary="WebVoyager: folders with interact_messages.json.",
    recognizes=recognizes,
    read=read,
    write=write,
)
