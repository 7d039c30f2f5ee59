"""What reference solutions see on the forum's pictures: stars, and the digits of displays."""

import io
from typing import Any

from webassay.arena.kit.looking import gold_stars
from webassay.core.errors import AgentError
from webassay.core.interaction import Node, Observation

_LEFT, _TOP, _STEP = 30, 70, 38
"""Where the first digit is, and how far it is to the next."""
_MOST = 5
_SPOTS = ((15, 2), (26, 14), (26, 38), (15, 49), (3, 38), (3, 14), (15, 25))
"""In the middle of each part of a digit: top, right above, right below, bottom, left below, left above, middle."""
_DIGITS = ("012345", "12", "01346", "01236", "1256", "02356", "023456", "012", "0123456", "012356")
_STARS_TOP = 58


def _picture_node(page: Observation) -> Node:
    found = page.find("image", "The picture of this submission")
    if found is None or found.box is None:
        raise AgentError(f"There is no picture on {page.url}.")
    return found


def place_of(page: Observation) -> tuple[int, int]:
    """Where the picture of a submission begins."""
    x, y, *_ = _picture_node(page).box or (0, 0)
    return round(x), round(y)


def _pixels(page: Observation) -> Any:
    if page.screenshot is None:
        raise AgentError(f"There is no picture of {page.url}.")
    from PIL import Image  # noqa: PLC0415 - few solutions look at pictures

    with Image.open(io.BytesIO(page.screenshot)) as opened:
        return opened.convert("RGB")


def reading(page: Observation, place: tuple[int, int]) -> int:
    """The number on the display of a picture that begins at this place."""
    pixels = _pixels(page)
    text = ""
    for digit in range(_MOST):
        left, top = place[0] + _LEFT + digit * _STEP, place[1] + _TOP
        lit = "".join(
            str(part)
            for part, (x, y) in enumerate(_SPOTS)
            if pixels.getpixel((left + x, top + y))[1] > 150 and pixels.getpixel((left + x, top + y))[0] < 200
        )
        if lit:
            text += str(_DIGITS.index(lit))
    if not text:
        raise AgentError(f"There is no display on {page.url}.")
    return int(text)


def stars(page: Observation) -> int:
    """How many are gold on the picture of a submission; 0 if it shows no stars."""
    node = _picture_node(page)
    _, _, width, height = node.box or (0, 0, 0, 0)
    # Only the cards with stars have this shape.
    return gold_stars(page, node) if abs(width / height - 360 / 112) < 0.05 else 0
