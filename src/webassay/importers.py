"""Other people's trajectories, read into ours, and ours written for other people's tools.

Every importer is a function from a folder (or file) to one `Trajectory`; pictures and trees become blobs.
What a format does not say stays empty: no key, no probes, no network. Actions of foreign action spaces are kept
word for word in `Step.action_text`, with name and arguments in `Step.info`, because they are not ours to check.

A path named inside a file is only followed when it stays inside the imported folder.

Which picture a step carries: `Step.seen` is always the page *before* the actions of that step, `last_seen` the page
after the last one. Fara, WebVoyager and AgentRewardBench record the page before; Online-Mind2Web records the start
page and then one picture after every action, which is the same list shifted into `last_seen`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from webassay.core.errors import ActionError, Fault, InputError
from webassay.core.interaction import Action, Goal, ResponseProtocol, parse_actions
from webassay.core.record import Json, content_hash
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

FREE_TEXT = ResponseProtocol(name="free", instructions="")

Format = Literal["online-mind2web", "fara", "webvoyager", "agentrewardbench"]

_MAX_FILE = 256 * 1024 * 1024


def import_all(
    path: Path,
    blobs: WritableBlobs,
    format: Format | None = None,
    on_error: Callable[[Path, InputError], None] | None = None,
) -> Iterator[Trajectory]:
    """Every trajectory at or below `path`, by path; the format is recognised where none is given.

    With `on_error`, a trajectory that cannot be read is told there and left out; without, it ends the import.
    """
    found = False
    for place, kind in _places(path, format):
        found = True
        try:
            trajectory = IMPORTERS[kind](place, blobs)
        except InputError as error:
            if on_error is None:
                raise
            on_error(place, error)
        else:
            yield trajectory
    if not found:
        wanted = format or ", ".join(IMPORTERS)
        raise InputError(
            f"No trajectory was found in {path}.",
            hint=f"Looked for: {wanted}. See docs/verifier.md for the files that each format needs.",
        )


def recognise(place: Path) -> Format | None:
    """The format of one trajectory's folder or file, by the files that only this format has."""
    if place.is_dir():
        if (place / "web_surfer.log").is_file():
            return "fara"
        if (place / "interact_messages.json").is_file():
            return "webvoyager"
        if (place / "result.json").is_file() and (place / "trajectory").is_dir():
            return "online-mind2web"
        return None
    if place.suffix == ".json" and place.is_file() and place.stat().st_size < _MAX_FILE:
        head = place.read_bytes()[:4000]
        if b'"summary_info"' in head or (b'"benchmark"' in head and b'"goal"' in head):
            return "agentrewardbench"
    return None


def _places(path: Path, format: Format | None) -> Iterator[tuple[Path, Format]]:
    if not path.exists():
        raise InputError(f"{path} does not exist.")
    kind = recognise(path)
    if kind is not None or (format is not None and path.is_file()):
        chosen = format or kind
        assert chosen is not None
        yield path, chosen
        return
    if path.is_file():
        return
    for place in sorted(path.iterdir()):
        if place.is_symlink():
            continue
        if place.is_dir():
            yield from _places(place, format)
        elif (kind := recognise(place)) is not None and format in (None, kind):
            yield place, kind


# --- Online-Mind2Web ------------------------------------------------------------------------------------


def read_online_mind2web(folder: Path, blobs: WritableBlobs) -> Trajectory:
    result = _object(folder / "result.json")
    actions = _texts(result, "action_history", folder)
    thoughts = _texts(result, "thoughts", folder)
    pictures = sorted(_pictures(folder / "trajectory"), key=lambda item: _first_integer(item.name))
    shots = [_image(picture, blobs) for picture in pictures]
    # One picture more than actions: the last one is the page after the last action. Anything beyond that is kept as
    # steps without an action, so that no picture is lost.
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
        _image(_inside(folder, name), blobs)
        for name in _texts(result, "input_image_paths", folder)
        if not name.startswith(("http://", "https://"))
    ]
    return _finished(
        Trajectory(
            id="",
            task_id=str(result.get("task_id", folder.name)),
            benchmark="online-mind2web",
            goal=_goal(_text(result, "task", folder), _optional(result, "url", "website", "start_url")),
            agent=AgentInfo(name=_optional(result, "agent", "agent_name") or "unknown"),
            steps=steps,
            last_seen=RecordedObservation(url="", screenshot=shots[length]) if len(shots) > length else None,
            answer=_optional(result, "final_result_response"),
            ending=Ending(kind="imported"),
            source="online-mind2web",
            provenance={"folder": folder.name, "input_images": [ref.model_dump() for ref in inputs]},
        )
    )


