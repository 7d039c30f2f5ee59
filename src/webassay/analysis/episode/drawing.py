"""What a step did, as shapes on the picture that was taken before it."""

import io
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from webassay.core.errors import GradingError, StoreError
from webassay.core.interaction import Action
from webassay.core.trajectory import BlobRef, Blobs, Step, Trajectory

Shape = Literal["box", "point", "arrow"]

_TYPED = {"fill": "value", "keyboard_type": "text", "keyboard_insert_text": "text", "press": "key_comb"}
_KEYS = {"keyboard_press": "key", "keyboard_down": "key", "keyboard_up": "key"}
_LONGEST = 60
_LARGEST = 100_000.0


@dataclass(frozen=True)
class ActionMark:
    """In pixels of the picture. A box has a size; an arrow ends that far from where it begins."""

    shape: Shape
    action: int
    """Position in the step's actions."""
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    label: str = ""

    def is_in(self, size: tuple[int, int]) -> bool:
        x, y = self.middle
        return 0 <= x < size[0] and 0 <= y < size[1]

    @property
    def middle(self) -> tuple[float, float]:
        return (self.x + self.width / 2, self.y + self.height / 2) if self.shape == "box" else (self.x, self.y)


def marks_of(step: Step) -> tuple[ActionMark, ...]:
    """Only for what is done on the screen: opening an address has no shape."""
    found = [mark for position, action in enumerate(step.actions) for mark in _of_action(step, position, action)]
    if not step.actions:
        found += _of_others(step.info)
    return tuple(mark for mark in found if all(abs(n) < _LARGEST for n in (mark.x, mark.y, mark.width, mark.height)))


def _of_action(step: Step, position: int, action: Action) -> Iterator[ActionMark]:
    label = label_of(action)
    boxes = {aim.argument: aim.box for aim in step.aims if aim.action == position}
    for box in boxes.values():
        yield ActionMark("box", position, *box, label=label)
        label = ""
    if "from_bid" in boxes and "to_bid" in boxes:
        (x, y), (to_x, to_y) = (_middle(boxes[name]) for name in ("from_bid", "to_bid"))
        yield ActionMark("arrow", position, x, y, to_x - x, to_y - y)
    given = {name: value for name, value in action.args.items() if isinstance(value, int | float)}
    if "from_x" in given and "to_x" in given:
        x, y, to_x, to_y = (float(given.get(name, 0)) for name in ("from_x", "from_y", "to_x", "to_y"))
        yield ActionMark("arrow", position, x, y, to_x - x, to_y - y, label=label)
    elif "x" in given and "y" in given:
        yield ActionMark("point", position, float(given["x"]), float(given["y"]), label=label)


def _middle(box: tuple[float, float, float, float]) -> tuple[float, float]:
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def _of_others(info: Mapping[str, Any]) -> Iterator[ActionMark]:
    """Recorders of others keep their own arguments; a `coordinate` is a point of the picture."""
    given = info.get("arguments")
    if not isinstance(given, dict):
        return
    point = given.get("coordinate")
    if isinstance(point, list) and len(point) == 2 and all(_is_number(one) for one in point):
        typed = given.get("text", given.get("text_value"))
        label = " ".join(
            filter(None, (str(info.get("action") or ""), _quoted(typed) if isinstance(typed, str) else ""))
        )
        yield ActionMark("point", 0, float(point[0]), float(point[1]), label=label)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def label_of(action: Action) -> str:
    """In short, with what was typed."""
    name = action.name.removeprefix("mouse_").replace("_", " ")
    for names in (_TYPED, _KEYS):
        value = action.args.get(names.get(action.name, ""))
        if isinstance(value, str):
            return f"{name} {_quoted(value)}"
    options = action.args.get("options")
    if isinstance(options, list):
        return f"select {', '.join(_quoted(str(one)) for one in options[:3])}"
    return name


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line[: _LONGEST - 1]}…”" if len(line) > _LONGEST else f"“{line}”"


# --- pictures -----------------------------------------------------------------------------------------------


def pictures_of(trajectory: Trajectory) -> dict[str, BlobRef]:
    """By their hash, in the order in which they were taken."""
    pages = [step.seen for step in trajectory.steps]
    pages += [trajectory.last_seen] if trajectory.last_seen is not None else []
    return {page.screenshot.hash: page.screenshot for page in pages if page.screenshot is not None}


def sizes_of(refs: Mapping[str, BlobRef], blobs: Blobs) -> dict[str, tuple[int, int]]:
    """Width and height of each picture, from its head; those that cannot be read are left out."""
    found = {}
    for name, ref in refs.items():
        try:
            with blobs.open(ref) as stream:
                size = size_in(stream.read(_HEAD))
        except (StoreError, GradingError, OSError):
            continue
        if size is not None:
            found[name] = size
    return found


_HEAD = 65_536


def _size_by_pillow(head: bytes) -> tuple[int, int] | None:
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - pictures of others

    try:
        return Image.open(io.BytesIO(head), formats=("GIF", "WEBP")).size
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def size_in(head: bytes) -> tuple[int, int] | None:
    """Hundreds of pictures are asked, so the two kinds that are recorded are read here. None: it is no picture."""
    if head[:4] in (b"GIF8", b"RIFF"):
        return _size_by_pillow(head)
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        width, height = struct.unpack(">II", head[16:24])
        return (width, height) if width and height else None
    if head[:2] != b"\xff\xd8":
        return None
    stream = io.BytesIO(head[2:])
    while len(marker := stream.read(4)) == 4 and marker[0] == 0xFF:
        kind, length = marker[1], struct.unpack(">H", marker[2:])[0]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            frame = stream.read(5)
            if len(frame) < 5:
                return None
            height, width = struct.unpack(">HH", frame[1:])
            return (width, height) if width and height else None
        stream.seek(max(0, length - 2), io.SEEK_CUR)
    return None
