"""Applications in the form of WebArena-Infinity: a folder with a `server.py` that keeps one state, made by its pages.

What they do to whoever plays them, and what is done about it: the first page that is ever opened brings the data, so
one is opened that nobody plays in; a reset makes every open page send its data again, so it comes when none is open;
pages save without waiting, so the state must have come to rest before it is judged; they show the real date, so the
clock is set to when their data were made; and they serve every file of their folder, so they run in a copy of it
without tasks and verifiers.
"""

from dataclasses import dataclass
from pathlib import Path

from webassay.core.application import Application
from webassay.core.errors import InputError
from webassay.environments.base import EnvironmentFactory, EnvironmentRequest
from webassay.environments.served import ServedEnvironment, ServedOptions, served_folder

HIDDEN = ("real-tasks*", "function-tasks*", "results", ".git", "__pycache__", "node_modules")


@dataclass(frozen=True)
class InfinityOptions(ServedOptions):
    clock: str = "2026-03-01T12:00:00"
    """Where the page's clock starts; `real`: the real time."""
    verify_seconds: float = 60.0
    """How long a verifier may take."""
    quiet_seconds: float = 1.5
    """How long the state must stay the same before it is judged: pages save late."""
    start_seconds: float = 30.0
    """How long the application may take to start."""
    answer_seconds: float = 10.0
    """How long it may take to answer a request of ours."""


def application(folder: Path, site: str, options: InfinityOptions) -> Application:
    return Application(
        name=site,
        start="python3 server.py --port {port}",
        reset="POST /api/reset",
        state="/api/state",
        state_from_page=True,
        clock="" if options.clock == "real" else options.clock,
        hidden=HIDDEN,
        start_seconds=options.start_seconds,
        answer_seconds=options.answer_seconds,
        verify_seconds=options.verify_seconds,
        quiet_seconds=options.quiet_seconds,
    )


def _make(request: EnvironmentRequest) -> ServedEnvironment:
    folder = served_folder(request, "infinity")
    if not (folder / "server.py").is_file():
        raise InputError(f"{folder} has no server.py.", hint="Name the folder of one application, such as apps/gmail.")
    sites = {site for task in request.tasks for site in task.sites}
    if len(sites) != 1:
        raise InputError("These tasks are not of one application.", hint="Write --benchmark infinity:FOLDER.")
    return ServedEnvironment(application(folder, sites.pop(), request.options), folder, python=request.options.python)


INFINITY = EnvironmentFactory(
    "infinity", "An application in the form of WebArena-Infinity, one for each worker.", _make, InfinityOptions
)
