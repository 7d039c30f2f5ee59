"""Visitors who speak HTTP to a site's application, without a server in between; and what they changed."""

import httpx

from tests.support.worlds import CACHE
from webassay.sites.kit import Site, World, snapshot
from webassay.sites.snapshots import ChangedRow, Snapshot

HOST = "http://site.test.localhost"


_READ: dict[tuple[str, str, int], Snapshot] = {}
"""By name and schema of the site, and seed. Worlds share it, so opening the next one takes no time."""


def fresh(site: Site, seed: int = 0) -> World:
    key = (site.owner.name, site.owner.schema, seed)
    if key not in _READ:
        _READ[key] = snapshot(site, seed, CACHE)
    return World(site, seed, _READ[key])


def visitor(world: World, user: str = "") -> httpx.AsyncClient:
    cookies = world.site.log_in(world, user) if user else {}
    app = world.site.make_app(world)
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url=HOST, cookies=cookies, headers={"origin": HOST}
    )


def content(world: World) -> list[ChangedRow]:
    """What differs from the snapshot, without rows of which only journal or telemetry has changed."""
    return [change for change in world.diff() if _matters(world, change)]


def _matters(world: World, change: ChangedRow) -> bool:
    kinds = world.site.columns[change.table]
    if change.before is None or change.after is None:
        return set(kinds.values()) != {"telemetry"}
    return any(change.before[name] != change.after[name] for name, kind in kinds.items() if kind == "content")
