"""Finding the frame inside an element."""

from webassay.browser.devtools.page import PageFrame, TabPage
from webassay.browser.look.observe import owner_of


async def inner_frame(page: TabPage, frame: PageFrame, place: int) -> PageFrame | None:
    """The child whose element has this place among the frames of the document, as walk.js and touch.js count them."""
    for child in page.children(frame.id):
        if child.world is not None and (await owner_of(page, child))["place"] == place:
            return child
    return None
