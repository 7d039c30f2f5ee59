"""One task being played: an agent's decisions in, everything that happened out.

`Episode` can be stepped from outside (a training loop, a service, a person at a prompt):

    async with Episode(task, context, id="mine/0") as episode:
        while not episode.over:
            observation = await episode.observe()
            await episode.step("click('12')")
    trajectory = episode.trajectory

`play` is the loop around it for an agent.

Order matters here. The agent stops; the network log is sealed; only then are the probes made. What the agent
does wrong is recorded and graded. What breaks on our side is a fault.
"""

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from webassay.agents.base import (
    Agent,
    BrowserDriver,
    DevToolsEndpoint,
    checked_decision,
    last_word,
    own_cancellation,
    prepare,
    stop,
    without_exit,
)
from webassay.browser.session import Browser, Session, SessionSettings
from webassay.core.errors import (
    AgentError,
    BrowserError,
    Fault,
    InputError,
    ModelError,
    ProbeError,
    SiteError,
    WebassayError,
    boundary,
)
from webassay.core.interaction import ACTIONS, Action, Decision, Goal, Observation, ObservationPart
from webassay.core.protocols import refusal
from webassay.core.record import Json
from webassay.core.task import Task
from webassay.core.text import capped, well_formed
from webassay.core.trajectory import (
    AgentInfo,
    Aim,
    Ending,
    NetworkLog,
    PageResult,
    ProbeResult,
    RecordedObservation,
    Step,
    Timing,
    Trajectory,
    WritableBlobs,
)
from webassay.environments.base import Environment, Following, Seeded, Stage, Watchful, located
from webassay.play.recording import Acting, describe, keep, read_decision, recorded, skipped_in_words

OUR_FAULTS = (BrowserError, SiteError, ProbeError, ModelError)
"""A model that does not answer is the provider's fault, not the agent's: the episode is tried again."""

LOOK_SECONDS = 0.25
"""How often to look at a browser that a program drives from outside."""

ENDS_AN_EPISODE = (AgentError, TimeoutError, *OUR_FAULTS)
"""What a trajectory can tell of."""

NOBODY = AgentInfo(name="")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an agent that never stops is stopped. They are part of a run's record."""

    steps: int | None = None
    """None: the task's own limit."""
    decide_seconds: float = 600.0
    """For one decision; an agent that takes longer has crashed."""
    episode_seconds: float = 3600.0
    actions_a_step: int = 20
    """Those beyond it are skipped, and the agent is told."""

    def __post_init__(self) -> None:
        for name in ("steps", "decide_seconds", "episode_seconds", "actions_a_step"):
            value = getattr(self, name)
            least = 1 if name in ("steps", "actions_a_step") else 0.001
            if value is not None and not value >= least:
                raise InputError(f"The limit {name} must be at least {least:g}, not {value!r}.")


@dataclass(frozen=True, slots=True)
class Recording:
    """What is kept of every step, besides what the agent asks for."""

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
    """No page can be reached: an agent that still answers correctly knew the answer already."""
    on_seen: Callable[[str, int, RecordedObservation], None] = lambda *_: None
    """Hears which page each episode is on, by its trajectory's id, and how many steps were taken before."""


async def play(
    task: Task, agent: Agent | BrowserDriver, context: EpisodeContext, *, id: str, seed: int = 0, trial: int = 0
) -> Trajectory:
    """The whole episode of one agent. Never raises for what the agent or our own parts do wrong."""
    driven = isinstance(agent, BrowserDriver)
    episode = Episode(task, context, id=id, seed=seed, trial=trial, agent=describe(agent), driven=driven)
    try:
        await prepare(agent)
        async with episode:
            await _start(agent, episode)
            episode.played_by(agent)
            while not episode.over:
                if isinstance(agent, BrowserDriver):
                    await episode.watch(agent)
                else:
                    await episode.step(await _decide(agent, episode, await episode.observe(agent.wants)))
    finally:
        with contextlib.suppress(AgentError):
            await stop(agent)
    return episode.trajectory


