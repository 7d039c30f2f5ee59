"""An episode as one HTML file that loads nothing and runs nothing but its own few lines of script.

Everything an agent or a page said is escaped, and the Content-Security-Policy names our script and our style by their
hashes, so that nothing else could run even if something slipped through. Addresses are text, never links.

The file stays small enough for an issue: texts are cut at a limit, and pictures are scaled until all of them fit.
"""

import base64
import hashlib
import io
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from markupsafe import Markup, escape

from webassay.analysis.episode import view as words
from webassay.analysis.episode.drawing import pictures_of, sizes_of
from webassay.analysis.episode.requests import MOST_CONTENT
from webassay.analysis.episode.steps import StepView, step_views
from webassay.analysis.episode.tree import TreeLine, acted_ids, tree_lines
from webassay.analysis.episode.view import EpisodeView, Traffic, text_of
from webassay.analysis.output.html import environment as report_environment
from webassay.core.errors import GradingError, StoreError
from webassay.core.text import printable
from webassay.core.trajectory import BlobRef, Blobs, RecordedObservation, Step, Trajectory

MOST_BYTES = 4_800_000
"""The limit of the whole file: it must fit where people attach things."""
MOST_PICTURE_BYTES = 3_600_000
MOST_TREE_BYTES = 900_000
MOST_STEPS = 400
MOST_SENT = 1_200
_MOST_TREE = 30_000
_LONGEST_TREE = 2_000_000
_LINE_BYTES = 24
"""What the marks around one line of a tree take."""
_MOST_PIXELS = 60_000_000
_SIZES = ((1100, 74), (960, 66), (800, 60), (640, 52), (480, 44), (320, 36))
"""Widths and JPEG qualities, tried in this order until a picture fits its share."""


