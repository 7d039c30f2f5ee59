"""WebArena-Verified: folders with an agent's response, the network log, and what the published grader found.

With the task file, `webassay import --benchmark webarena-verified` also grades them; this reads what is there.
"""

from collections.abc import Iterator
from pathlib import Path

from webassay.core.errors import InputError
from webassay.core.labels import published_verdict, read_label
from webassay.core.text import well_formed
from webassay.core.trajectory import AgentInfo, Blobs, Ending, Trajectory, WritableBlobs
from webassay.core.verdict import Verdict
from webassay.importers.base import Importer
from webassay.importers.originals import FILES, all_files, kept, write_originals
from webassay.importers.reading import Source, goal, har_in, optional

_RESPONSE = "agent_response.json"
_RESULT = "eval_result.json"


def recognises(place: Path) -> bool:
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
        provenance={"folder": name, FILES: kept(source, all_files(source), blobs)},
    )


def verdicts(folder: Path) -> Iterator[Verdict]:
    source = Source(folder)
    if source.has(_RESULT):
        result = source.object(_RESULT)
        yield published_verdict("webarena-verified", read_label(result.get("status")))


def write(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    if trajectory.source != "webarena-verified" or not write_originals(trajectory, blobs, folder):
        raise InputError(f"{trajectory.id} was not read from logs of WebArena-Verified.")


WEBARENA_VERIFIED = Importer(
    name="webarena-verified",
    summary="WebArena-Verified: folders with agent_response.json.",
    recognises=recognises,
    read=read,
    write=write,
    verdicts=verdicts,
)
