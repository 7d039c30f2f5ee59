"""The environment, as gymnasium wants it: synchronous, with spaces, seeds, rewards and two ways to end."""

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args
from urllib.parse import urlsplit

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError, InvalidAction, ResetNeeded
from gymnasium.spaces import Box, Dict, Discrete, Space
from numpy.typing import NDArray
from PIL import Image

from webassay.core.errors import ActionError, InputError
from webassay.core.interaction import Action, Decision, Goal, Observation, ObservationPart
from webassay.core.task import Task
from webassay.core.trajectory import Trajectory, WritableBlobs
from webassay.core.verdict import Verdict, decides
from webassay.doors import engine
from webassay.doors.gym.spaces import ActionText, AnyText, Decisions
from webassay.doors.seat import Finished, Plan, Seat
from webassay.play.episode import Limits
from webassay.workbench import Selection, Workbench

TEXTS: tuple[ObservationPart, ...] = ("tree", "pruned", "text", "html")
PICTURES: tuple[ObservationPart, ...] = ("screenshot", "marks")
WIDTH, HEIGHT = 1280, 720

UNDECIDED = ("fault", "abstain")
"""Verdicts that say nothing about the agent."""

Seen = dict[str, Any]
Act = str | Decision
Mode = Literal["text", "decision"]


@dataclass(frozen=True)
class Settings:
    """The arguments of an environment. All are plain data, so that gymnasium can write them to a file."""

    benchmark: str = "arena"
    templates: Sequence[str] = ()
    """Empty: all of them."""
    tasks: Sequence[str] = ()
    """Only these, by their ids; empty: all of them."""
    instances: int = 3
    """How many tasks are drawn from each template."""
    world_seed: int = 0
    seed: int = 0
    """Draws the tasks of each template. Which of them is played is up to `reset`."""
    parts: Sequence[str] = ("tree", "screenshot")
    actions: Mode = "text"
    grader: str = "rules"
    max_steps: int | None = None
    """None: as many as the task allows."""
    episode_seconds: float = 3600.0
    actions_a_step: int = 20
    out: str | os.PathLike[str] | None = None
    """A run directory to record every finished episode in."""
    agent: str = "policy"
    """What the run directory calls the agent."""
    cache: str | os.PathLike[str] | None = None
    chromium: str | None = None

    def plan(self, rendered: bool) -> Plan:
        bench = Workbench(cache=self.cache, chromium=self.chromium)
        selection = Selection(
            benchmark=self.benchmark,
            templates=_names(self.templates, "templates"),
            tasks=_names(self.tasks, "tasks"),
            instances=self.instances,
            world_seed=self.world_seed,
            seed=self.seed,
        )
        parts = _parts(self.parts)
        if rendered and not {*PICTURES} & {*parts}:
            parts = (*parts, "screenshot")
        limits = Limits(steps=self.max_steps, episode_seconds=self.episode_seconds, actions_a_step=self.actions_a_step)
        exercise = bench.exercise(selection, grader=self.grader)
        out = None if self.out is None else Path(self.out)
        return Plan(bench, selection, exercise, limits, parts, self.agent, out)


