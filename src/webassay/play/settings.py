"""What a run directory remembers of the call that made it: the tasks, the limits, the agents that were trusted."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

from pydantic import TypeAdapter

from webassay.benchmarks.base import GUESSABLE_SEEDS, RANDOM_WORLD, Selection, drawn_seed
from webassay.core.errors import InputError, boundary
from webassay.core.text import quoted
from webassay.play.episode import Limits
from webassay.store import Store

_SELECTION = TypeAdapter(Selection)
_LIMITS = TypeAdapter(Limits)
_NAMES = TypeAdapter(list[str])
_MADE_OF = TypeAdapter(dict[str, dict[str, str]])


def remember(store: Store, selection: Selection, *, offline: bool = False, limits: Limits | None = None) -> None:
    """So that grading and resuming build the same tasks; another selection in the same place is a mistake, and so are
    other limits. Episodes that nobody here played have none."""
    refuse_others(store, selection, offline=offline, limits=limits)
    for name, text in _as_texts(selection, offline, limits).items():
        store.set(name, text)


def refuse_others(store: Store, selection: Selection, *, offline: bool = False, limits: Limits | None = None) -> None:
    """A run goes on as it began."""
    said: list[str] = []
    for name, text in _as_texts(selection, offline, limits).items():
        before = store.setting(name)
        if name in store.damage.settings:
            before = None  # What it said is lost, and the run is continued as it is called now.
        if before is not None and before != text:
            said += _differences(name, before, text)
    if said:
        raise InputError(
            f"{store.path} holds a run with other options: {'; '.join(said)}.",
            hint="Give the same options, or another --out.",
        )


def _as_texts(selection: Selection, offline: bool, limits: Limits | None) -> dict[str, str]:
    given = {"selection": json.dumps(asdict(selection), sort_keys=True), "offline": json.dumps(offline)}
    if limits is not None:
        given["limits"] = json.dumps(asdict(limits), sort_keys=True)
    return given


def _differences(name: str, before: str, now: str) -> Iterator[str]:
    """Option by option, in words."""
    with boundary(InputError, f"What the run says about its {name} cannot be read"):
        old, new = json.loads(before), json.loads(now)
        both = [({name: each} if not isinstance(each, dict) else each) for each in (old, new)]
        for option in dict.fromkeys([*both[0], *both[1]]):
            was, is_now = (_in_words(each.get(option)) for each in both)
            if was != is_now:
                yield f"{_CALLED.get(option, option.replace('_', ' '))} was {was}, now {is_now}"


_CALLED = {"steps": "the limit of steps", "file": "tasks file", "tasks": "task", "templates": "template"}


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "any"
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not set" if value in (None, "") else str(value)


def remember_agents(store: Store, made_of: Mapping[str, Mapping[str, str]]) -> None:
    """What each agent is made of, so that an edited one does not go on where another began."""
    store.set("agents", json.dumps({**_agents_in(store), **made_of}, sort_keys=True))


def refuse_changed(store: Store, made_of: Mapping[str, Mapping[str, str]]) -> None:
    """Half of a run by one agent and half by another would be a score of neither, and an edited agent would seem to
    have the score of the old one."""
    known = _agents_in(store)
    for name, now in made_of.items():
        before = known.get(name, now)
        played = store.count_units([name]) - store.count_unfinished([name])
        differing = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
        if differing and played:
            told = ", ".join(_told(key, before.get(key), now.get(key)) for key in differing[:MOST_TOLD])
            episodes, other = "1 episode" if played == 1 else f"{played} episodes", quoted(str(_free(store.path)))
            raise InputError(
                f"{name} is not what played {episodes} in {store.path}: {told}.",
                hint=f"Play it in a new run: --out {other}. To resume this one, undo the change.",
            )


def _told(key: str, before: str | None, now: str | None) -> str:
    if before is None or now is None:
        return f"{key} is {'new' if before is None else 'gone'}"
    return f"{key} has changed" if now.startswith("sha256:") else f"{key} was {before}, now {now}"


def _free(path: Path) -> Path:
    stem = re.sub(r"-\d+$", "", path.name)
    return next(place for number in count(2) if not (place := path.with_name(f"{stem}-{number}")).exists())


def _agents_in(store: Store) -> dict[str, dict[str, str]]:
    if "agents" in store.damage.settings:
        return {}
    with boundary(InputError, f"{store.path} does not say what its agents were made of"):
        return _MADE_OF.validate_json(store.setting("agents") or "{}")


MOST_TOLD = 5


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


def worlds_in_words(store: Store) -> str:
    """What somebody who has this package could know of the arena's keys; empty if there is nothing to say."""
    if store.setting("selection") is None:
        return ""
    selection = selection_of(store)
    if selection.benchmark != "arena" or selection.world_seed >= GUESSABLE_SEEDS:
        return ""
    return f"seed {selection.world_seed}: anybody with the package could have computed these keys"


def with_drawn_seed(selection: Selection, store: Store | None) -> Selection:
    """A run that drew its seed keeps it, however often it is resumed."""
    if selection.world_seed != RANDOM_WORLD:
        return selection
    known = selection_of(store).world_seed if store is not None and store.setting("selection") else 0
    return replace(selection, world_seed=known if known >= GUESSABLE_SEEDS else drawn_seed())


def selection_of(store: Store) -> Selection:
    """What the run was planned with. It comes from a file: nothing in it is to be executed."""
    text = store.setting("selection")
    if text is None:
        raise InputError(f"{store.path} does not say which tasks it holds.", hint="Was it made by `webassay run`?")
    with boundary(InputError, f"{store.path} does not say which tasks it holds"):
        return _SELECTION.validate_json(text)
