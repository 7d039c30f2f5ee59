"""Finding the frame inside an element."""

from webassay.browser.devtools.page import Frame, Page
from webassay.browser.look.observe import owner_of


async def inner_frame(page: Page, frame: Frame, place: int) -> Frame | None:
    """The child whose element has this place among the frames of the document, as walk.js and touch.js count them."""
    for child in page.children(frame.id):
        if child.world is not None and (await owner_of(page, child))["place"] == place:
            return child
    return None
