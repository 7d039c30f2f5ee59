"""What runs until it is stopped: the sites in a person's own browser, and a stand-in for a model."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from webassay.benchmarks.base import Selection
from webassay.browser.devtools.install import ensure_chromium
from webassay.compose.given import AnyPath, Names, names
from webassay.compose.registries import SITES
from webassay.compose.setup import Setup
from webassay.compose.tasks import query, select, sites
from webassay.core.errors import InputError
from webassay.core.registry import nearest
from webassay.environments.arena import Arena, ArenaStage
from webassay.llm.replay import Script, replaying


async def serve(
    setup: Setup, *, port: int, seed: int = 0, users: Names = (), ready: Callable[[ArenaStage], None]
) -> None:
    """The embedded sites on a port of this machine, until canceled; the next start is pristine again. `users`:
    SITE=NAME, to be logged in."""
    known, logins = sites(setup.tell), _logins(names(users))
    for site in logins:
        if site not in known:
            raise nearest("site", site, known)
    async with (
        Arena(known, cache=setup.cache, port=port) as arena,
        arena.hold(list(known), seed, logins=logins, label="demo") as stage,
    ):
        ready(stage)
        await arena.wait()


@dataclass(frozen=True)
class Tryout:
    """What a person needs to look around on a site."""

    site: str
    log_in_path: str
    users: tuple[str, ...]
    """What each one types, field by field, and who it is."""
    goal: str
    """A task to try by hand."""


TO_TRY = {"shop": "shop.rating-distribution", "admin": "admin.busiest-buyers"}


def tryouts(setup: Setup, seed: int = 0) -> list[Tryout]:
    found = []
    for site in SITES.usable(setup.tell):
        rows = query(setup, site.name, site.some_users, seed) if site.some_users else []
        users = [tuple(map(str, row.values())) for row in rows]
        typed = [", ".join(f"{key} {value}" for key, value in site.credentials(name).items()) for name, _ in users]
        chosen = (
            Selection(templates=(TO_TRY[site.name],), instances=1, world_seed=seed) if site.name in TO_TRY else None
        )
        goal = select(chosen, setup).tasks[0].goal.instruction if chosen else ""
        said = tuple(f"{text} ({who})" for text, (_, who) in zip(typed, users, strict=True))
        found.append(Tryout(site.name, site.log_in_path, said, goal))
    return found


def _logins(given: list[str]) -> dict[str, str]:
    """`SITE=USER`, or a bare user if only one site has accounts."""
    logins: dict[str, str] = {}
    for text in given:
        site, equals, user = text.partition("=")
        if not equals:
            known = [site.name for site in SITES if site.has_accounts]
            if len(known) != 1:
                raise InputError(
                    f"{text!r} names a user but no site.", hint=f"Write SITE={text}, with one of {', '.join(known)}."
                )
            site, user = known[0], text
        logins[site] = user
    return logins


async def replay_model(setup: Setup, script: AnyPath, *, port: int, ready: Callable[[str], None]) -> None:
    """Stands in for a model, with scripted replies, until canceled; `ready` hears the address."""
    async with replaying(Script.load(Path(script)), port=port) as server:
        ready(server.url)
        await asyncio.Event().wait()


def install_chromium(setup: Setup, tell: Callable[[str], None]) -> Path:
    """Finds a Chromium or installs one; `tell` hears which commands are tried."""
    return ensure_chromium(setup.chromium, tell=tell)
