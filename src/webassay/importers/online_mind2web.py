"""Online-Mind2Web: a `result.json`, and a folder `trajectory` with one screenshot per page."""

import json
from pathlib import Path

from webassay.core.errors import InputError
from webassay.core.text import well_formed
from webassay.core.trajectory import (
    AgentInfo,
    Blobs,
    Ending,
    RecordedObservation,
    Step,
    Trajectory,
    WritableBlobs,
)
from webassay.importers.base import Importer
from webassay.importers.reading import Source, goal, optional, required, shown, texts


def recognises(place: Path) -> bool:
    return (place / "result.json").is_file() and (place / "trajectory").is_dir()


def read(folder: Path, blobs: WritableBlobs) -> Trajectory:
    source = Source(folder)
    result = source.object("result.json")
    actions = texts(result, "action_history", folder)
    thoughts = texts(result, "thoughts", folder)
    shots = [source.picture(name, blobs) for name in source.pictures("trajectory")]
    # One picture more than actions: the last one is the page after the last action. Pictures beyond that become
    # steps without an action, so that none is lost.
    length = max(len(actions), len(shots) - 1)
    steps = tuple(
        Step(
            index=i,
            seen=RecordedObservation(url="", screenshot=shots[i] if i < len(shots) else None),
            action_text=actions[i] if i < len(actions) else "",
            thought=thoughts[i] if i < len(thoughts) else "",
        )
        for i in range(length)
    )
    inputs = [
        source.picture(name, blobs)
        for name in texts(result, "input_image_paths", folder)
        if not name.startswith(("http://", "https://"))
    ]
    name = well_formed(folder.name)
    return Trajectory(
        id="",
        task_id=str(result.get("task_id", name)),
        benchmark="online-mind2web",
        goal=goal(required(result, "task", folder), optional(result, "url", "website", "start_url")),
        agent=AgentInfo(name=optional(result, "agent", "agent_name") or "unknown"),
        steps=steps,
        last_seen=RecordedObservation(url="", screenshot=shots[length]) if len(shots) > length else None,
        answer=optional(result, "final_result_response"),
        ending=Ending(kind="imported"),
        source="online-mind2web",
        provenance={"folder": name, "input_images": [ref.model_dump() for ref in inputs]},
    )


def write(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    """The layout that Online-Mind2Web's own scripts and leaderboard read.

    One entry of `action_history` per step, empty where the agent did not act, so that entries and pictures stay
    aligned. A page without a screenshot leaves a gap in the numbers.
    """
    pages = [step.seen for step in trajectory.steps]
    if trajectory.last_seen is not None:
        pages.append(trajectory.last_seen)
    result = {
        "task_id": trajectory.task_id,
        "task": trajectory.goal.instruction,
        "final_result_response": trajectory.answer,
        "action_history": ["; ".join(a.text for a in step.actions) or step.action_text for step in trajectory.steps],
        "thoughts": [step.thought for step in trajectory.steps],
    }
    shots = folder / "trajectory"
    try:
        # Pictures of a longer run that lay here before would be read as part of this one.
        shots.mkdir(parents=True)
        for number, page in enumerate(pages):
            if page.screenshot is not None:
                ending = {"image/png": "png", "image/webp": "webp"}.get(page.screenshot.media_type, "jpg")
                (shots / f"{number}_full_screenshot.{ending}").write_bytes(blobs.read(page.screenshot))
        (folder / "result.json").write_text(json.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{shown(folder)} already holds a trajectory.", hint="Choose a new folder.") from None
    except OSError as error:
        raise InputError(f"{shown(folder)} cannot be written: {error.strerror}.") from None


ONLINE_MIND2WEB = Importer(
    name="online-mind2web",
    summary="Online-Mind2Web: folders with result.json and trajectory/.",
    recognises=recognises,
    read=read,
    write=write,
)
