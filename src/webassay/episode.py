"""The loop: one task, one agent, one browser session, one stage of an environment, one trajectory.

Order matters here. The agent stops; the network log is sealed; only then does anybody look at what became
of the world. Whatever the agent does wrong is recorded and graded. Whatever breaks on our side is a fault.
"""

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime

from webassay.agents.base import Agent, BrowserDriver, DevToolsEndpoint
from webassay.browser.session import Browser, Session, SessionSettings
from webassay.core.errors import (
    ActionError,
    AgentError,
    BrowserError,
    Fault,
    ModelError,
    ProbeError,
    SiteError,
    boundary,
)
from webassay.core.interaction import (
    ACTIONS,
    Action,
    Decision,
    Goal,
    Observation,
    ObservationPart,
    parse_actions,
)
from webassay.core.task import Task
from webassay.core.trajectory import (
    AgentInfo,
    Ending,
    LocatorResult,
    NetworkLog,
    PageResult,
    ProbeResult,
    RecordedObservation,
    Step,
    Timing,
    Trajectory,
    WritableBlobs,
)
from webassay.environments.base import Environment, Stage

OUR_FAULTS = (BrowserError, SiteError, ProbeError, ModelError)
"""A model that does not answer is the provider's fault, not the agent's: to be tried again."""


LOOK_SECONDS = 0.25
"""How often a browser that is driven from outside is looked at."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an agent that never stops is stopped."""

    steps: int | None = None
    """None: the task's own limit."""
    decide_seconds: float = 600.0
    episode_seconds: float = 3600.0
    actions_a_step: int = 20


@dataclass(frozen=True, slots=True)
class Recording:
    """What is kept of every step, beside what the agent asks for."""

    parts: tuple[ObservationPart, ...] = ("tree", "screenshot")


@dataclass(frozen=True, slots=True)
class EpisodeContext:
    """Everything that an episode is played with, except the task and the agent."""

    browser: Browser
    environment: Environment
    blobs: WritableBlobs
    limits: Limits = Limits()
    recording: Recording = Recording()
    settings: SessionSettings = field(default_factory=SessionSettings)
    offline: bool = False
    """No page can be reached: whoever still answers right knew it already."""


@dataclass(slots=True)
class _Log:
    """The trajectory while it is being made."""

    steps: list[Step] = field(default_factory=list)
    last_seen: RecordedObservation | None = None
    answer: str = ""
    ending: Ending = field(default_factory=lambda: Ending(kind="step_limit"))
    network: NetworkLog | None = None
    probes: list[ProbeResult] = field(default_factory=list)
    bases: dict[str, str] = field(default_factory=dict)


async def play(
    task: Task, agent: Agent | BrowserDriver, scene: EpisodeContext, *, id: str, seed: int = 0, trial: int = 0
) -> Trajectory:
    log = _Log()
    started_at, started = datetime.now(UTC), time.monotonic()
    try:
        async with scene.environment.stage(task) as stage:
            log.bases = dict(stage.bases)
            async with _session(scene, stage, agent) as session:
                log.ending = await _act_until_done(task, agent, session, stage, scene, log)
                await _seal_and_look(task, session, stage, scene.blobs, log)
    except OUR_FAULTS as error:
        log.ending = Ending(kind="fault", message=str(error), fault=Fault.of(error))
    finally:
        with contextlib.suppress(AgentError):
            await _stop(agent)
    return Trajectory(
        id=id,
        task_id=task.id,
        task_hash=task.content_hash(),
        template=task.template,
        benchmark=task.benchmark,
        goal=task.goal,
        agent=describe(agent),
        seed=seed,
        trial=trial,
        bases=log.bases,
        started_at=started_at.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - started, 3),
        steps=tuple(log.steps),
        last_seen=log.last_seen,
        answer=log.answer,
        ending=log.ending,
        network=log.network,
        probes=tuple(log.probes),
    )


def describe(agent: Agent | BrowserDriver) -> AgentInfo:
    return AgentInfo(
        name=agent.name,
        settings=dict(getattr(agent, "settings", {})),
        model=getattr(agent, "model", ""),
        prompts=dict(getattr(agent, "prompts", {})),
    )


