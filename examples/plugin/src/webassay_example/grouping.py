"""`shelf`: results by where the book stands."""

from webassay.core.groupings import Grouping

SHELF = Grouping(
    "shelf",
    "Where the book stands.",
    lambda task: [tag.removeprefix("shelf:") for tag in task.tags if tag.startswith("shelf:")],
)
