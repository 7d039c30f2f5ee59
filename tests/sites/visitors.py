"""Visitors who speak HTTP to a site's application, without a server in between; and what they changed."""

import httpx

from tests.worlds import CACHE
from webassay.sites.kit import Site, World, snapshot
from webassay.sites.snapshots import Change

HOST = "http://site.test.localhost"


def fresh(site: Site, seed: int = 0) -> World:
    return World(site, seed, snapshot(site, seed, CACHE))


def visitor(world: World, user: str = "") -> httpx.AsyncClient:
    cookies = world.site.log_in(world, user) if user else {}
    app = world.site.make_app(world)
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url=HOST, cookies=cookies, headers={"origin": HOST}
    )


def content(world: World) -> list[Change]:
    """What differs from the snapshot, without rows of which only journal or telemetry has changed."""
    return [change for change in world.diff() if _matters(world, change)]


def _matters(world: World, change: Change) -> bool:
    kinds = world.site.columns[change.table]
    if change.before is None or change.after is None:
        return set(kinds.values()) != {"telemetry"}
    return any(change.before[name] != change.after[name] for name, kind in kinds.items() if kind == "content")