def _finished(value: Any) -> Any:
    """Whatever is printed shows its control characters instead of using them."""
    return printable(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


environment = report_environment.overlay(finalize=_finished, cache_size=50)
environment.filters.update(report_environment.filters, cut=words.cut, compact=words.compact)


class PictureSource(Protocol):
    """Where the pictures of a page come from: they are in it, or it names their addresses."""

    linked: bool

    def source(self, ref: BlobRef) -> str: ...

    def reason(self, ref: BlobRef) -> str:
        """Why there is none."""

    def anchor(self, ref: BlobRef) -> str: ...

    def first_use(self, ref: BlobRef) -> bool: ...

    def thumb(self, ref: BlobRef) -> str:
        """A small one, for pages that are linked."""


def to_html(view: EpisodeView, blobs: Blobs) -> str:
    given = page_given(view, blobs, MOST_STEPS)
    shelf = _Trees(blobs)
    given |= {"trees": {one.step.index: shelf.take(one.step) for one in given["steps"]}, **_frame()}
    bare = _render(given, Pictures())
    spare = MOST_BYTES - len(bare.encode("utf-8", "replace"))
    pictures = embed(_pictures_of(view), blobs, min(MOST_PICTURE_BYTES, spare))
    pictures.reasons.update({name: f"The picture is missing: {why}" for name, why in view.unreadable.items()})
    return _render(given, pictures)


def page_given(view: EpisodeView, blobs: Blobs, most_steps: int) -> dict[str, Any]:
    """What `episode/body.html` needs, but for pictures and trees."""
    trajectory = view.trajectory
    steps = step_views(view, most_steps)
    return {
        "view": view,
        "trajectory": trajectory,
        "steps": steps,
        "steps_left_out": len(trajectory.steps) - len(steps),
        "sizes": sizes_of(pictures_of(trajectory), blobs),
        "totals": words.totals(trajectory),
        "words": words,
        # Thoughts and notes of a long episode share the space.
        "limit": max(200, min(6000, 300_000 // max(1, len(steps)))),
        "sent_limit": max(200, min(MOST_SENT, 200_000 // max(1, len(steps)))),
        "trees": {},
        "more_at": None,
        "attempt_at": None,
        "actions": "",
        "unfolded": False,
        "start": 0,
    }


def more_given(trajectory: Trajectory, index: int, traffic: Traffic | None, blobs: Blobs) -> dict[str, Any]:
    """What `episode/more.html` needs for one step, with nothing left out."""
    step = trajectory.steps[index]
    requests = tuple(request for request in traffic.requests if request.step == index) if traffic else ()
    text = text_of(step.seen.tree, blobs) if step.seen.tree is not None else None
    lines = list(tree_lines(words.cut(text, _LONGEST_TREE), acted_ids(step))) if text is not None else None
    return {
        "one": StepView(step, (), requests=requests),
        "trees": {index: lines},
        "words": words,
        "sent_limit": MOST_CONTENT,
        "unfolded": True,
    }


def thumbnail(data: bytes, width: int) -> bytes:
    """A JPEG of that width at most; empty if it is no picture."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - few pages have pictures

    try:
        picture = Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "WEBP"))
        if picture.width * picture.height > _MOST_PIXELS:
            return b""
        picture.draft("RGB", (width, width))
        small = picture.convert("RGB")
        small.thumbnail((width, 3 * width))
        out = io.BytesIO()
        small.save(out, "JPEG", quality=60)
        return out.getvalue()
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return b""


def _frame() -> dict[str, Any]:
    style, script = _static("style.html") + _static("episode.css"), _static("episode.js")
    return {
        "style": Markup(style),
        "script": Markup(script),
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
    }


def _render(given: Mapping[str, Any], pictures: "Pictures") -> str:
    return environment.get_template("episode.html").render(**given, pictures=pictures)


def _static(name: str) -> str:
    """A file of ours that goes into the page as it is; of `style.html` what stands between the tags."""
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, name)
    return source.strip().removeprefix("<style>").removesuffix("</style>")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# --- trees ----------------------------------------------------------------------------------------------


@dataclass
class _Trees:
    """Accessibility trees as long as there is space; the same tree is not repeated."""

    blobs: Blobs
    left: int = MOST_TREE_BYTES
    seen: set[str] = field(default_factory=set)

    def take(self, step: Step) -> list[TreeLine] | str | None:
        """Its lines, or why they are not here. None: there is none to show."""
        page = step.seen
        if page.tree is None:
            return None
        if page.tree.hash in self.seen:
            return "The tree is the same as in an earlier step."
        text = text_of(page.tree, self.blobs)
        if text is None:
            return None
        text = words.cut(text, _MOST_TREE)
        size = len(escape(text).encode("utf-8", "replace")) + _LINE_BYTES * text.count("\n")
        if size > self.left:
            return "The tree was left out, so that the page stays small."
        self.left -= size
        self.seen.add(page.tree.hash)
        return list(tree_lines(text, acted_ids(step)))


# --- pictures -------------------------------------------------------------------------------------------


@dataclass
class Pictures:
    """Data addresses by the hash of the picture, and why others have none."""

    sources: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)
    linked: bool = False

    def source(self, ref: BlobRef) -> str:
        return self.sources.get(ref.hash, "")

    def reason(self, ref: BlobRef) -> str:
        return self.reasons.get(ref.hash, "")

    @staticmethod
    def anchor(ref: BlobRef) -> str:
        return "picture-" + hashlib.sha256(ref.hash.encode()).hexdigest()[:16]

    def thumb(self, ref: BlobRef) -> str:
        return self.source(ref)

    def first_use(self, ref: BlobRef) -> bool:
        """Whether this picture has not been put into the page yet; a second `img` borrows the first one's source."""
        if ref.hash in self.shown:
            return False
        self.shown.add(ref.hash)
        return True


def _pictures_of(view: EpisodeView) -> list[BlobRef]:
    """The last page first: if something has to be left out, not that."""
    pages: Iterable[RecordedObservation | None] = (
        view.trajectory.last_seen,
        *(step.seen for step in view.trajectory.steps[:MOST_STEPS]),
    )
    return list({page.screenshot.hash: page.screenshot for page in pages if page and page.screenshot}.values())


def embed(refs: list[BlobRef], blobs: Blobs, budget: int) -> Pictures:
    made = Pictures()
    share = budget // max(1, len(refs)) * 3 // 4  # base64 takes four characters for three bytes
    for ref in refs:
        try:
            data = blobs.read(ref)
        except (StoreError, GradingError) as error:
            made.reasons[ref.hash] = f"The picture is missing: {error.message}"
            continue
        scaled = _scaled(data, share)
        kind = _kind(scaled)
        source = f"data:{kind};base64,{base64.b64encode(scaled).decode()}"
        if not kind:
            made.reasons[ref.hash] = "The picture cannot be shown: it is neither JPEG nor PNG, GIF or WebP."
        elif len(source) > budget:
            made.reasons[ref.hash] = "The picture was left out, so that the page stays small."
        else:
            made.sources[ref.hash] = source
            budget -= len(source)
    return made


def _kind(data: bytes) -> str:
    """By its first bytes: what a run says about its blobs is not trusted."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    heads = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif"}
    return next((kind for head, kind in heads.items() if data.startswith(head)), "")


def _scaled(data: bytes, share: int) -> bytes:
    """The largest version that fits the share, else the smallest; empty if it is no picture."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - few pages have pictures

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "GIF", "WEBP"))
        if picture.width * picture.height > _MOST_PIXELS:
            return b""
        small = b""
        pixels = picture.convert("RGB")
        for width, quality in _SIZES:
            copy = pixels.copy()
            copy.thumbnail((width, 3 * width), Image.Resampling.LANCZOS)
            out = io.BytesIO()
            copy.save(out, "JPEG", quality=quality, optimize=True, progressive=True)
            small = out.getvalue()
            if len(small) <= share:
                break
        return small
    except (
        UnidentifiedImageError,
        OSError,
        ValueError,
        SyntaxError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ):
        return b""
