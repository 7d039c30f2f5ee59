"""The sites in a person's own browser."""

from collections.abc import Callable, Mapping, Sequence

from webassay.compose.registries import SITES
from webassay.compose.setup import Setup
from webassay.compose.tasks import sites
from webassay.core.errors import InputError
from webassay.core.registry import nearest
from webassay.environments.arena import Arena, ArenaStage


async def serve(
    setup: Setup, port: int, seed: int, logins: Mapping[str, str], ready: Callable[[ArenaStage], None]
) -> None:
    """Until it is cancelled. Changes live as long as it runs; the next start is pristine again."""
    known = sites(setup.tell)
    for site in logins:
        if site not in known:
            raise nearest("site", site, known)
    async with (
        Arena(known, cache=setup.cache, port=port) as arena,
        arena.hold(list(known), seed, logins=logins, label="demo") as stage,
    ):
        ready(stage)
        await arena.wait()


def read_logins(given: Sequence[str]) -> dict[str, str]:
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
