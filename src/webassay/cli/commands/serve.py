"""`webassay serve` and `webassay setup`: the sites in your own browser, and a browser for the agents."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import START, Command
from webassay.cli.options import WorldSeed

if TYPE_CHECKING:
    from collections.abc import Callable

    from webassay.workbench import ArenaStage
    from webassay.workbench.serve import Tryout


def serve(
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="Port on this machine.")] = 8400,
    world_seed: WorldSeed = 0,
    user: Annotated[
        list[str] | None, typer.Option("--user", help="SITE=NAME: print this user's log-in cookie (repeatable).")
    ] = None,
) -> None:
    """Open the sites in your own browser, with fresh data. Nothing leaves this machine."""
    from webassay import run_sync

    common.say("Starting the sites. The first time, their data is built.", stderr=True)
    with common.workbench(waits=True) as bench:
        tryouts = partial(bench.tryouts, world_seed)
        run_sync(bench.serve(port=port, seed=world_seed, users=user or (), ready=partial(_serving, tryouts)))


def setup() -> None:
    """Find Chromium or install it, and say what was tried."""
    with common.workbench() as bench:
        found = bench.install_chromium(lambda command: print(f"Trying: {command}"))
    print(f"Chromium: {found}")


def _serving(tryouts: "Callable[[], list[Tryout]]", stage: "ArenaStage") -> None:
    to_try = {one.site: one for one in tryouts()}
    for site, base in stage.bases.items():
        print(f"{site}: {base}/")
        one = to_try[site]
        if one.users:
            print(f"  log in at {base}{one.log_in_path}")
        for user in one.users:
            print(f"    {user}")
        if one.goal:
            print(f"  to try: {one.goal}")
    for cookie in stage.cookies:
        print(f"log-in cookie for {cookie.host}: {cookie.name}={cookie.value}")
    print("Press Ctrl-C to stop; your changes are then discarded.", flush=True)


SERVE = Command("serve", START, "Open the sites in your own browser.", serve, 3)
SETUP = Command("setup", START, "Find or install Chromium.", setup, 2)