class WebassayEnv(gymnasium.Env[Seen, Act]):
    """Arena tasks as a gymnasium environment; docs/gym.md explains it."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}  # noqa: RUF012 - gymnasium's type

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        """`settings` are those of `Settings`."""
        self.settings = Settings(**settings)
        self.render_mode = render_mode
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"There is no render mode {render_mode!r}.", hint="Use rgb_array, or none at all.")
        if self.settings.actions not in get_args(Mode):
            raise InputError(f"Actions cannot come as {self.settings.actions!r}.", hint="Use text or decision.")
        self._plan = self.settings.plan(rendered=render_mode is not None)
        self._shown = _parts(self.settings.parts)
        self.observation_space = _observation_space(self._shown)
        self.action_space: Space[Any] = ActionText() if self.settings.actions == "text" else Decisions()
        self._engine: engine.Engine | None = None
        self._seat: Seat | None = None
        self._closed = False
        self._running = False
        self._steps = 0
        self._addresses = Addresses({})
        self._last_error = ""
        self._finished: Finished | None = None
        self.task: Task | None = None
        """The task being played, with its key: not for the agent."""
        self.goal: Goal | None = None
        """All that the agent is told."""
        self.observation: Observation | None = None
        """The page as webassay's own agents see it, with real addresses."""

    # --- gymnasium's interface ----------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """A fresh world and a fresh browser session. `options={"task": id}` chooses the task; otherwise it is drawn."""
        super().reset(seed=seed)
        task = self._choose(dict(options or {}))
        self._running, self._finished, self.observation, self.task = False, None, None, task
        hired, seat = self._seated()
        opened = hired.call(seat.reset(task))
        self._steps, self._last_error, self._running = 0, "", True
        self.goal, self.observation, self._addresses = opened.goal, opened.seen, Addresses(opened.bases)
        return self._seen(), self._info()

    def step(self, action: Act) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        if not self._running:
            raise ResetNeeded("There is no episode under way. Call reset() first.")
        decision = self._decision(action)
        hired, seat = self._seated()
        self._running = False  # If the step is interrupted, the episode is lost.
        seen, self._finished = hired.call(seat.step(decision))
        self._running = self._finished is None
        self._steps += 1
        if seen is not None:
            self.observation, self._last_error = seen, seen.last_error
        return self._seen(), *self._judged(), self._info()

    def render(self) -> NDArray[np.uint8] | None:
        """The page as it is now, or as it was in the end."""
        if self.render_mode is None:
            return None
        if self.observation is None:
            raise ResetNeeded("There is nothing to render. Call reset() first.")
        return _pixels(self.observation)

    def close(self) -> None:
        """Ends the episode under way. The last environment of a process also ends its browser and its sites."""
        hired, seat = self._engine, self._seat
        self._closed, self._running, self._engine, self._seat = True, False, None, None
        if hired is None or not hired.here:
            return
        try:
            if seat is not None:
                hired.call(seat.close())
        finally:
            engine.leave()

    # --- what came of it ----------------------------------------------------------------------------------------

    @property
    def trajectory(self) -> Trajectory:
        """Everything that happened, once the episode is over."""
        return self._over().trajectory

    @property
    def verdict(self) -> Verdict:
        """What the grader found. Its messages name what was expected, so keep it away from the agent."""
        return self._over().verdict

    @property
    def blobs(self) -> WritableBlobs:
        """The pictures, trees and network log that the trajectory refers to."""
        return self._over().blobs

    def _over(self) -> Finished:
        if self._finished is None:
            raise ResetNeeded("No episode is over yet.")
        return self._finished

    # --- inside -------------------------------------------------------------------------------------------------

    def _seated(self) -> tuple[engine.Engine, Seat]:
        """Nothing is started before it is needed: making an environment only to look at its spaces is cheap."""
        if self._closed:
            raise ClosedEnvironmentError("The environment is closed. Make another one.")
        if self._engine is None:
            self._engine = engine.hire()
        if not self._engine.here:
            raise ClosedEnvironmentError("The environment belongs to another process. Make one in this process.")
        if self._seat is None:
            self._seat = Seat(self._engine, self._plan)
        return self._engine, self._seat

    def _choose(self, options: dict[str, Any]) -> Task:
        exercise = self._plan.exercise
        task = options.pop("task", None)
        if options:
            raise InputError(f"There is no option {next(iter(options))!r}.", hint='The only one is "task".')
        if task is not None:
            return exercise.get(str(task))
        return exercise.tasks[int(self.np_random.integers(len(exercise.tasks)))]

    def _decision(self, action: Act) -> Act:
        wanted = str if self.settings.actions == "text" else Decision
        if not isinstance(action, wanted):
            raise InvalidAction(f"An action is a {wanted.__name__} here, not a {type(action).__name__}.")
        if isinstance(action, str):
            return self._addresses.fill_in(str(action))
        try:
            actions = tuple(Action.of(one.name, **self._addresses.fill_in(one.args)) for one in action.actions)
        except ActionError as error:
            raise InvalidAction(str(error)) from error
        return replace(action, actions=actions)

    def _seen(self) -> Seen:
        """Texts are always there: what nobody could see is empty."""
        goal, page = self.goal, self.observation
        assert goal is not None and page is not None
        texts: dict[str, str] = {
            "goal": goal_text(goal),
            "url": page.url,
            "title": page.title,
            "tabs": "\n".join(f"{tab.url} {tab.title}".rstrip() for tab in page.tabs),
            "focused": page.focused,
            "notices": "\n".join(page.notices),
            "last_error": self._last_error,
        }
        texts |= {part: getattr(page, part) or "" for part in TEXTS if part in self._shown}
        seen: Seen = {name: self._addresses.leave_out(text) for name, text in texts.items()}
        seen |= {"active_tab": page.active_tab, "step": self._steps}
        if {*PICTURES} & {*self._shown}:
            seen["screenshot"] = _pixels(page)
        return seen

    def _judged(self) -> tuple[float, bool, bool]:
        """Reward, terminated, truncated."""
        if self._finished is None:
            return 0.0, False, False
        verdict = self._finished.verdict
        answered = self._finished.trajectory.ending.kind in ("answered", "gave_up")
        terminated = answered and verdict.status not in UNDECIDED
        return verdict.score or 0.0, terminated, not terminated

    def _info(self) -> dict[str, Any]:
        """The same keys every time. Nothing in it tells what the right answer is."""
        assert self.task is not None
        info: dict[str, Any] = {
            "task": self.task.id,
            "template": self.task.template,
            "steps": self._steps,
            "last_error": self._last_error,
            "status": "running",
            "ending": "",
            "findings": (),
            "fault": "",
        }
        if self._finished is not None:
            trajectory, verdict = self._finished.trajectory, self._finished.verdict
            wrong = [one for one in verdict.findings if one.status != "pass" and decides(one)]
            info |= {
                "status": verdict.status,
                "ending": trajectory.ending.kind,
                "findings": tuple(f"{one.check}: {one.code or one.status}" for one in wrong),
                "fault": verdict.fault.message if verdict.status == "fault" and verdict.fault else "",
            }
        return info


