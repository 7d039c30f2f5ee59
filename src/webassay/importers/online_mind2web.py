"""Online-Mind2Web: a `result.json`, and a folder `trajectory` with one screenshot per page.

Beside the trajectories lie the outputs of its judges (`…_auto_eval_results.json`, one object a line) and the labels of
people (one object a task, with a label for each agent).
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from webassay.core.errors import InputError
from webassay.core.rater import persons_verdict, published_verdict, read_label, with_output
from webassay.core.record import Json
from webassay.core.text import well_formed, well_formed_json
from webassay.core.trajectory import (
    AgentInfo,
    Blobs,
    Ending,
    RecordedObservation,
    Step,
    Trajectory,
    WritableBlobs,
)
from webassay.importers.base import Importer, LooseVerdict
from webassay.importers.originals import FILES, all_files, keep_files, picture_name, write_files, write_originals
from webassay.importers.reading import (
    Source,
    by_number,
    goal,
    head_of,
    json_lines,
    optional,
    printable,
    required,
    texts,
)

_SCREENSHOT = re.compile(r"([0-9]+)_full_screenshot")


def recognizes(place: Path) -> bool:
    return (place / "result.json").is_file() and (place / "trajectory").is_dir()


def read(folder: Path, blobs: WritableBlobs) -> Trajectory:
    source = Source(folder)
    result = source.object("result.json")
    actions = texts(result, "action_history", folder)
    thoughts = texts(result, "thoughts", folder)
    names = source.pictures("trajectory")
    placed = by_number(names, _SCREENSHOT, first=0, pages=len(actions) + 1)
    shots = [source.picture(name, blobs) if name else None for name in placed]
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
        name for name in texts(result, "input_image_paths", folder) if not name.startswith(("http://", "https://"))
    ]
    # What the result names may be a link inside the folder; of the neighbors, links are left alone. A path that passes
    # through the world outside means nothing in another folder; its file is among the neighbors.
    local = [name for name in inputs if not Path(name).is_absolute() and ".." not in Path(name).parts]
    named = ["result.json", *names, *local]
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
        provenance={
            "folder": name,
            "input_images": [source.picture(name, blobs).model_dump() for name in inputs],
            FILES: keep_files(source, dict.fromkeys([*named, *all_files(source)]), blobs),
        },
    )


def write(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    """The layout that Online-Mind2Web's scripts and leaderboard read; originals are given back as they were.

    One entry of `action_history` per step, empty where the agent did not act, and a gap in the numbers for a page
    without a screenshot, so that entries and pictures stay aligned.
    """
    if trajectory.source == "online-mind2web" and write_originals(trajectory, blobs, folder):
        (folder / "trajectory").mkdir(exist_ok=True)
        return
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
    files = {"result.json": json.dumps(result, ensure_ascii=False, indent=1).encode()}
    for number, page in enumerate(pages):
        if page.screenshot is not None:
            name = picture_name(f"trajectory/{number}_full_screenshot", page.screenshot)
            files[name] = blobs.read(page.screenshot)
    write_files(folder, files)
    (folder / "trajectory").mkdir(exist_ok=True)


# --- what was said of them ----------------------------------------------------------------------------------------

_RESULTS = re.compile(r"(?P<judge>.+)_eval_(?P<model>.+)_score_threshold_(?P<threshold>\d+)_auto_eval_results\.json")
_PERSON = "_human_label"


def recognizes_claims(place: Path) -> bool:
    if place.suffix != ".json" or not place.is_file():
        return False
    return bool(_RESULTS.fullmatch(place.name)) or (
        head_of(place).lstrip().startswith(b"[") and f'{_PERSON}"'.encode() in head_of(place)
    )


def claims(place: Path) -> Iterator[LooseVerdict]:
    named = _RESULTS.fullmatch(place.name)
    source = Source(place.parent)
    if named is None:
        yield from _labels_of_people(source.json(place.name), place)
        return
    for number, row in json_lines(source.text(place.name), place):
        task = required(row, "task_id", place)
        said = read_label(row.get("predicted_label"))
        details = row.get("evaluation_details")
        comment = str(details.get("response") or "") if isinstance(details, dict) else ""
        verdict = published_verdict(
            well_formed(named["judge"]),
            said,
            model=well_formed(named["model"]),
            comment=comment[:2000],
            settings={"score_threshold": int(named["threshold"])},
        )
        yield LooseVerdict(
            task,
            with_output(verdict, _output(row)),
            benchmark="online-mind2web",
            where=f"{printable(place)}, line {number}",
        )


def _output(row: Mapping[str, Any]) -> Json:
    """What the judge wrote; what it was asked is in the trajectory."""
    kept = ("key_points", "image_judge_record", "evaluation_details")
    return well_formed_json({name: row[name] for name in kept if row.get(name)})


def _labels_of_people(rows: Any, place: Path) -> Iterator[LooseVerdict]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{printable(place)}: a list of objects is expected.")
    for number, row in enumerate(rows, 1):
        for column, value in row.items():
            said = read_label(value)
            if column.endswith(_PERSON) and said != "missing":
                comment = f"Labeled {value!r}." if said == "third" else ""
                verdict = persons_verdict("online-mind2web", said, comment=comment)
                agent = column.removesuffix(_PERSON)
                where = f"{printable(place)}, row {number}"
                yield LooseVerdict(required(row, "task_id", place), verdict, agent, "online-mind2web", where)


ONLINE_MIND2WEB = Importer(
    name="online-mind2web",
    summary="Online-Mind2Web: folders with result.json and trajectory/.",
    recognizes=recognizes,
    read=read,
    write=write,
    claims=claims,
    recognizes_claims=recognizes_claims,
)
