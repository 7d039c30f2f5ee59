"""What reference solutions see in a screenshot, where the tree does not say it."""

import importlib.util
import io

from webassay.core.errors import AgentError
from webassay.core.interaction import Node, Observation

_BOX = 12
"""How far to the left of its text the middle of a box is."""
_DARK = 150
"""Of 255, which is white."""


def ticked(page: Observation) -> list[Node]:
    """The texts to the left of which there is a box with a mark in it."""
    if page.screenshot is None:
        raise AgentError(f"There is no picture of {page.url}.")
    if importlib.util.find_spec("PIL") is None:
        raise AgentError("To look at pictures, the reference solution needs Pillow.", hint="pip install pillow")
    from PIL import Image  # noqa: PLC0415 - an optional extra

    with Image.open(io.BytesIO(page.screenshot)) as opened:
        picture = opened.convert("L")

    def marked(node: Node) -> bool:
        if node.box is None:
            return False
        x, y, _, height = node.box
        left, top = round(x) - _BOX - 1, round(y + height / 2) - 1
        if left < 0 or top < 0 or left + 3 > picture.width or top + 3 > picture.height:
            return False
        return min(picture.crop((left, top, left + 3, top + 3)).tobytes()) < _DARK

    return [node for node in page.nodes if node.role == "StaticText" and marked(node)]
