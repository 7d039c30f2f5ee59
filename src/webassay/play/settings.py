"""What a run directory remembers of the call that made it: the tasks, the limits, the agents that were trusted."""

import json
from collections.abc import Iterable
from dataclasses import asdict

from pydantic import TypeAdapter

from webassay.benchmarks.base import Selection
from webassay.core.errors import InputError, boundary
from webassay.play.episode import Limits
from webassay.store import Store

_SELECTION = TypeAdapter(Selection)
_LIMITS = TypeAdapter(Limits)
_NAMES = TypeAdapter(list[str])


def remember(store: Store, selection: Selection, *, offline: bool = False, limits: Limits | None = None) -> None:
    """So that grading and resuming build the same tasks; another selection in the same place is a mistake, and so are
    other limits. Episodes that nobody here played have none."""
    given = {"selection": json.dumps(asdict(selection), sort_keys=True), "offline": json.dumps(offline)}
    if limits is not None:
        given["limits"] = json.dumps(asdict(limits), sort_keys=True)
    for name, text in given.items():
        before = store.setting(name)
        if name in store.damage.settings:
            before = None  # What it said is lost, and the run is continued as it is called now.
        if before is not None and before != text:
            raise InputError(
                f"{store.path} holds a run of other tasks, or with other options.",
                hint=f"It was made with {name} {before}. Give the same options, or another --out.",
            )
        store.set(name, text)


def remember_trusted(store: Store, agents: Iterable[str]) -> None:
    """Once an agent was trusted in a run, the run says so for good."""
    known = trusted_in(store)
    if more := [name for name in agents if name not in known]:
        store.set("trusted", json.dumps([*known, *more]))


def trusted_in(store: Store) -> list[str]:
    with boundary(InputError, f"{store.path} does not say which agents were trusted"):
        return _NAMES.validate_json(store.setting("trusted") or "[]")


def limits_in_words(store: Store) -> str:
    """Under which limits the run was played; empty if it does not say."""
    text = store.setting("limits")
    if text is None:
        return ""
    with boundary(InputError, f"{store.path} does not say which limits it was played under"):
        limits = _LIMITS.validate_json(text)
    steps = "the task's own number of steps" if limits.steps is None else f"{limits.steps} steps"
    return (
        f"{steps}, {limits.actions_a_step} actions a step, {limits.decide_seconds:g} s a decision, "
        f"{limits.episode_seconds:g} s an episode"
    )


def selection_of(store: Store) -> Selection:
    """What the run was planned with. It comes from a file: nothing in it is to be executed."""
    text = store.setting("selection")
    if text is None:
        raise InputError(f"{store.path} does not say which tasks it holds.", hint="Was it made by `webassay run`?")
    with boundary(InputError, f"{store.path} does not say which tasks it holds"):
        return _SELECTION.validate_json(text)