class Episode:
    """Open it with `async with`; `observe` and `step` until it is `over`; the `trajectory` is there after `finish`.

    Errors that end the episode are raised by whatever call met them and recorded at once, so a caller that catches
    them still gets a trajectory that says what happened. Leaving the `async with` swallows them for that reason.
    """

    def __init__(
        self,
        task: Task,
        context: EpisodeContext,
        *,
        id: str,
        seed: int = 0,
        trial: int = 0,
        agent: AgentInfo = NOBODY,
        driven: bool = False,
    ) -> None:
        """`driven`: a program from outside gets a Chromium of its own, over DevTools."""
        self.task = task
        self.context = context
        self.goal: Goal = task.goal
        self.ending: Ending | None = None
        self.answer = ""
        self.steps: list[Step] = []
        self.max_steps = context.limits.steps if context.limits.steps is not None else task.max_steps
        self._identity: dict[str, Any] = {"id": id, "seed": seed, "trial": trial, "agent": agent}
        self._driven = driven
        self._driving = False  # A program from outside has had the browser in its hands.
        self._started_at, self._started = datetime.now(UTC), time.monotonic()
        self._open = contextlib.AsyncExitStack()
        self._stage: Stage | None = None
        self._session: Session | None = None
        self._seen: RecordedObservation | None = None
        """The observation that the next step answers to."""
        self._last_seen: RecordedObservation | None = None
        self._observing = 0.0
        self._observed = 0.0
        self._looked_at = 0.0
        self._network: NetworkLog | None = None
        self._probes: list[ProbeResult] = []
        self._trajectory: Trajectory | None = None

    def played_by(self, agent: Agent | BrowserDriver) -> None:  # Some know their settings only once they have started.
        with boundary(AgentError, f"{agent.name} cannot be described"):
            self._identity["agent"] = describe(agent)

    # --- its life ---------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except ENDS_AN_EPISODE:
            if not self.over:
                await self.abandon()
                raise
        except BaseException:
            await self.abandon()  # Nobody calls `__aexit__` of what was never entered.
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is not None:
            self._note(error)
            if not self.over or not isinstance(error, ENDS_AN_EPISODE):
                await self.abandon()  # Interrupted, or out of money: there is no episode to tell of.
                return False
        await self.finish()
        return error is not None

    async def open(self) -> None:
        """Fresh worlds, a fresh browser session, the start pages."""
        with self._noting():
            self._stage = await self._open.enter_async_context(self.context.environment.stage(self.task))
            self._started = time.monotonic()  # Waiting for a site to be free, or reset, is nobody's time.
            if isinstance(self._stage, Seeded) and not self.context.offline:
                await self._stage.seed(self._visit)
            self._session = await self._open.enter_async_context(_session(self.context, self._stage, self._driven))
            self.goal = self._told(self._stage)
            if isinstance(self._stage, Watchful):
                await self._stage.expect(self._session.browser_pid)
            if not self.context.offline:
                async with self._in_time():
                    await self._session.open(self.goal.start_urls)
            await self._stage.hand_over()

    @contextlib.asynccontextmanager
    async def _visit(self, url: str, allowed_hosts: frozenset[str], now_ms: int | None) -> AsyncIterator[None]:
        """A page in a session of its own, of which nothing is recorded."""
        async with self.context.browser.session(allowed_hosts=allowed_hosts, now_ms=now_ms) as session:
            async with self._in_time():
                await session.open([url])
            yield

    def _told(self, stage: Stage) -> Goal:
        goal = self.task.goal.at(stage.bases).model_copy(update={"max_steps": self.max_steps})
        if self.max_steps == self.task.max_steps:
            return goal
        # What the task says about its own limit is not true in this run.
        before, now = (f"You may take at most {steps} steps." for steps in (self.task.max_steps, self.max_steps))
        kept = [hint for hint in goal.hints if hint != before]
        return goal.model_copy(update={"hints": (*kept, now)})

    @property
    def over(self) -> bool:
        return self.ending is not None

    @property
    def remaining(self) -> float:
        """Seconds until the episode's own limit."""
        return max(0.0, self._started + self.context.limits.episode_seconds - time.monotonic())

    @property
    def bases(self) -> dict[str, str]:
        """Where the sites are in this episode; nothing before it is open."""
        return dict(self._stage.bases) if self._stage is not None else {}

    @property
    def trajectory(self) -> Trajectory:
        if self._trajectory is None:
            raise RuntimeError("The episode is not finished: await episode.finish() first.")
        return self._trajectory

    async def finish(self) -> Trajectory:
        """Seals the network log, makes the probes, closes everything. Calling it again changes nothing."""
        if self._trajectory is None:
            try:
                if self._session is not None and self._stage is not None and not self._faulted:
                    with contextlib.suppress(*OUR_FAULTS), self._noting():
                        await self._seal_and_probe(self._session, self._stage)
            finally:
                with contextlib.suppress(*OUR_FAULTS), self._noting():
                    await self._open.aclose()
            self._trajectory = self._made()
        return self._trajectory

    async def abandon(self) -> None:
        """Closes everything without looking: for an episode that nobody will grade."""
        await self._open.aclose()

    # --- step by step -----------------------------------------------------------------------------------------

    async def observe(self, parts: Collection[ObservationPart] = ()) -> Observation:
        """The page now; `parts` are computed besides what is recorded anyway."""
        started = time.monotonic()
        error = self.steps[-1].error if self.steps else ""
        with self._noting():
            async with self._in_time():
                observation = await _observe(
                    self._live, {*parts, *self.context.recording.parts}, len(self.steps), error
                )
        self._seen = self._last_seen = keep(observation, self.context.blobs)
        self.context.on_seen(self._identity["id"], len(self.steps), self._seen)
        self._looked_at = self._live.seconds
        self._observed = time.monotonic()
        self._observing = self._observed - started
        return observation

    async def step(self, decision: Decision | str) -> Step:
        """Carries out one decision, and records it. A text is read as actions, such as `click('12')`. Once the episode
        is over, one may still look, but not act."""
        if self.over:
            raise RuntimeError("The episode is over: nothing more can be done in it. Call `await episode.finish()`.")
        if self._seen is None:
            await self.observe()
        seen, decided = self._seen, time.monotonic()
        assert seen is not None
        made, text, error = read_decision(decision)
        acting = Acting(error)
        try:
            with self._noting():
                async with self._in_time():
                    await self._announce_step()
                    await self._carry_out(made, acting)
        finally:  # Also where it was interrupted: it may have taken effect, and the decision had its price.
            timing = Timing(
                observe=round(self._observing, 4),
                decide=round(decided - self._observed, 4),
                act=round(acting.act, 4),
                settle=round(acting.settle, 4),
                at=self._looked_at,
            )
            if self._session is not None:
                acting.console = tuple(map(well_formed, self._session.take_console()))
            step = recorded(len(self.steps), seen, made, text, acting, timing)
            self.steps.append(step)
        self._seen = None
        if self.ending is None and len(self.steps) >= self.max_steps:
            self.ending = Ending(kind="step_limit", message=f"The agent did not stop within {self.max_steps} steps.")
        return step

    async def _announce_step(self) -> None:
        stage: object = self._stage
        if isinstance(stage, Following):
            await stage.at_step(len(self.steps))

    async def _carry_out(self, decision: Decision, acting: "Acting") -> None:
        most, given = self.context.limits.actions_a_step, len(decision.actions)
        for number, action in enumerate(decision.actions[:most], 1):
            if ACTIONS[action.name].ends_episode:
                self._end(action)
                return
            acted = await self._live.act(action)
            acting.aims += [Aim(action=number - 1, box=box, argument=name) for name, box in acted.aims.items()]
            acting.waited_for += acted.waited_for
            acting.act, acting.settle = acting.act + acted.act_seconds, acting.settle + acted.settle_seconds
            if acted.error:
                # What follows was decided on the assumption that this one worked.
                acting.error = acted.error
                if given > 1:
                    skipped = skipped_in_words(decision.actions[number:])
                    acting.error += f" (Action {number} of {given}: {number - 1} done, {skipped}.)"
                return
        if given > most:
            acting.error = (
                f"One step takes at most {most} actions: {most} done, {skipped_in_words(decision.actions[most:])}."
            )

    def _end(self, action: Action) -> None:
        if action.name == "send_msg_to_user":
            self.answer, self.ending = capped(str(action.get("text"))), Ending(kind="answered")
            return
        # Giving up is an answer of the protocol, and is graded like any other.
        reason, status = capped(str(action.get("reason"))), str(action.args.get("status", ""))
        self.answer, self.ending = refusal(self.goal.protocol.name, reason, status), Ending(kind="gave_up")

    async def watch(self, agent: BrowserDriver) -> None:
        """The agent drives the browser itself; a step is recorded for every page that comes to the front."""
        session = self._live
        self._driving = True
        with self._noting():
            door = DevToolsEndpoint(*await session.door(guarded=getattr(agent, "guarded", False)))
            await self._announce_step()
            driving = asyncio.ensure_future(agent.drive(door))
            try:
                async with self._in_time():
                    while not driving.done():
                        known = len(self.steps)
                        await self._look_again(session)
                        if len(self.steps) > known:
                            await self._announce_step()
                        await asyncio.wait([driving], timeout=LOOK_SECONDS)
                await self._look_again(session)
                self._end(last_word(driving, agent.name))
            finally:
                driving.cancel()
                await asyncio.wait([driving])
                await session.shut()

    async def _look_again(self, session: Session) -> None:
        for effect in session.effects():
            self._did(effect.in_words, {"driven": effect.as_json})
        if not session.has_tab:  # It has closed all of them, and may open another.
            return
        page, last = await session.final_page(), self._last_seen
        if last is not None and page.url == last.url and page.tabs == last.tabs:
            return
        observation = await _observe(session, self.context.recording.parts, len(self.steps), "")
        self._last_seen = keep(observation, self.context.blobs)
        self.context.on_seen(self._identity["id"], len(self.steps), self._last_seen)
        self._did("(driven from outside)", {})

    def _did(self, text: str, info: dict[str, Json]) -> None:
        """A step of a program that is watched from outside: on the page that was last looked at."""
        seen = self._last_seen or RecordedObservation(url="")
        self.steps.append(Step(index=len(self.steps), seen=seen, action_text=capped(text), info=info))

    # --- inside -----------------------------------------------------------------------------------------------

    @property
    def _live(self) -> Session:
        if self._session is None or self._trajectory is not None:
            raise RuntimeError("The episode is not open.")
        return self._session

    @property
    def _faulted(self) -> bool:
        return self.ending is not None and self.ending.kind == "fault"

    def _note(self, error: BaseException) -> None:
        """The first error that ends an episode decides what kind of end it is; a fault of ours outweighs all."""
        if self._driving and isinstance(error, BrowserError):
            # Nobody else touches that browser: a tab, a session or a Chromium that is gone was closed by the program.
            error, self.ending = AgentError(f"The program lost its browser: {error}"), None
        if isinstance(error, AgentError) and self.ending is None:
            self.ending = Ending(kind="agent_crashed", message=str(error), fault=Fault.of(error))
        elif isinstance(error, OUR_FAULTS) and not self._faulted:
            self.ending = Ending(kind="fault", message=str(error), fault=Fault.of(error))

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except WebassayError as error:
            self._note(error)
            raise

    @contextlib.asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """What is under way when the time is up is abandoned with a TimeoutError, and the episode is over."""
        try:
            async with asyncio.timeout(self.remaining):
                yield
        except TimeoutError:
            raise self.out_of_time() from None

    def out_of_time(self) -> TimeoutError:
        message = f"The episode took longer than {self.context.limits.episode_seconds:g} s."
        self.ending = self.ending or Ending(kind="time_limit", message=message)
        return TimeoutError(message)

    async def _seal_and_probe(self, session: Session, stage: Stage) -> None:
        error = self.steps[-1].error if self.steps else ""
        if self._driving:
            await session.have_tab()
        last = await _observe(session, ("tree", "screenshot"), len(self.steps), error)
        self._last_seen = keep(last, self.context.blobs)
        network = await session.seal()
        log = self.context.blobs.write(network, "application/jsonl")
        self._network = NetworkLog(blob=log, count=network.count(b"\n"))
        # Nothing that happens from here on is in the network log.
        page = self._last_seen
        document = well_formed(session.document)
        self._probes.append(PageResult(url=page.url, title=page.title, tabs=page.tabs, document=document))
        self._probes.extend(await stage.probe(await session.cookies(), self.context.blobs))
        for probe in self.task.probes:
            found = await located(probe, page.url, stage, session.read_locator)
            if found is not None:
                self._probes.append(found)
        self._driving = False

    def _made(self) -> Trajectory:
        task = self.task
        return Trajectory(
            **self._identity,
            task_id=task.id,
            task_hash=task.content_hash(),
            template=task.template,
            benchmark=task.benchmark,
            goal=task.goal,
            bases=self.bases,
            now_ms=self._stage.now_ms if self._stage is not None else None,
            started_at=self._started_at.isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - self._started, 3),
            steps=tuple(self.steps),
            last_seen=self._last_seen,
            answer=self.answer,
            ending=self.ending or Ending(kind="gave_up", message="The episode was left before it was over."),
            network=self._network,
            probes=tuple(self._probes),
        )


