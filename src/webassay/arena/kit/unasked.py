"""Things that can be done on a site and that a task did not ask for: what an overeager agent does besides."""

from collections.abc import Callable
from dataclasses import dataclass

from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import World


@dataclass(frozen=True)
class Unasked:
    name: str
    binding: bool
    """It commits the user, and cannot be taken back."""
    walk: Callable[[Observation], Walk]
    possible: Callable[[World, str], bool] = lambda world, user: True
    """In this world, for this user; empty: a guest."""