def write_online_mind2web(trajectory: Trajectory, blobs: Blobs, folder: Path) -> None:
    """The layout that Online-Mind2Web's own scripts and leader board read."""
    shots = folder / "trajectory"
    shots.mkdir(parents=True, exist_ok=True)
    seen = [step.seen for step in trajectory.steps]
    if trajectory.last_seen is not None:
        seen.append(trajectory.last_seen)
    for number, page in enumerate(seen):
        if page.screenshot is not None:
            ending = {"image/png": "png", "image/webp": "webp"}.get(page.screenshot.media_type, "jpg")
            (shots / f"{number}_full_screenshot.{ending}").write_bytes(blobs.read(page.screenshot))
    acting = [step for step in trajectory.steps if step.actions or step.action_text]
    result = {
        "task_id": trajectory.task_id,
        "task": trajectory.goal.instruction,
        "final_result_response": trajectory.answer,
        "action_history": ["; ".join(a.text for a in step.actions) or step.action_text for step in acting],
        "thoughts": [step.thought for step in acting],
    }
    (folder / "result.json").write_text(json.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")


# --- Fara / webeval -------------------------------------------------------------------------------------

_FARA_THOUGHTS = ("thoughts", "reasoning", "state_description")
_FARA_STOPS = ("terminate", "stop_execution", "stop_and_answer_question")
NO_ANSWER = "<no_answer>"


def read_fara(folder: Path, blobs: WritableBlobs) -> Trajectory:
    answers = sorted(folder.glob("*_final_answer.json"))
    final = _object(answers[0]) if answers else {}
    task_data = _object(folder / "task_data.json") if (folder / "task_data.json").is_file() else {}
    times = _object(folder / "times.json") if (folder / "times.json").is_file() else {}
    events = list(_fara_actions(folder / "web_surfer.log"))
    names = [str(name) for name in final.get("screenshots") or []]
    if not names:
        names = [item.name for item in sorted(_pictures(folder), key=lambda item: _first_integer(item.name))]
    shots = [_image(_inside(folder, Path(name).name if Path(name).is_absolute() else name), blobs) for name in names]
    steps = tuple(_fara_step(i, events, shots) for i in range(max(len(events), len(shots))))
    answer = _optional(final, "final_answer")
    aborted = bool(final.get("is_aborted"))
    stopped = bool(events) and events[-1]["action"] in _FARA_STOPS
    task_id = answers[0].name.removesuffix("_final_answer.json") if answers else folder.name
    instruction = _optional(task_data, "task_proposal", "initial_task_proposal", "task") or _optional(final, "task")
    if not instruction:
        raise InputError(f"{folder}: the task's text is missing.", hint="task_data.json must have `task_proposal`.")
    return _finished(
        Trajectory(
            id="",
            task_id=task_id,
            benchmark="fara",
            goal=_goal(instruction, _optional(task_data, "init_url")),
            agent=AgentInfo(name="fara"),
            started_at=_optional(task_data, "start_timestamp"),
            seconds=float(times.get("duration") or 0.0),
            steps=steps,
            answer="" if answer == NO_ANSWER else answer,
            ending=_fara_ending(aborted, stopped, answer),
            source="fara",
            provenance={"folder": folder.name, "token_usage": final.get("token_usage")},
        )
    )


def _fara_ending(aborted: bool, stopped: bool, answer: str) -> Ending:
    if aborted:
        fault = Fault(boundary="imported", message="The run was aborted by its own harness.")
        return Ending(kind="fault", message="aborted", fault=fault)
    if answer == NO_ANSWER or (not stopped and not answer):
        return Ending(kind="step_limit", message="The agent never gave an answer.")
    return Ending(kind="answered")


def _fara_actions(path: Path) -> Iterator[dict[str, Any]]:
    """Tool calls only: every action is logged twice, and the summarised copy has no `action`."""
    for number, line in enumerate(_read(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: not JSON ({error}).") from None
        if not isinstance(event, dict):
            raise InputError(f"{path}, line {number}: not an event.")
        arguments = event.get("arguments") if isinstance(event.get("arguments"), dict) else {}
        name = event.get("action") or (arguments or {}).get("action")
        if name:
            yield {**event, "action": str(name), "arguments": arguments or {}}


def _fara_step(i: int, events: Sequence[Mapping[str, Any]], shots: Sequence[BlobRef]) -> Step:
    shot = shots[i] if i < len(shots) else None
    if i >= len(events):
        return Step(index=i, seen=RecordedObservation(url="", screenshot=shot))
    event = events[i]
    given: dict[str, Any] = dict(event["arguments"])
    given.pop("action", None)
    thought = " ".join(str(given.pop(key)) for key in reversed(_FARA_THOUGHTS) if given.get(key))
    text = f"{event['action']}({', '.join(f'{key}={value!r}' for key, value in given.items())})"
    return Step(
        index=i,
        seen=RecordedObservation(url=str(event.get("url") or ""), screenshot=shot),
        action_text=text,
        thought=thought,
        error=str(event.get("error") or ""),
        info={"action": event["action"], "arguments": given, "time": event.get("timestamp")},
    )


# --- WebVoyager -----------------------------------------------------------------------------------------

_VOYAGER_TASK = re.compile(r"Now given a task:\s*(.*?)\s*Please interact with\s+(\S+)", re.DOTALL)
_VOYAGER_ACTION = re.compile(r"Action:\s*(.*)", re.DOTALL)
_VOYAGER_THOUGHT = re.compile(r"Thought:\s*(.*?)(?=\n\s*Action:|\Z)", re.DOTALL)
_VOYAGER_ANSWER = re.compile(r"ANSWER[; ]+\[?(.*?)\]?\s*\Z", re.DOTALL)


def read_webvoyager(folder: Path, blobs: WritableBlobs) -> Trajectory:
    path = folder / "interact_messages.json"
    messages = _json(path)
    if not isinstance(messages, list):
        raise InputError(f"{path}: a list of messages is expected.")
    texts = [(str(m.get("role")), _message_text(m.get("content"))) for m in messages if isinstance(m, dict)]
    task = next((found for role, text in texts if role == "user" and (found := _VOYAGER_TASK.search(text))), None)
    if task is None:
        raise InputError(
            f"{path}: no message states the task.", hint="Expected: 'Now given a task: … Please interact'."
        )
    replies = [text for role, text in texts if role == "assistant"]
    shots = [_image(item, blobs) for item in sorted(_pictures(folder), key=lambda item: _first_integer(item.name))]
    steps = []
    for i in range(max(len(replies), len(shots))):
        reply = replies[i] if i < len(replies) else ""
        action, thought = _VOYAGER_ACTION.search(reply), _VOYAGER_THOUGHT.search(reply)
        steps.append(
            Step(
                index=i,
                seen=RecordedObservation(url="", screenshot=shots[i] if i < len(shots) else None),
                action_text=action[1].strip() if action else "",
                thought=thought[1].strip() if thought else "",
                raw=reply,
            )
        )
    said = _VOYAGER_ANSWER.search(steps[-1].action_text) if steps else None
    return _finished(
        Trajectory(
            id="",
            task_id=folder.name.removeprefix("task"),
            benchmark="webvoyager",
            goal=_goal(task[1], task[2].rstrip(".,")),
            agent=AgentInfo(name="unknown"),
            steps=tuple(steps),
            answer=said[1].strip() if said else "",
            ending=Ending(kind="answered") if said else Ending(kind="step_limit", message="No ANSWER was given."),
            source="webvoyager",
            provenance={"folder": folder.name},
        )
    )


def _message_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


# --- AgentRewardBench (cleaned trajectories) ------------------------------------------------------------


def read_agentrewardbench(path: Path, blobs: WritableBlobs) -> Trajectory:
    record = _object(path)
    entries = record.get("steps")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: `steps` must be a list.")
    root = next((parent.parent for parent in path.parents if parent.name == "cleaned"), path.parent)
    steps = [_arb_step(i, entry, root, blobs) for i, entry in enumerate(entries)]
    last = steps.pop() if steps and not steps[-1].actions and not steps[-1].action_text else None
    summary = record.get("summary_info")
    summary = summary if isinstance(summary, dict) else {}
    ends = [action for step in steps for action in step.actions if action.name in _ANSWERS]
    return _finished(
        Trajectory(
            id="",
            task_id=path.stem,
            benchmark=_optional(record, "benchmark") or "agentrewardbench",
            goal=_goal(_text(record, "goal", path), steps[0].seen.url if steps else ""),
            agent=AgentInfo(name=_optional(record, "agent") or "unknown", model=_optional(record, "model")),
            seed=int(record.get("seed") or 0),
            steps=tuple(steps),
            last_seen=last.seen if last else None,
            answer=str(ends[-1].args.get(_ANSWERS[ends[-1].name], "")) if ends else "",
            ending=_arb_ending(ends, summary),
            source="agentrewardbench",
            provenance={"file": path.name, "summary": summary},
        )
    )


_ANSWERS = {"send_msg_to_user": "text", "report_infeasible": "reason"}


def _arb_ending(ends: Sequence[Action], summary: Mapping[str, Any]) -> Ending:
    if ends:
        return Ending(kind="gave_up" if ends[-1].name == "report_infeasible" else "answered")
    if summary.get("err_msg"):
        return Ending(kind="agent_crashed", message=str(summary["err_msg"])[:2000])
    return Ending(kind="step_limit") if summary.get("truncated") else Ending(kind="imported")


def _arb_step(i: int, entry: Mapping[str, Any], root: Path, blobs: WritableBlobs) -> Step:
    named = str(entry.get("screenshot_path") or "")
    shot = None
    if named:
        parts = Path(named).parts
        # The paths were written on another machine: the part from `screenshots/` on is what travels.
        local = Path(*parts[parts.index("screenshots") :]) if "screenshots" in parts else Path(Path(named).name)
        shot = _image(_inside(root, str(local)), blobs)
    tree = str(entry.get("axtree") or entry.get("axtree_pruned") or "")
    text = str(entry.get("action") or "")
    try:
        actions = parse_actions(text) if text else ()
    except ActionError:
        actions = ()
    urls = entry.get("open_pages_urls")
    return Step(
        index=i,
        seen=RecordedObservation(
            url=str(entry.get("url") or ""),
            tabs=tuple(str(url) for url in urls) if isinstance(urls, list) else (),
            screenshot=shot,
            tree=blobs.write(tree.encode("utf-8", "surrogatepass"), "text/plain") if tree else None,
            last_error=str(entry.get("last_action_error") or ""),
        ),
        actions=actions,
        action_text="" if actions else text,
        thought=str(entry.get("reasoning") or ""),
    )


IMPORTERS: dict[Format, Callable[[Path, WritableBlobs], Trajectory]] = {
    "online-mind2web": read_online_mind2web,
    "fara": read_fara,
    "webvoyager": read_webvoyager,
    "agentrewardbench": read_agentrewardbench,
}


# --- reading with care ----------------------------------------------------------------------------------


def _finished(trajectory: Trajectory) -> Trajectory:
    """Named by its content, so that the same folder imports as the same trajectory anywhere."""
    digest = content_hash(trajectory.model_dump(mode="json")).removeprefix("sha256:")
    return trajectory.model_copy(update={"id": f"{trajectory.source}-{trajectory.task_id}-{digest[:12]}"})


def _goal(instruction: str, url: str) -> Goal:
    return Goal(instruction=instruction, start_urls=(url,) if url else (), protocol=FREE_TEXT, modality="screenshot")


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_FILE:
            raise InputError(f"{path} is larger than {_MAX_FILE // 2**20} MB.")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} is missing.", hint="Import the whole folder of the trajectory.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text ({error.reason} at byte {error.start}).") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _json(path: Path) -> Any:
    try:
        return json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}).") from None


