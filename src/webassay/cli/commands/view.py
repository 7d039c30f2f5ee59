"""`webassay view`: runs in your browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webassay.cli import common
from webassay.cli.command import LOOK, Command

if TYPE_CHECKING:
    from collections.abc import Sequence


def view(
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Run directories, or folders of them; default: those in runs/.")
    ] = None,
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="Port; 0: a free one.")] = 8500,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; default: this machine alone, under a made-up name.")
    ] = "",
) -> None:
    """Look at runs in your browser: what agents saw, what they changed, and why they passed or failed.

    It prints an address with a token. Whoever has it can read everything, keys included; nobody else gets in.

    Example: `webassay view runs/first runs/second`
    """
    from webassay import run_sync
    from webassay.viewer import serve
    from webassay.viewer.serving import is_loopback

    found = _runs(runs or ())
    with common.workbench(waits=True) as bench:
        shelf = bench.shelf(found)
        common.say(f"{len(found)} {'run' if len(found) == 1 else 'runs'}. Open this address in your browser:")
        if not is_loopback(host):
            common.say("! Other machines can reach it, and what is sent is not encrypted.", stderr=True)
        try:
            run_sync(serve(shelf, host=host, port=port, ready=_ready))
        except KeyboardInterrupt:
            common.say("Stopped.", stderr=True)


def _ready(address: str) -> None:
    print(f"\n  {address}\n")
    print("It is for you alone: the token in it shows everything, keys included. Press Ctrl-C to stop.", flush=True)


def _runs(given: "Sequence[Path]") -> list[Path]:
    """A folder stands for the run directories in it."""
    from webassay.core.errors import InputError
    from webassay.workbench import is_run

    places = list(given) or [Path("runs")]
    found: list[Path] = []
    for place in places:
        inside = sorted(path for path in place.iterdir() if is_run(path)) if place.is_dir() else []
        if is_run(place) or not inside:
            inside = [place]
        found += inside
    if not given and found == places and not is_run(places[0]):
        raise InputError("There are no runs in runs/.", hint="`webassay demo` makes one; or name a run directory.")
    return list(dict.fromkeys(found))


VIEW = Command("view", LOOK, "Look at runs in your browser.", view, 1)