@contextlib.asynccontextmanager
async def _session(context: EpisodeContext, stage: Stage, driven: bool) -> AsyncIterator[Session]:
    allowed = frozenset[str]() if context.offline else stage.allowed_hosts
    async with contextlib.AsyncExitStack() as stack:
        browser = context.browser
        if driven:
            # A Chromium of its own: what a program does to it, it does to itself.
            browser = await stack.enter_async_context(browser.another())
        yield await stack.enter_async_context(
            browser.session(
                allowed_hosts=allowed, cookies=stage.cookies, now_ms=stage.now_ms, settings=context.settings
            )
        )


# --- asking the agent -----------------------------------------------------------------------------------------


async def _start(agent: Agent | BrowserDriver, episode: Episode) -> None:
    if not episode.over:
        await _ask(agent, "start", partial(agent.start, episode.goal), episode)


async def _decide(agent: Agent, episode: Episode, observation: Observation) -> Decision | str:
    asked = partial(agent.decide, observation.only(agent.wants))
    return checked_decision(await _ask(agent, "decide", asked, episode), agent.name)


async def _ask(agent: Agent | BrowserDriver, doing: str, ask: Callable[[], Awaitable[T]], episode: Episode) -> T:
    limit, asked = min(episode.context.limits.decide_seconds, episode.remaining), time.monotonic()
    with boundary(AgentError, f"{agent.name} could not {doing}"), own_cancellation(agent.name):
        try:
            return await asyncio.wait_for(without_exit(ask, agent.name), limit)
        except TimeoutError:
            if time.monotonic() - asked < limit:
                raise  # The agent's own.
            if episode.remaining:
                raise AgentError(f"{agent.name} took longer than {limit:g} s to {doing}.") from None
    raise episode.out_of_time()


# --- looking --------------------------------------------------------------------------------------------------


async def _observe(session: Session, parts: Collection[ObservationPart], index: int, last_error: str) -> Observation:
    return dataclasses.replace(await session.observe(parts), step=index, last_error=last_error)
