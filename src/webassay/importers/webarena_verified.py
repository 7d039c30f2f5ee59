"""WebArena-Verified: folders with an agent's response, the network log, and what the published grader found.

With the task file, `webassay import --benchmark webarena-verified` also grades them; this reads what is there.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from webassay.core.errors import InputError
from webassay.core.rater import published_verdict, read_label
from webassay.core.text import well_formed
from webassay.core.trajectory import AgentInfo, Blobs, Ending, Trajectory, WritableBlobs
from webassay.core.verdict import Verdict
from webassay.importers.base import Importer
from webassay.importers.har import har_of
from webassay.importers.originals import FILES, all_files, keep_files, write_files, write_originals
from webassay.importers.reading import Source, goal, har_in, optional

_RESPONSE = "agent_response.json"
_RESULT = "eval_result.json"
_NETWORK = "network.har"


def recognizes(place: Path) -> bool:
    return (place / _RESPONSE).is_file()


def read(folder: Path, blobs: WritableBlobs) -> Trajectory:
    source = Source(folder)
    name = well_formed(folder.name)
    result = source.object(_RESULT) if source.has(_RESULT) else {}
    task = optional(result, "task_id") or name
    return Trajectory(
        id="",
        task_id=task,
        benchmark="webarena-verified",
        goal=goal(f"Task {task} of WebArena-Verified; its text is in the benchmark's task file.", ""),
        agent=AgentInfo(name="unknown"),
        answer=source.text(_RESPONSE),
        ending=Ending(kind="answered"),
        network=har_in(folder, blobs),
        source="webarena-verified",
        provenance={"folder": name, FILES: keep_files(source, all_files(source), blobs)},
    )


def verdicts(folder: Path) -> Iterator[Verdict]:
    source = Source(folder)
    if source.has(_RESULT):
        result = source.object(_RESULT)
        yield published_verdict("webarena-verified", read_label(result.get("status")))


def write(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    """What was read from such logs is given back as it was; anything else as its harness would have written it."""
    if trajectory.source == "webarena-verified" and write_originals(trajectory, blobs, folder):
        return
    write_files(folder, log_files(trajectory, blobs))


def log_files(trajectory: Trajectory, blobs: Blobs) -> dict[str, bytes]:
    return {_RESPONSE: response_of(trajectory).encode(), _NETWORK: har_of(trajectory, blobs)}


def response_of(trajectory: Trajectory) -> str:
    """In the words of the release. What is not a response is written as it came, and its readers refuse it."""
    said = trajectory.response
    if said is None or not isinstance(said.action, str):
        return trajectory.answer
    response = {
        "task_type": said.action.upper(),
        "status": said.status,
        "retrieved_data": said.results,
        "error_details": said.error_details,
    }
    return json.dumps(response, ensure_ascii=False, indent=2)


def folder_of(trajectory: Trajectory) -> str:
    """Its readers know tasks by their numbers; agents and further trials have folders of their own above that."""
    number = re.search(r"(\d+)$", trajectory.task_id)
    if number is None:
        raise InputError(
            f"{trajectory.task_id} has no number.", hint="WebArena-Verified's logs hold its own tasks only."
        )
    agent = re.sub(r"[^\w.=+-]+", "-", trajectory.agent.name).strip("-.") or "agent"
    trial = f".{trajectory.trial}" if trajectory.trial else ""
    return f"{agent}{trial}/{int(number[1])}"


WEBARENA_VERIFIED = Importer(
    name="webarena-verified",
    summary="WebArena-Verified: folders with agent_response.json.",
    recognizes=recognizes,
    read=read,
    write=write,
    folder=folder_of,
    verdicts=verdicts,
)
