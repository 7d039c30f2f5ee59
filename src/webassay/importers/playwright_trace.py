"""An episode as a Playwright trace, for `playwright show-trace` and trace.playwright.dev.

The trace has an action for each action of the agent, with the picture before it as its snapshot and the element
marked, what the agent thought as its log, its tree and notes as attachments, and the requests and the console of the
pages. It is written in version 8 of the format, which viewers from 1.53 on read.
"""

import base64
import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO

from webassay.core.errors import GradingError, InputError, StoreError
from webassay.core.interaction import Action
from webassay.core.text import printable
from webassay.core.trajectory import BlobRef, Blobs, Exchange, RecordedObservation, Step, Trajectory
from webassay.importers.har import entry_of

_VERSION = 8
_PAGE, _FRAME = "page@1", "frame@1"
_SIZE = (1280, 720)
_LONGEST = 100_000
_UNKNOWN_SECONDS = 1.0
"""How long a step is shown whose time nobody noted."""
_FIRST_MS = 1.0
"""The viewer reads 0 as no time at all."""


def write_trace(trajectory: Trajectory, blobs: Blobs, out: BinaryIO, sizes: Mapping[str, tuple[int, int]]) -> None:
    """`sizes`: width and height of the pictures, by their hash."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        writer = _TraceWriter(trajectory, blobs, archive, sizes)
        lines = list(writer.lines())
        archive.writestr("trace.trace", "".join(json.dumps(line) + "\n" for line in lines))
        archive.writestr("trace.network", "".join(json.dumps(line) + "\n" for line in _network(trajectory, blobs)))


@dataclass
class _TraceWriter:
    trajectory: Trajectory
    blobs: Blobs
    archive: zipfile.ZipFile
    sizes: Mapping[str, tuple[int, int]]
    _stored: set[str] = field(default_factory=set)

    def lines(self) -> Iterator[dict[str, Any]]:
        started, goal = _wall_time(self.trajectory), self.trajectory.goal
        yield {
            "type": "context-options",
            "version": _VERSION,
            "origin": "library",
            "browserName": "chromium",
            "options": {"viewport": {"width": _SIZE[0], "height": _SIZE[1]}},
            "platform": "",
            "wallTime": started,
            "monotonicTime": _FIRST_MS,
            "sdkLanguage": "python",
            "testIdAttributeName": "data-testid",
            "contextId": "context@1",
            "title": printable(goal.instruction)[:300],
        }
        now = _FIRST_MS
        for step in self.trajectory.steps:
            now = max(now, _FIRST_MS + 1000 * step.timing.at) if step.timing.at is not None else now
            yield from self._step(step, now)
            now += 1000 * _seconds(step)
        last = self.trajectory.last_seen
        if last is not None:
            yield from self._picture(last, now)
            yield from self._call("end", now, now + 1, _the_end(self.trajectory), last, self._after_the_end())

    def _step(self, step: Step, at: float) -> Iterator[dict[str, Any]]:
        yield from self._picture(step.seen, at)
        begins = at + 1000 * step.timing.decide
        ends = at + 1000 * _seconds(step)
        titles = [action.text for action in step.actions] or [step.action_text or "(no action)"]
        share = max(0.0, ends - begins) / len(titles)
        for position, title in enumerate(titles):
            call = f"step{step.index + 1}.{position + 1}"
            action = step.actions[position] if step.actions else None
            last = position == len(titles) - 1
            after: dict[str, Any] = {"attachments": self._attachments(step)} if last else {}
            if step.error and last:
                after["error"] = {"name": "Error", "message": printable(step.error, lines=True)[:_LONGEST]}
            shown = f"{step.index + 1}: {printable(title)[:200]}"
            box = next((aim.box for aim in step.aims if aim.action == position), None)
            start = begins + position * share
            told = _Told(shown, action, box, _thoughts(step) if position == 0 else ())
            yield from self._call(call, start, start + share, told, step.seen, after)
        for line in step.console:
            kind, _, text = line.partition(": ")
            place = {"url": step.seen.url, "lineNumber": 0, "columnNumber": 0}
            yield {
                "type": "console", "time": ends, "pageId": _PAGE, "messageType": kind, "text": text, "args": [],
                "location": place,
            }  # fmt: skip

    def _call(
        self, call: str, start: float, end: float, told: "_Told", seen: RecordedObservation, after: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        args = dict(told.action.args) if told.action else {}
        method = told.action.name if told.action else "step"
        yield {
            "type": "before", "callId": call, "startTime": start, "title": told.title, "class": "Page",
            "method": method, "params": args, "pageId": _PAGE, "beforeSnapshot": f"before@{call}",
        }  # fmt: skip
        yield from self._snapshot(call, "before", seen, start, None)
        for message in told.log:
            yield {"type": "log", "callId": call, "time": start, "message": message}
        point = _point(told)
        if point is not None:
            named = {"x": point[0], "y": point[1]}
            yield {"type": "input", "callId": call, "inputSnapshot": f"input@{call}", "point": named}
            yield from self._snapshot(call, "input", seen, start, told.box)
        yield {"type": "after", "callId": call, "endTime": end, **after}

    def _snapshot(
        self,
        call: str,
        phase: str,
        seen: RecordedObservation,
        at: float,
        box: tuple[float, float, float, float] | None,
    ) -> Iterator[dict[str, Any]]:
        width, height = self._size(seen)
        body: list[Any] = ["BODY", {"style": "margin:0;font:14px monospace"}]
        data = self._read(seen.screenshot)
        if data and seen.screenshot is not None:
            source = f"data:{_media_type(data)};base64,{base64.b64encode(data).decode()}"
            style = f"display:block;width:{width}px;height:{height}px"
            body.append(["IMG", {"src": source, "alt": "The page before the action", "style": style}])
        else:
            body.append(["PRE", {}, self._text(seen.tree) or "No picture was recorded."])
        if box is not None:
            x, y, across, down = box
            style = f"position:absolute;left:{x}px;top:{y}px;width:{across}px;height:{down}px"
            body.append(["DIV", {"style": style, "__playwright_target__": call}])
        yield {
            "type": "frame-snapshot",
            "snapshot": {
                "callId": call, "snapshotName": f"{phase}@{call}", "pageId": _PAGE, "frameId": _FRAME,
                "frameUrl": seen.url or "about:blank", "doctype": "html", "timestamp": at, "collectionTime": 0,
                "html": ["HTML", {}, ["HEAD", {}, ["TITLE", {}, seen.title]], body], "resourceOverrides": [],
                "viewport": {"width": width, "height": height}, "isMainFrame": True,
            },
        }  # fmt: skip

    def _picture(self, seen: RecordedObservation, at: float) -> Iterator[dict[str, Any]]:
        data = self._read(seen.screenshot)
        if data:
            width, height = self._size(seen)
            ending = _media_type(data).removeprefix("image/")
            name = self._store(data, ending)
            yield {
                "type": "screencast-frame", "pageId": _PAGE, "sha1": name, "width": width, "height": height,
                "timestamp": at,
            }  # fmt: skip

    def _attachments(self, step: Step) -> list[dict[str, str]]:
        texts = {"tree": self._text(step.seen.tree), "memory": step.memory, "model reply": step.raw}
        return self._attached(texts)

    def _after_the_end(self) -> dict[str, Any]:
        seen = self.trajectory.last_seen
        texts = {
            "goal": self.trajectory.goal.instruction,
            "answer": self.trajectory.answer,
            "tree": self._text(seen.tree) if seen else "",
        }
        return {"attachments": self._attached(texts)}

    def _attached(self, texts: Mapping[str, str]) -> list[dict[str, str]]:
        return [
            {"name": name, "contentType": "text/plain", "sha1": self._store(text.encode("utf-8", "replace"), "txt")}
            for name, text in texts.items()
            if text
        ]

    def _store(self, data: bytes, ending: str) -> str:
        name = f"{hashlib.sha1(data, usedforsecurity=False).hexdigest()}.{ending}"
        if name not in self._stored:
            self._stored.add(name)
            self.archive.writestr(f"resources/{name}", data)
        return name

    def _size(self, seen: RecordedObservation) -> tuple[int, int]:
        return self.sizes.get(seen.screenshot.hash, _SIZE) if seen.screenshot else _SIZE

    def _text(self, ref: BlobRef | None) -> str:
        return self._read(ref).decode("utf-8", "replace")

    def _read(self, ref: BlobRef | None) -> bytes:
        """What cannot be read is left out: a trace of the rest is better than none."""
        try:
            return self.blobs.read(ref) if ref is not None else b""
        except (StoreError, GradingError):
            return b""


@dataclass(frozen=True)
class _Told:
    """What is said of one action."""

    title: str
    action: Action | None = None
    box: tuple[float, float, float, float] | None = None
    log: tuple[str, ...] = ()


def _the_end(trajectory: Trajectory) -> _Told:
    said = printable(trajectory.answer)[:200]
    return _Told(f"end: {trajectory.ending.kind.replace('_', ' ')}" + (f", {said}" if said else ""))


def _thoughts(step: Step) -> tuple[str, ...]:
    told = (("thought", step.thought), *(("notice", notice) for notice in step.seen.notices))
    lines = [f"{name}: {printable(text, lines=True)[:_LONGEST]}" for name, text in told if text]
    if step.usage is not None:
        usage = step.usage
        lines.append(f"model: {usage.calls} calls, {usage.input_tokens} tokens in, {usage.output_tokens} out")
    return tuple(lines)


def _point(told: _Told) -> tuple[float, float] | None:
    """Where the mouse went."""
    if told.box is not None:
        x, y, width, height = told.box
        return x + width / 2, y + height / 2
    args = told.action.args if told.action else {}
    for first, second in (("x", "y"), ("from_x", "from_y")):
        x, y = args.get(first), args.get(second)  # type: ignore[assignment]
        if isinstance(x, int | float) and isinstance(y, int | float):
            return float(x), float(y)
    return None


def _seconds(step: Step) -> float:
    timing = step.timing
    return timing.decide + timing.act + timing.settle or _UNKNOWN_SECONDS


def _media_type(data: bytes) -> str:
    return "image/png" if data.startswith(b"\x89PNG") else "image/jpeg"


def _wall_time(trajectory: Trajectory) -> float:
    try:
        return datetime.fromisoformat(trajectory.started_at).timestamp() * 1000
    except ValueError:
        return 0.0


def _network(trajectory: Trajectory, blobs: Blobs) -> Iterator[dict[str, Any]]:
    """Only from our own logs, which say when each request was made."""
    log = trajectory.network
    if log is None or log.format != "exchanges":
        return
    start = datetime.fromtimestamp(_wall_time(trajectory) / 1000, UTC)
    try:
        with blobs.open(log.blob) as stream:
            made = [Exchange.model_validate_json(line) for line in stream if line.strip()]
    except (StoreError, GradingError, ValueError):
        return
    for one in made:
        entry = entry_of(one, start)
        times = {"pageref": _PAGE, "_frameref": _FRAME, "_monotonicTime": _FIRST_MS + 1000 * one.time}
        yield {"type": "resource-snapshot", "snapshot": {**entry, **times}}


def refuse_empty(trajectory: Trajectory) -> None:
    if not trajectory.steps and trajectory.last_seen is None:
        raise InputError(
            "This episode has no steps and no pages, so there is nothing to trace.",
            hint="`webassay show RUN UNIT` tells how it ended.",
        )
