"""An importer: `NAME.transcript.json` holds a goal, the actions in order, and the answer."""

from pathlib import Path

from webassay.core.trajectory import AgentInfo, Ending, RecordedObservation, Step, Trajectory, WritableBlobs
from webassay.importers.base import Importer
from webassay.importers.reading import Source, goal, optional, required, texts

ENDING = ".transcript.json"


def _recognizes(place: Path) -> bool:
    return place.name.endswith(ENDING)


def _read(place: Path, blobs: WritableBlobs) -> Trajectory:
    told = Source(place.parent).object(place.name)
    return Trajectory(
        id="",
        task_id=optional(told, "task_id") or place.name.removesuffix(ENDING),
        benchmark="transcripts",
        goal=goal(required(told, "goal", place), optional(told, "url")),
        agent=AgentInfo(name=optional(told, "agent") or "unknown"),
        steps=tuple(
            Step(index=index, seen=RecordedObservation(url=""), action_text=action)
            for index, action in enumerate(texts(told, "actions", place))
        ),
        answer=optional(told, "answer"),
        ending=Ending(kind="imported"),
        source="transcript",
    )


TRANSCRIPT = Importer("transcript", "One JSON file a trajectory: goal, actions, answer.", _recognizes, _read)
