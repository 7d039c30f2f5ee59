"""AgentRewardBench: one JSON file per cleaned trajectory, its screenshots in a tree beside `cleaned`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from webassay.core.errors import ActionError, InputError
from webassay.core.interaction import Action, parse_actions
from webassay.core.text import well_formed
from webassay.core.trajectory import AgentInfo, Ending, RecordedObservation, Step, Trajectory, WritableBlobs
from webassay.importers.base import Importer
from webassay.importers.reading import Source, goal, head_of, number, optional, required, shown

_ANSWERS = {"send_msg_to_user": "text", "report_infeasible": "reason"}


def recognises(place: Path) -> bool:
    if place.suffix != ".json" or not place.is_file():
        return False
    head = head_of(place)
    return b'"summary_info"' in head or (b'"benchmark"' in head and b'"goal"' in head)


def read(path: Path, blobs: WritableBlobs) -> Trajectory:
    record = Source(path.parent).object(path.name)
    entries = record.get("steps")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{shown(path)}: `steps` must be a list of objects.")
    source = Source(
        next((parent.parent for parent in path.absolute().parents if parent.name == "cleaned"), path.parent)
    )
    steps = [_step(i, entry, source, blobs) for i, entry in enumerate(entries)]
    last = steps.pop() if steps and not steps[-1].actions and not steps[-1].action_text else None
    summary = record.get("summary_info")
    summary = summary if isinstance(summary, dict) else {}
    ends = [action for step in steps for action in step.actions if action.name in _ANSWERS]
    return Trajectory(
        id="",
        task_id=well_formed(path.stem),
        benchmark=optional(record, "benchmark") or "agentrewardbench",
        goal=goal(required(record, "goal", path), steps[0].seen.url if steps else ""),
        agent=AgentInfo(name=optional(record, "agent") or "unknown", model=optional(record, "model")),
        seed=int(number(record, "seed")),
        steps=tuple(steps),
        last_seen=last.seen if last else None,
        answer=str(ends[-1].args.get(_ANSWERS[ends[-1].name], "")) if ends else "",
        ending=_ending(ends, summary),
        source="agentrewardbench",
        provenance={"file": well_formed(path.name), "summary": summary},
    )


def _ending(ends: Sequence[Action], summary: Mapping[str, Any]) -> Ending:
    if ends:
        return Ending(kind="gave_up" if ends[-1].name == "report_infeasible" else "answered")
    if summary.get("err_msg"):
        return Ending(kind="agent_crashed", message=str(summary["err_msg"])[:2000])
    return Ending(kind="step_limit") if summary.get("truncated") else Ending(kind="imported")


def _step(i: int, entry: Mapping[str, Any], source: Source, blobs: WritableBlobs) -> Step:
    named = optional(entry, "screenshot_path")
    tree = optional(entry, "axtree", "axtree_pruned")
    text = optional(entry, "action")
    try:
        actions = parse_actions(text) if text else ()
    except ActionError:
        actions = ()
    urls = entry.get("open_pages_urls")
    return Step(
        index=i,
        seen=RecordedObservation(
            url=optional(entry, "url"),
            tabs=tuple(str(url) for url in urls) if isinstance(urls, list) else (),
            screenshot=source.picture(_local(named), blobs) if named else None,
            tree=blobs.write(tree.encode(), "text/plain") if tree else None,
            last_error=optional(entry, "last_action_error"),
        ),
        actions=actions,
        action_text="" if actions else text,
        thought=optional(entry, "reasoning"),
    )


def _local(named: str) -> str:
    """The paths were written on another machine: the part from `screenshots/` on is what travels."""
    parts = Path(named).parts
    return str(Path(*parts[parts.index("screenshots") :])) if "screenshots" in parts else Path(named).name


AGENTREWARDBENCH = Importer(
    name="agentrewardbench",
    summary="AgentRewardBench: JSON files of cleaned trajectories.",
    recognises=recognises,
    read=read,
)
