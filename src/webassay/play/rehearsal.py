"""Before the first episode: are the sites there, and do the programs start? Nothing of it is recorded."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from webassay.agents.base import Agent, BrowserDriver, prepare, stop
from webassay.core.errors import AgentError, BrowserError, InputError, SiteError
from webassay.core.task import Task
from webassay.play.episode import Episode, EpisodeContext

START_SECONDS = 4.0
"""A program that runs for so long has started."""
MOST_SITES = 20
"""Goals on the open web may each have a site of their own."""


async def open_sites(tasks: Sequence[Task], context: EpisodeContext) -> None:
    """Every site once, as its episodes will open it."""
    seen: set[str] = set()
    for task in tasks:
        places = {*task.sites, *(urlsplit(url).netloc for url in task.goal.start_urls)}
        if places <= seen or len(seen) >= MOST_SITES:
            continue
        seen |= places
        episode = Episode(task, context, id="rehearsal")
        try:
            await episode.open()
        except (BrowserError, SiteError) as error:
            raise InputError(
                f"The sites of {task.id} cannot be opened: {error.message}",
                hint=error.hint or "Start them, or play the rest with --keep-going.",
            ) from error
        finally:
            await episode.abandon()


async def start_agent(make: Callable[[], Agent | BrowserDriver], task: Task, context: EpisodeContext) -> None:
    """Started on a task and stopped again: a program that cannot run at all should not need a run to show it."""
    agent = make()
    driven = isinstance(agent, BrowserDriver)
    episode = Episode(task, context, id="rehearsal", driven=driven)
    try:
        await prepare(agent)
        await episode.open()
        async with asyncio.timeout(START_SECONDS):
            await agent.start(episode.goal)
            if isinstance(agent, BrowserDriver):
                await episode.watch(agent)
    except TimeoutError:
        pass  # It runs.
    except AgentError as error:
        lines = error.trace.strip().splitlines()[-LAST_LINES:]
        raise InputError(
            "\n".join([f"{agent.name} does not start: {error.message}", *lines]),
            hint=error.hint or "Fix it, or leave it out. --keep-going plays all the same.",
        ) from error
    finally:
        await episode.abandon()
        with contextlib.suppress(AgentError):
            await stop(agent)


LAST_LINES = 6
