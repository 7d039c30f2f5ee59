"""How what happens in an episode is written down."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from webassay.agents.base import Agent, BrowserDriver
from webassay.core.errors import ActionError
from webassay.core.interaction import Action, Decision, Observation, parse_actions
from webassay.core.text import capped, well_formed, well_formed_json
from webassay.core.trajectory import AgentInfo, Aim, BlobRef, RecordedObservation, Step, Timing, WritableBlobs


@dataclass(slots=True)
class Acting:
    """One decision being carried out."""

    error: str = ""
    act: float = 0.0
    settle: float = 0.0
    waited_for: list[str] = field(default_factory=list)
    aims: list[Aim] = field(default_factory=list)
    console: tuple[str, ...] = ()


SKIPPED_SHOWN = 5


def skipped_in_words(actions: Sequence[Action]) -> str:
    """How many, and which."""
    named = [action.text if len(action.text) <= 80 else f"{action.text[:80]}…" for action in actions[:SKIPPED_SHOWN]]
    named += ["…"] if len(actions) > SKIPPED_SHOWN else []
    return f"{len(actions)} skipped" + (f": {', '.join(named)}" if named else "")


def recorded(
    index: int, seen: RecordedObservation, decision: Decision, text: str, acting: Acting, timing: Timing
) -> Step:
    info = well_formed_json(dict(decision.info))
    assert isinstance(info, dict)
    return Step(
        index=index,
        seen=seen,
        actions=decision.actions,
        action_text=capped(text),
        thought=capped(decision.thought),
        memory=capped(decision.memory),
        raw=capped(decision.raw),
        error=capped(acting.error),
        waited_for=tuple(acting.waited_for),
        usage=decision.usage,
        info=info,
        timing=timing,
        aims=tuple(acting.aims),
        console=acting.console,
    )


def read_decision(decision: Decision | str) -> tuple[Decision, str, str]:
    """The decision, the text where it came as text, and what is wrong with that text where it cannot be read."""
    text, error = "", ""
    if isinstance(decision, str):
        text, decision = well_formed(decision), Decision(actions=())
        try:
            decision = Decision(actions=parse_actions(text))
        except ActionError as mistake:
            error = str(mistake)
    actions = tuple(action.model_copy(update={"args": well_formed_json(action.args)}) for action in decision.actions)
    return dataclasses.replace(decision, actions=actions), text, error


def describe(agent: Agent | BrowserDriver) -> AgentInfo:
    def plain(name: str) -> Any:
        given = well_formed_json(dict(getattr(agent, name, {})))
        return given if isinstance(given, dict) else {}

    return AgentInfo(
        name=capped(str(agent.name), 1000),
        settings=plain("settings"),
        model=capped(str(getattr(agent, "model", "")), 1000),
        prompts={name: str(value) for name, value in plain("prompts").items()},
    )


def keep(observation: Observation, blobs: WritableBlobs) -> RecordedObservation:
    def text(value: str | None) -> BlobRef | None:
        return None if value is None else blobs.write(well_formed(value).encode(), "text/plain")

    picture = observation.screenshot
    return RecordedObservation(
        url=well_formed(observation.url),
        title=well_formed(observation.title),
        tabs=tuple(well_formed(tab.url) for tab in observation.tabs),
        active_tab=observation.active_tab,
        tree=text(observation.tree),
        text=text(observation.text),
        screenshot=None if picture is None else blobs.write(picture, observation.screenshot_type),
        focused=observation.focused,
        last_error=well_formed(observation.last_error),
        notices=tuple(well_formed(notice) for notice in observation.notices),
    )
