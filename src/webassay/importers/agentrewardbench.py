"""AgentRewardBench: one JSON file per cleaned trajectory, its screenshots in a tree beside `cleaned`.

Beside these lie `judgments/BENCHMARK/AGENT/JUDGE/TASK.json` with what each judge replied, and a table of what people
said (`annotations.csv`).
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from webassay.core.errors import ActionError, InputError
from webassay.core.interaction import Action, parse_actions
from webassay.core.rater import LabelMeaning, persons_verdict, published_verdict, read_label
from webassay.core.text import well_formed
from webassay.core.trajectory import AgentInfo, Blobs, Ending, RecordedObservation, Step, Trajectory, WritableBlobs
from webassay.core.verdict import Aspect
from webassay.importers.base import Importer, LooseVerdict
from webassay.importers.originals import FILES, keep_files, picture_name, write_files, write_originals
from webassay.importers.reading import Source, goal, head_of, number, optional, printable, required

_ANSWERS = {"send_msg_to_user": "text", "report_infeasible": "reason"}


def recognizes(place: Path) -> bool:
    if place.suffix != ".json" or not place.is_file():
        return False
    head = head_of(place)
    if _JUDGED.search(head):
        return False
    return b'"summary_info"' in head or (b'"benchmark"' in head and b'"goal"' in head)


def read(path: Path, blobs: WritableBlobs) -> Trajectory:
    record = Source(path.parent).object(path.name)
    entries = record.get("steps")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{printable(path)}: `steps` must be a list of objects.")
    source = Source(
        next((parent.parent for parent in path.absolute().parents if parent.name == "cleaned"), path.parent)
    )
    steps = [_step(i, entry, source, blobs) for i, entry in enumerate(entries)]
    pictures = [_local(named) for entry in entries if (named := optional(entry, "screenshot_path"))]
    own = path.absolute().relative_to(source.root.absolute())
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
        provenance={
            "file": well_formed(path.name),
            "summary": summary,
            FILES: keep_files(source, [str(own), *dict.fromkeys(pictures)], blobs),
        },
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


def write(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    """What was read from this layout is given back as it was; anything else is written as AgentLab cleans it."""
    if trajectory.source == "agentrewardbench" and write_originals(trajectory, blobs, folder):
        return
    seen = [*(step.seen for step in trajectory.steps), *([trajectory.last_seen] if trajectory.last_seen else [])]
    files, entries = {}, []
    for i, page in enumerate(seen):
        step = trajectory.steps[i] if i < len(trajectory.steps) else None
        entry: dict[str, Any] = {"num": i, "url": page.url, "open_pages_urls": list(page.tabs), "action": None}
        if step is not None:
            text = "\n".join(action.text for action in step.actions) or step.action_text
            entry |= {"action": text, "reasoning": step.thought, "last_action_error": page.last_error}
        if page.tree is not None:
            entry["axtree"] = blobs.read(page.tree).decode("utf-8", "replace")
        if page.screenshot is not None:
            name = picture_name(f"screenshots/screenshot_step_{i}", page.screenshot)
            files[name], entry["screenshot_path"] = blobs.read(page.screenshot), name
        entries.append(entry)
    record = {
        "benchmark": trajectory.benchmark,
        "agent": trajectory.agent.name,
        "model": trajectory.agent.model,
        "goal": trajectory.goal.instruction,
        "seed": trajectory.seed,
        "summary_info": {"truncated": trajectory.ending.kind == "step_limit"},
        "steps": entries,
    }
    task = re.sub(r"[^\w.-]+", "_", trajectory.task_id)[:100] or "task"
    files[f"cleaned/{task}.json"] = json.dumps(record).encode()
    write_files(folder, files)


# --- what was said of them ----------------------------------------------------------------------------------------

_JUDGED = re.compile(rb'"(judge_args|judge_model_name|trajectory_info)"')
_PEOPLE = ("trajectory_success", "model_name", "task_id")
_TAG = re.compile(r"<success>(.*?)</success>", re.DOTALL | re.IGNORECASE)
_STATUS = re.compile(r"^[^\w\n]*status[^\w\n:]*:\W*(\w+)", re.MULTILINE | re.IGNORECASE)
_REWARD = re.compile(r"reward\W*:\W*([1-5])\b", re.IGNORECASE)


def recognizes_claims(place: Path) -> bool:
    if not place.is_file():
        return False
    if place.suffix == ".csv":
        first = head_of(place).partition(b"\n")[0].decode("utf-8", "replace")
        return all(name in first for name in _PEOPLE)
    return place.suffix == ".json" and b'"judge"' in (head := head_of(place)) and bool(_JUDGED.search(head))


def claims(place: Path) -> Iterator[LooseVerdict]:
    source = Source(place.parent)
    if place.suffix == ".csv":
        yield from _labels_of_people(source.text(place.name), place)
        return
    record = source.object(place.name)
    judge = required(record, "judge", place)
    said, reply = _said(record, judge)
    verdict = published_verdict(judge, said, model=optional(record, "judge_model_name"), comment=reply[:2000])
    agent = optional(record, "agent") or well_formed(place.parent.parent.name)
    yield LooseVerdict(well_formed(place.stem), verdict, agent, optional(record, "benchmark"), printable(place))


def _said(record: Mapping[str, Any], judge: str) -> tuple[LabelMeaning, str]:
    """The judge's reply, read as its scripts do, but by the last verdict in it: earlier ones may be quotes from a
    page."""
    if judge == "functional":
        reward = _within(record, "trajectory_info", "summary_info", "cum_reward")
        if not isinstance(reward, int | float):
            return "missing", ""
        return "pass" if reward > 0.5 else "fail", f"cumulative reward {reward}"
    choices = _within(record, "response", "choices")
    reply = _within(choices[0], "message", "content") if isinstance(choices, list) and choices else None
    text = reply if isinstance(reply, str) else ""
    if tags := _TAG.findall(text):
        return read_label(tags[-1]), text
    if found := _STATUS.findall(text):
        return read_label(found[-1]), text
    if rewards := _REWARD.findall(text):
        return "pass" if int(rewards[-1]) >= 4 else "fail", text
    return "missing", text


def _within(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _labels_of_people(text: str, place: Path) -> Iterator[LooseVerdict]:
    """The second label of one trajectory is a second person's, unless the table names people."""
    seen: Counter[tuple[str, str, str]] = Counter()
    # Not `splitlines`: a cell may hold a line separator of Unicode, which ends no line of a table.
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        for number, row in enumerate(rows, 2):
            task, agent, benchmark = (str(row.get(name) or "") for name in ("task_id", "model_name", "benchmark"))
            seen[task, agent, benchmark] += 1
            usual = "primary" if seen[task, agent, benchmark] == 1 else f"secondary {seen[task, agent, benchmark] - 1}"
            name = optional(row, "annotator", "annotator_name", "username") or usual
            said = read_label(row.get("trajectory_success"))
            noted = {
                aspect: Aspect(value=str(row[column])[:200])
                for aspect, column in _NOTED.items()
                if row.get(column) is not None
            }
            verdict = persons_verdict(well_formed(name), said, more=noted)
            yield LooseVerdict(task, verdict, agent, benchmark, f"{printable(place)}, line {number}")
    except csv.Error as error:
        raise InputError(f"{printable(place)}: {error}.") from None


_NOTED = {
    "side_effects": "trajectory_side_effect",
    "optimality": "trajectory_optimality",
    "loop": "trajectory_looping",
}


AGENTREWARDBENCH = Importer(
    name="agentrewardbench",
    summary="AgentRewardBench: JSON files of cleaned trajectories.",
    recognizes=recognizes,
    read=read,
    write=write,
    claims=claims,
    recognizes_claims=recognizes_claims,
)