@contextlib.asynccontextmanager
async def _session(scene: EpisodeContext, stage: Stage, agent: Agent | BrowserDriver) -> AsyncIterator[Session]:
    allowed = frozenset[str]() if scene.offline else stage.allowed_hosts
    async with contextlib.AsyncExitStack() as stack:
        browser = scene.browser
        if isinstance(agent, BrowserDriver):
            # A Chromium of its own: whoever holds its DevTools can reach everything in it.
            browser = await stack.enter_async_context(browser.with_door())
        yield await stack.enter_async_context(
            browser.session(allowed_hosts=allowed, cookies=stage.cookies, now_ms=stage.now_ms, settings=scene.settings)
        )


async def _act_until_done(
    task: Task, agent: Agent | BrowserDriver, session: Session, stage: Stage, scene: EpisodeContext, log: _Log
) -> Ending:
    goal = task.goal.at(stage.bases)
    if not scene.offline:
        await session.open(goal.start_urls)
    limits = scene.limits
    steps = limits.steps if limits.steps is not None else task.max_steps
    try:
        async with asyncio.timeout(limits.episode_seconds):
            await _start(agent, goal, limits)
            if isinstance(agent, BrowserDriver):
                return await _watch(agent, session, scene, log)
            for index in range(steps):
                ending = await _step(index, agent, session, scene, log)
                if ending is not None:
                    return ending
    except TimeoutError:
        return Ending(kind="time_limit", message=f"The episode took longer than {limits.episode_seconds:g} s.")
    except AgentError as error:
        return Ending(kind="agent_crashed", message=str(error), fault=Fault.of(error))
    return Ending(kind="step_limit", message=f"The agent did not stop within {steps} steps.")


async def _watch(agent: BrowserDriver, session: Session, scene: EpisodeContext, log: _Log) -> Ending:
    """The agent moves the browser itself; a step is recorded for every page that comes to the front."""
    door = DevToolsEndpoint(*await session.door())
    with boundary(AgentError, f"{agent.name} could not drive"):
        driving = asyncio.ensure_future(agent.drive(door))
        try:
            while not driving.done():
                await _look_again(session, scene, log)
                await asyncio.wait([driving], timeout=LOOK_SECONDS)
            log.answer = driving.result()
        finally:
            driving.cancel()
            await asyncio.wait([driving])
    return Ending(kind="answered")


async def _look_again(session: Session, scene: EpisodeContext, log: _Log) -> None:
    page = await session.final_page()
    if log.last_seen is not None and page.url == log.last_seen.url and page.tabs == log.last_seen.tabs:
        return
    observation = await _observe(session, scene.recording.parts, len(log.steps), "")
    log.last_seen = _keep(observation, scene.blobs)
    log.steps.append(Step(index=len(log.steps), seen=log.last_seen, action_text="(driven from outside)"))


async def _start(agent: Agent | BrowserDriver, goal: Goal, limits: Limits) -> None:
    with boundary(AgentError, f"{agent.name} could not start"):
        await asyncio.wait_for(agent.start(goal), limits.decide_seconds)


async def _stop(agent: Agent | BrowserDriver) -> None:
    stop = getattr(agent, "stop", None)
    if stop is not None:
        with boundary(AgentError, f"{agent.name} could not stop"):
            await stop()


