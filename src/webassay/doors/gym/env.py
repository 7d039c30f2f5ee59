"""The environment, as gymnasium wants it: synchronous, with spaces, seeds, rewards and two ways to end."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

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
from webassay.core.verdict import Verdict
from webassay.doors import engine
from webassay.doors.addresses import PlainAddresses, goal_text
from webassay.doors.gym.spaces import ActionText, AnyText, Decisions
from webassay.doors.plan import PICTURES, TEXTS, SeatSettings, parts_in
from webassay.doors.seat import EngineSeat, EpisodeResult

WIDTH, HEIGHT = 1280, 720

UNDECIDED = ("fault", "abstain")
"""Verdicts that say nothing about the agent."""

View = dict[str, Any]
"""An observation, as gymnasium wants it."""
Act = str | Decision
Mode = Literal["text", "decision"]


@dataclass(frozen=True)
class EnvSettings(SeatSettings):
    actions: Mode = "text"


class WebassayEnv(gymnasium.Env[View, Act]):
    """Arena tasks as a gymnasium environment; docs/gym.md explains it."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 1}  # noqa: RUF012 - gymnasium's type

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        """`settings` are those of `EnvSettings`."""
        self.settings = EnvSettings(**settings)
        self.render_mode = render_mode
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"There is no render mode {render_mode!r}.", hint="Use rgb_array, or none at all.")
        if self.settings.actions not in get_args(Mode):
            raise InputError(f"Actions cannot come as {self.settings.actions!r}.", hint="Use text or decision.")
        self._shown = parts_in(self.settings.parts)
        pictured = render_mode is None or {*PICTURES} & {*self._shown}
        self._plan = self.settings.plan() if pictured else self.settings.plan("screenshot")
        self.observation_space = _observation_space(self._shown)
        self.action_space: Space[Any] = ActionText() if self.settings.actions == "text" else Decisions()
        self._engine: engine.Engine | None = None
        self._seat: EngineSeat | None = None
        self._closed = False
        self._running = False
        self._steps = 0
        self._addresses = PlainAddresses({})
        self._last_error = ""
        self._result: EpisodeResult | None = None
        self.task: Task | None = None
        """The task being played, with its key: not for the agent."""
        self.goal: Goal | None = None
        """All that the agent is told."""
        self.observation: Observation | None = None
        """The page as webassay's own agents see it, with real addresses."""

    # --- gymnasium's interface ----------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[View, dict[str, Any]]:
        """A fresh world and a fresh browser session. `options={"task": id}` chooses the task; otherwise it is drawn."""
        super().reset(seed=seed)
        task_id = self._choose(dict(options or {}))
        self._running, self._result, self.observation, self.task = False, None, None, None
        hired, seat = self._seated()
        opening = hired.call(seat.open(task_id))
        self._steps, self._last_error, self._running = 0, "", True
        self.task, self.goal, self._addresses = opening.task, opening.goal, opening.addresses
        self.observation = opening.observation
        return self._view(), self._info()

    def step(self, action: Act) -> tuple[View, float, bool, bool, dict[str, Any]]:
        if not self._running:
            raise ResetNeeded("There is no episode under way. Call reset() first.")
        decision = self._decision(action)
        hired, seat = self._seated()
        self._running = False  # If the step is interrupted, the episode is lost.
        turn = hired.call(seat.step(decision))
        self._result = turn.result
        self._running = turn.result is None
        self._steps += 1
        if turn.observation is not None:
            self.observation, self._last_error = turn.observation, turn.observation.last_error
        return self._view(), *self._judged(), self._info()

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

    def _over(self) -> EpisodeResult:
        if self._result is None:
            raise ResetNeeded("No episode is over yet.")
        return self._result

    # --- inside -------------------------------------------------------------------------------------------------

    def _seated(self) -> tuple[engine.Engine, EngineSeat]:
        """Nothing is started before it is needed: making an environment only to look at its spaces is cheap."""
        if self._closed:
            raise ClosedEnvironmentError("The environment is closed. Make another one.")
        if self._engine is None:
            self._engine = engine.hire()
        if not self._engine.here:
            raise ClosedEnvironmentError("The environment belongs to another process. Make one in this process.")
        if self._seat is None:
            self._seat = EngineSeat(self._engine, self._plan)
        return self._engine, self._seat

    def _choose(self, options: dict[str, Any]) -> str:
        exercise = self._plan.exercise
        task = options.pop("task", None)
        if options:
            raise InputError(f"There is no option {next(iter(options))!r}.", hint='The only one is "task".')
        if task is not None:
            return exercise.get(str(task)).id
        return exercise.tasks[int(self.np_random.integers(len(exercise.tasks)))].id

    def _decision(self, action: Act) -> Act:
        wanted = str if self.settings.actions == "text" else Decision
        if not isinstance(action, wanted):
            raise InvalidAction(f"An action is a {wanted.__name__} here, not a {type(action).__name__}.")
        if isinstance(action, str):
            return self._addresses.unmask(str(action))
        try:
            actions = tuple(Action.of(one.name, **self._addresses.unmask(one.args)) for one in action.actions)
        except ActionError as error:
            raise InvalidAction(str(error)) from error
        return replace(action, actions=actions)

    def _view(self) -> View:
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
        view: View = {name: self._addresses.mask(text) for name, text in texts.items()}
        view |= {"active_tab": page.active_tab, "step": self._steps}
        if {*PICTURES} & {*self._shown}:
            view["screenshot"] = _pixels(page)
        return view

    def _judged(self) -> tuple[float, bool, bool]:
        """Reward, terminated, truncated."""
        if self._result is None:
            return 0.0, False, False
        answered = self._result.trajectory.ending.kind in ("answered", "gave_up")
        terminated = answered and self._result.verdict.status not in UNDECIDED
        return self._result.score or 0.0, terminated, not terminated

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
        if self._result is not None:
            info |= {
                "status": self._result.verdict.status,
                "ending": self._result.trajectory.ending.kind,
                "findings": self._result.failed_checks,
                "fault": self._result.fault,
            }
        return info


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