def goal_text(goal: Goal) -> str:
    """The task, what a person would be told besides, and the form of the answer."""
    return "\n\n".join(filter(None, [goal.instruction, "\n".join(goal.hints), goal.protocol.instructions]))


J = TypeVar("J")


class Addresses:
    """Every episode has its sites under host names that nobody can guess. Observations leave the secret part out and
    actions get it back, so that the same seed gives the same observation, and addresses still work."""

    def __init__(self, bases: Mapping[str, str]) -> None:
        self._real = {f"{site.replace('_', '-')}.localhost": urlsplit(base).netloc for site, base in bases.items()}

    def leave_out(self, text: str) -> str:
        for plain, real in self._real.items():
            text = text.replace(real, plain)
        return text

    def fill_in(self, value: J) -> J:
        """In a text, or in every text of a list or a dictionary."""
        filled: Any = value
        if isinstance(value, str):
            for plain, real in self._real.items():
                filled = filled.replace(plain, real)
        elif isinstance(value, list):
            filled = [self.fill_in(one) for one in value]
        elif isinstance(value, dict):
            filled = {key: self.fill_in(one) for key, one in value.items()}
        return filled  # type: ignore[no-any-return]


def _names(given: Sequence[str], setting: str) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InputError(f"{setting} is a list of names, not one name.", hint=f"Write {setting}=({given!r},).")
    return tuple(given)


def _parts(given: Sequence[str]) -> tuple[ObservationPart, ...]:
    known = {*TEXTS, *PICTURES, "boxes", "links"}
    for part in _names(given, "parts"):
        if part not in known:
            raise InputError(f"An observation has no part {part!r}.", hint=f"Parts: {', '.join(sorted(known))}.")
    return tuple(part for part in get_args(ObservationPart) if part in given)


def _observation_space(parts: Sequence[ObservationPart]) -> Dict:
    texts = ("goal", "url", "title", "tabs", "focused", "notices", "last_error")
    spaces: dict[str, Space[Any]] = {name: AnyText() for name in (*texts, *(part for part in TEXTS if part in parts))}
    # Counts without a natural bound.
    spaces |= {"active_tab": Discrete(2**31 - 1), "step": Discrete(2**31 - 1)}
    if {*PICTURES} & {*parts}:
        spaces["screenshot"] = Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8)
    return Dict(spaces)


def _pixels(page: Observation) -> NDArray[np.uint8]:
    """The screenshot, black where there is none."""
    canvas = Image.new("RGB", (WIDTH, HEIGHT))
    if page.screenshot is not None:
        with Image.open(io.BytesIO(page.screenshot)) as picture:
            canvas.paste(picture)
    return np.array(canvas)
