"""What reference solutions see in a screenshot, where the tree does not say it."""

import io
from typing import Any

from webassay.core.errors import AgentError
from webassay.core.interaction import Node, Observation

_BOX = 12
"""How far to the left of its text the middle of a box is."""
_DARK = 150
"""Darker than this; 255 is white."""
_STAR = 34
"""How wide a star is, in pixels."""
_GOLD = 90
"""How much more red than blue there is in a star that counts; those that do not are gray."""


def _picture(page: Observation, mode: str) -> Any:
    if page.screenshot is None:
        raise AgentError(f"There is no picture of {page.url}.")
    from PIL import Image  # noqa: PLC0415 - few solutions look at pictures

    with Image.open(io.BytesIO(page.screenshot)) as opened:
        return opened.convert(mode)


def ticked(page: Observation) -> list[Node]:
    """The texts to the left of which there is a box with a mark in it."""
    picture = _picture(page, "L")

    def marked(node: Node) -> bool:
        if node.box is None:
            return False
        x, y, _, height = node.box
        left, top = round(x) - _BOX - 1, round(y + height / 2) - 1
        if left < 0 or top < 0 or left + 3 > picture.width or top + 3 > picture.height:
            return False
        spot: bytes = picture.crop((left, top, left + 3, top + 3)).tobytes()
        return min(spot) < _DARK

    return [node for node in page.nodes if node.role == "StaticText" and marked(node)]


def gold_stars(page: Observation, node: Node) -> int:
    """How many of the stars in the place of a node are gold: from the first to the last golden pixel."""
    if node.box is None:
        raise AgentError(f"It cannot be seen where {node.role} {node.id} is on {page.url}.")
    x, y, width, height = (round(value) for value in node.box)
    cut = _picture(page, "RGB").crop((x, y, x + width, y + height))
    pixels: bytes = cut.tobytes()
    golden = [place // 3 % width for place in range(0, len(pixels), 3) if pixels[place] > pixels[place + 2] + _GOLD]
    if not golden:
        raise AgentError(f"There are no stars on {page.url}.")
    return round((max(golden) - min(golden) + 1) / _STAR)