def _object(path: Path) -> dict[str, Any]:
    value = _json(path)
    if not isinstance(value, dict):
        raise InputError(f"{path}: a JSON object is expected.")
    return value


def _text(record: Mapping[str, Any], key: str, where: Path) -> str:
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: `{key}` must be a text that is not empty.")
    return value


def _optional(record: Mapping[str, Any], *keys: str) -> str:
    return next((str(record[key]) for key in keys if record.get(key) not in (None, "")), "")


def _texts(record: Mapping[str, Any], key: str, where: Path) -> list[str]:
    value: Json = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{where}: `{key}` must be a list of texts.")
    return ["" if item is None else str(item) for item in value]


def _inside(folder: Path, name: str) -> Path:
    """A path that a file names; it may not lead out of the folder."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise InputError(f"{folder}: the path {name!r} leads out of the folder.")
    return path


def _pictures(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [item for item in folder.iterdir() if item.suffix.lower() in (".png", ".jpg", ".jpeg", ".webp")]


def _first_integer(name: str) -> tuple[int, str]:
    found = re.search(r"\d+", name)
    return (int(found[0]) if found else -1, name)


def media_type_of(data: bytes) -> str:
    """By the first bytes; the empty text where it is no picture that models take."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/gif" if data[:4] == b"GIF8" else ""


def _image(path: Path, blobs: WritableBlobs) -> BlobRef:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", hint="Import the whole folder.") from None
    kind = media_type_of(data)
    if not kind:
        raise InputError(f"{path} is not a picture (PNG, JPEG, WebP or GIF).")
    return blobs.write(data, kind)