async def _step(index: int, agent: Agent, session: Session, scene: EpisodeContext, log: _Log) -> Ending | None:
    clock = time.monotonic()
    error = log.steps[-1].error if log.steps else ""
    observation = await _observe(session, {*agent.wants, *scene.recording.parts}, index, error)
    seen = _keep(observation, scene.blobs)
    log.last_seen = seen
    observed = time.monotonic()

    decision, action_text, mistake = await _decide(agent, observation, scene.limits)
    decided = time.monotonic()

    ending: Ending | None = None
    waited_for: list[str] = []
    error, act, settle = mistake, 0.0, 0.0
    for action in decision.actions[: scene.limits.actions_a_step]:
        if ACTIONS[action.name].ends_episode:
            ending = _ending(action, log)
            break
        acted = await session.act(action)
        waited_for += acted.waited_for
        act, settle = act + acted.act_seconds, settle + acted.settle_seconds
        if acted.error:
            # What follows was decided on the assumption that this one worked.
            error = acted.error
            break
    log.steps.append(
        Step(
            index=index,
            seen=seen,
            actions=decision.actions,
            action_text=action_text,
            thought=decision.thought,
            memory=decision.memory,
            raw=decision.raw,
            error=error,
            waited_for=tuple(waited_for),
            usage=decision.usage,
            info=dict(decision.info),
            timing=Timing(
                observe=round(observed - clock, 4),
                decide=round(decided - observed, 4),
                act=round(act, 4),
                settle=round(settle, 4),
            ),
        )
    )
    return ending


async def _decide(agent: Agent, observation: Observation, limits: Limits) -> tuple[Decision, str, str]:
    """The decision, the text where it came as text, and the mistake where that text cannot be read."""
    with boundary(AgentError, f"{agent.name} could not decide"):
        try:
            decision = await asyncio.wait_for(agent.decide(observation), limits.decide_seconds)
        except TimeoutError:
            raise AgentError(f"{agent.name} took longer than {limits.decide_seconds:g} s to decide.") from None
    if isinstance(decision, str):
        try:
            return Decision(actions=parse_actions(decision)), decision, ""
        except ActionError as error:
            return Decision(actions=()), decision, str(error)
    if not isinstance(decision, Decision):
        raise AgentError(
            f"{agent.name} decided on a {type(decision).__name__}.",
            hint="Return a Decision, or text such as click('12').",
        )
    return decision, "", ""


def _ending(action: Action, log: _Log) -> Ending:
    # Giving up is a message too: with a status of the protocol in it, it is graded like any other answer.
    log.answer = str(action.get("text" if action.name == "send_msg_to_user" else "reason"))
    return Ending(kind="answered" if action.name == "send_msg_to_user" else "gave_up")


async def _observe(session: Session, parts: Collection[ObservationPart], index: int, last_error: str) -> Observation:
    return dataclasses.replace(await session.observe(parts), step=index, last_error=last_error)


def _keep(observation: Observation, blobs: WritableBlobs) -> RecordedObservation:
    def text(value: str | None) -> bytes | None:
        return None if value is None else value.encode("utf-8", "surrogatepass")

    tree, page, picture = text(observation.tree), text(observation.text), observation.screenshot
    return RecordedObservation(
        url=observation.url,
        title=observation.title,
        tabs=tuple(tab.url for tab in observation.tabs),
        active_tab=observation.active_tab,
        tree=None if tree is None else blobs.write(tree, "text/plain"),
        text=None if page is None else blobs.write(page, "text/plain"),
        screenshot=None if picture is None else blobs.write(picture, observation.screenshot_type),
        focused=observation.focused,
        last_error=observation.last_error,
        notices=observation.notices,
    )


async def _seal_and_look(task: Task, session: Session, stage: Stage, blobs: WritableBlobs, log: _Log) -> None:
    error = log.steps[-1].error if log.steps else ""
    last = await _observe(session, ("tree", "screenshot"), len(log.steps), error)
    log.last_seen = _keep(last, blobs)
    network = await session.seal()
    log.network = NetworkLog(blob=blobs.write(network, "application/jsonl"), count=network.count(b"\n"))
    # Nothing that happens from here on is in the network log.
    log.probes.append(PageResult(url=last.url, title=last.title, tabs=tuple(tab.url for tab in last.tabs)))
    log.probes.extend(await stage.probe(await session.cookies()))
    for probe in task.probes:
        url = probe.url
        for site, base in stage.bases.items():
            url = url.replace(f"__{site.upper()}__", base)
        with boundary(ProbeError, f"Probe {probe.name} could not look at {url}"):
            text = await session.read_locator(url, probe.script)
        log.probes.append(LocatorResult(name=probe.name, url=url, text=text))
