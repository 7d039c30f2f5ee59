"""What a judge gets to see (goal, numbered history, pages in order), and how it is fenced.

A page, an agent or a user wrote almost all of it, and any of it may say "mark this as a success". So `PromptBuilder`
puts data between two marks with a key that occurs nowhere in the data. The key is derived from the data: the same
question is the same text everywhere, and no data can close its own fence.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from webassay.core.errors import GradingError
from webassay.core.interaction import Goal
from webassay.core.trajectory import BlobRef, Blobs, RecordedObservation, Step, Trajectory
from webassay.judging.pictures import shrink
from webassay.llm.client import Image, Message

NO_ANSWER = "(no answer was given)"

_MOST_NOTICES = 5
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BROWSER_START = re.compile(r"^https?://(www\.)?(bing\.com/?|google\.com/?)$|^about:blank$")


# --- pages ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaseFrame:
    """One page of the trajectory. Numbers start at 1 and stay the same when other pages are dropped."""

    number: int
    step: int
    """Index of the step that started on this page; the page after the last action has the number of steps."""
    seen: RecordedObservation
    also: tuple[int, ...] = ()
    """Numbers of earlier frames with the same picture and the same text, which are not shown again."""
    earlier_steps: tuple[int, ...] = ()
    """Indexes of the steps that started on those."""

    @property
    def screenshot(self) -> BlobRef | None:
        return self.seen.screenshot

    @property
    def readable(self) -> BlobRef | None:
        """The page's text, or its accessibility tree if there is no text."""
        return self.seen.text or self.seen.tree

    @property
    def numbers(self) -> tuple[int, ...]:
        return (*self.also, self.number)


def frames_of(trajectory: Trajectory, *, text: bool, merge: bool) -> tuple[CaseFrame, ...]:
    """In order of time. Without `text`, only pictures count. `merge` keeps the last of identical frames."""
    seen = [step.seen for step in trajectory.steps]
    if trajectory.last_seen is not None:
        seen.append(trajectory.last_seen)
    frames: list[CaseFrame] = []
    for index, page in enumerate(seen):
        if page.screenshot is not None or (text and (page.text or page.tree)):
            frames.append(CaseFrame(len(frames) + 1, index, page))
    if not merge:
        return tuple(frames)
    kept: dict[tuple[str, ...], CaseFrame] = {}
    for frame in frames:
        same = tuple(ref.hash if ref else "" for ref in (frame.seen.screenshot, frame.seen.text, frame.seen.tree))
        before = kept.pop(same, None)
        if before is not None:
            frame = replace(frame, also=before.numbers, earlier_steps=(*before.earlier_steps, before.step))
        kept[same] = frame
    return tuple(sorted(kept.values(), key=lambda frame: frame.number))


# --- the case -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    goal: Goal
    trajectory: Trajectory
    blobs: Blobs
    frames: tuple[CaseFrame, ...]
    total_frames: int
    max_side: int = 0
    """Pictures are scaled down to this many pixels on the longer side; 0 leaves them alone."""

    @classmethod
    def of(
        cls,
        goal: Goal,
        trajectory: Trajectory,
        blobs: Blobs,
        *,
        text: bool = False,
        merge: bool = False,
        max_side: int = 0,
    ) -> "Case":
        total = len(frames_of(trajectory, text=text, merge=False))
        return cls(goal, trajectory, blobs, frames_of(trajectory, text=text, merge=merge), total, max_side)

    @property
    def answer(self) -> str:
        return self.trajectory.answer or NO_ANSWER

    @property
    def start(self) -> str:
        """The start pages that belong to the task. A search engine's front page does not."""
        at = self.goal.at(self.trajectory.bases)
        return " ".join(url for url in at.start_urls if not _BROWSER_START.match(url))

    def picture(self, frame: CaseFrame) -> Image | None:
        if frame.screenshot is None:
            return None
        data, kind = shrink(self.blobs.read(frame.screenshot), frame.screenshot.media_type, self.max_side)
        return Image(data, kind)


def read_text(blobs: Blobs, ref: BlobRef) -> str:
    try:
        return blobs.read(ref).decode("utf-8", "replace")
    except OSError as error:
        raise GradingError(f"Blob {ref.hash} cannot be read: {error}.") from error


def notices_after(trajectory: Trajectory) -> list[list[str]]:
    """What the page after each step said. It answers this step's action, but is recorded with the next step."""
    told: list[RecordedObservation | None] = [
        # Where somebody else drives, several actions are recorded with the page that was looked at before them all.
        None if "driven" in following.info else following.seen
        for following in trajectory.steps[1:]
    ]
    # After a fault nobody looked again.
    told.append(None if trajectory.ending.kind == "fault" else trajectory.last_seen)
    return [notices_of(seen) for seen in told]


def notices_of(seen: RecordedObservation | None) -> list[str]:
    return [clip(notice, 300) for notice in seen.notices[:_MOST_NOTICES]] if seen is not None else []


def describe_step(step: Step, notices: Sequence[str]) -> str:
    lines = [f"Action {step.index + 1}: {clip(acted_in(step) or '(nothing)', 2000)}"]
    if step.seen.url:
        lines.append(f"  Page: {clip(on_one_line(step.seen.url), 300)}")
    if step.error:
        lines.append(f"  Error! {clip(on_one_line(step.error), 500)}")
    lines += [f"  Notice after this action: {on_one_line(notice)}" for notice in notices]
    return "\n".join(lines)


def acted_in(step: Step) -> str:
    """The actions of a step, on one line."""
    return on_one_line("; ".join(action.text for action in step.actions) or step.action_text)


def on_one_line(text: str) -> str:
    """With its line breaks written as `\\n`: in a numbered list, no text of an agent or a page must look like an
    entry of its own."""
    return "\\n".join(text.splitlines())


def clip(text: str, limit: int) -> str:
    """The beginning and the end, with a note of how much was left out."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    gap = len(text) - limit
    return f"{text[: limit - tail]} [… {gap} characters left out …] {text[len(text) - tail :]}"


# --- prompts --------------------------------------------------------------------------------------------


@dataclass
class PromptBuilder:
    """Builds a user message."""

    _parts: list[str | Image | tuple[str, str]] = field(default_factory=list)

    def note(self, text: str) -> "PromptBuilder":
        """Our own words, never anything from outside."""
        self._parts.append(text)
        return self

    def data(self, label: str, text: str) -> "PromptBuilder":
        self._parts.append((label, clean(text)))
        return self

    def picture(self, image: Image | None) -> "PromptBuilder":
        if image is not None:
            self._parts.append(image)
        return self

    def message(self) -> Message:
        key = fence_key([part[1] for part in self._parts if isinstance(part, tuple)])
        parts: list[str | Image] = []
        for part in self._parts:
            text = f"[[DATA {key} {part[0]}]]\n{part[1]}\n[[END {key}]]" if isinstance(part, tuple) else part
            if isinstance(text, str) and parts and isinstance(parts[-1], str):
                parts[-1] = f"{parts[-1]}\n\n{text}"
            else:
                parts.append(text)
        return Message("user", tuple(parts))


def fence_key(texts: Sequence[str]) -> str:
    """Twelve hex digits that occur in none of the texts."""
    digest = hashlib.sha256("\x00".join(texts).encode("utf-8"))
    while any(digest.hexdigest()[:12] in text for text in texts):
        digest.update(b"+")
    return digest.hexdigest()[:12]


def clean(text: str) -> str:
    """Replaces what no request can carry: lone surrogates and control characters."""
    return _CONTROL.sub(" ", text.encode("utf-8", "replace").decode("utf-8"))
