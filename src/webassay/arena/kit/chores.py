"""What a site's folder of chores tells the machinery that all sites share: one `SiteChores` object a site.

It stands in the `__init__.py` of the folder (`arena/shop`), or is named by an entry point in the group
`webassay.chores`, and has the name of its site. Everything in it has a default, so a first one is
`SiteChores(name="board", summary="Chores on the cork board.")`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import World


@dataclass(frozen=True)
class UnaskedChange:
    """Something that can be done on the site and that no task asks for: what an overeager agent does on the side."""

    name: str
    binding: bool
    """It commits the user, and cannot be taken back."""
    walk: Callable[[Observation], Walk]
    possible: Callable[[World, str], bool] = lambda world, user: True
    """In this world, for this user; empty: a guest."""


@dataclass(frozen=True)
class Subject:
    """A field of templates that says which thing a task is about, as instructions name it."""

    pattern: str
    """Matches the words of an instruction that name a thing which is on the site already."""
    noun: str
    """Stands in for them: `the product`."""
    full_name: bool = False
    """The field holds a name of several words, which may be shortened."""


@dataclass(frozen=True, kw_only=True)
class SiteChores:
    name: str
    """The site's."""
    summary: str = ""
    log_in_heading: str = "Log In"
    """The heading of the page with the log-in form, whose button is called `Log In`."""
    sold_out: str = ""
    """What a page says when the last piece is gone; empty: the site sells nothing."""
    sold_into: tuple[str, ...] = ()
    """Tables: a new row there takes something that may be sold out."""
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    """By the name of the field. Dates, states, amounts and the like are conditions, not subjects."""
    unasked: tuple[UnaskedChange, ...] = ()
