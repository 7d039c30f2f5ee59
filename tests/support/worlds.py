"""Where tests keep built worlds, so that each is built once on a machine and not once in every process."""

from functools import cache

from webassay.compose.registries import CHORES
from webassay.compose.setup import Setup, default_cache
from webassay.compose.tasks import open_world, sites
from webassay.environments.arena import Arena
from webassay.sites.kit import World
from webassay.workbench import Workbench

CACHE = default_cache()


def bench() -> Workbench:
    return Workbench(cache=CACHE)


def arena() -> Arena:
    return Arena(sites(), cache=CACHE)


@cache
def worlds(seed: int = 0, scale: str = "") -> dict[str, World]:
    """Those of every site with chores, opened once: they are only read."""
    return {site: open_world(Setup(cache=CACHE), site, seed, scale) for site in CHORES.built_in()}


def shop(seed: int = 0) -> World:
    return open_world(Setup(cache=CACHE), "shop", seed)
