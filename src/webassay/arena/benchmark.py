"""The arena as a benchmark: instances of the templates, drawn from seeded worlds."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from webassay.arena.kit.chores import SiteChores
from webassay.arena.kit.detours import UNAVAILABLE
from webassay.arena.kit.effort import DIFFICULTIES
from webassay.arena.kit.instances import checks_of, instances
from webassay.arena.kit.key import Key
from webassay.arena.kit.template import Template
from webassay.benchmarks.base import Benchmark, Selection, Sources, features, mirroring
from webassay.core.errors import InputError
from webassay.core.task import StateCheck, Task
from webassay.sites.kit import World
from webassay.sites.rng import Stream


def _load(selection: Selection, sources: Sources) -> Sequence[Task]:
    _refuse_unknown(selection.obstacles)
    worlds: dict[tuple[str, int, str], World] = {}
    tasks: list[Task] = []
    for part in _parts(selection):
        templates, count = _few(_suitable(part, sources), part)
        for template in templates:
            places = {site: (site, part.world_seed, part.scale) for site in template.sites}
            for place in places.values():
                if place not in worlds:
                    worlds[place] = sources.world(*place)
            own = {site: worlds[place] for site, place in places.items()}
            drawn = instances(template, own, count, part.seed, part.difficulty)
            around = Surroundings(own, sources.chores(template.sites))
            tasks += [_varied(task, part, around) for task in drawn]
    return tasks


def _refuse_unknown(obstacles: Sequence[str]) -> None:
    known = (*dict.fromkeys((*OBSTACLES, *HARD)), "any")
    for name in obstacles:
        if name not in known:
            raise InputError(f"There is no obstacle {name!r}.", hint=f"There are {', '.join(known)}.")


def _varied(task: Task, selection: Selection, around: "Surroundings") -> Task:
    """The task in a world of another size, or behind obstacles. Its id says so, because it is another task."""
    names = selection.obstacles
    if "any" in names:
        passable = [name for name in OBSTACLES if name not in HARD or not HARD[name].shows(task, around)]
        names = (Stream(selection.seed, "obstacles", task.id).choice(passable),)
    if not names and not selection.scale:
        return task
    marks = "+".join(filter(None, (selection.scale, *names)))
    hints = task.goal.hints
    if {"session-ends", "log-in-wall"} & set(names):
        several = len(task.logins) > 1
        hints = (*hints, *(_account(around.worlds[site], user, several) for site, user in task.logins.items()))
    varied = {
        "id": f"{task.id}@{marks}",
        "world_scale": selection.scale,
        "obstacles": names,
        "goal": task.goal.model_copy(update={"hints": hints}),
    }
    return task.model_copy(update=varied | _refusal(task, names, around))


def _refusal(task: Task, names: Sequence[str], around: "Surroundings") -> dict[str, object]:
    """What nobody can get past makes a task unachievable; whoever says so has done right."""
    for hard in (HARD[name] for name in names if name in HARD):
        if text := hard.shows(task, around):
            key = Key.refusal(hard.status, facts=Key.seen(text, together="page")).on(task.sites)
            checks = checks_of("unachievable", task.sites, task.logins, key)
            return {"kind": "unachievable", "checks": checks, "checkpoints": ()}
    return {}


def _account(world: World, user: str, several: bool) -> str:
    typed = ", ".join(f"{field}: {value}" for field, value in world.site.credentials(user).items())
    of_site = f" of {world.site.title}" if several else ""
    return f"If you are logged out{of_site}, log in again. {typed}"


# --- obstacles --------------------------------------------------------------------------------------------


class Surroundings(NamedTuple):
    """What a task is played on."""

    worlds: Mapping[str, World]
    chores: Sequence[SiteChores]


class Hard(NamedTuple):
    """An obstacle that nobody can get past."""

    status: str
    """The right one then."""
    shows: Callable[[Task, Surroundings], str]
    """What the site shows then; empty: it does not stand in the way of this task, or can be got past."""


def _log_in_wall(task: Task, around: Surroundings) -> str:
    """The log-in of a site where the user has no account."""
    walls = (one for one in around.chores if one.name not in task.logins)
    return next((one.log_in_heading for one in walls if around.worlds[one.name].site.has_accounts), "")


def _sold_out(task: Task, around: Surroundings) -> str:
    changes = [change for check in task.checks if isinstance(check, StateCheck) for change in check.changes]
    filled = {change.table for change in changes if change.operation == "insert"}
    return next((one.sold_out for one in around.chores if filled.intersection(one.sold_into)), "")


OBSTACLES = (
    "cookie-banner", "newsletter-popup", "moved-buttons", "other-theme", "slow", "unavailable", "session-ends",
    "log-in-wall", "form-loses-field",
)  # fmt: skip
"""What `any` draws from. Together with those of `HARD` they are the ones of `sites.obstacles`, which tasks must not
import; a test holds it."""
HARD: Mapping[str, Hard] = {
    "down": Hard("UNKNOWN_ERROR", lambda task, around: UNAVAILABLE),
    "log-in-wall": Hard("PERMISSION_DENIED_ERROR", _log_in_wall),
    "sold-out": Hard("ACTION_NOT_ALLOWED_ERROR", _sold_out),
}
"""What cannot be got past, at least in some tasks."""


def _parts(selection: Selection) -> Sequence[Selection]:
    """Naming tasks is enough: their ids say of which template they are, in which world they were drawn, by which seed,
    with which difficulty, and what was varied."""
    if selection.templates or not selection.tasks:
        return [selection]
    parts: dict[Selection, int] = {}
    for name in selection.tasks:
        found = re.fullmatch(r"(.+)\.w(\d{1,18})s(\d{1,18})(?:-(\w+))?\.(\d{1,3})(?:@(.+))?", name)
        if found is None:
            raise InputError(
                f"There is no task {name!r}.",
                hint="An id looks like shop.low-reviews.w0s0.0; `webassay tasks list` lists them.",
            )
        template, world, seed, difficulty, number, marks = found.groups(default="")
        obstacles = tuple(mark for mark in marks.split("+") if mark in OBSTACLES or mark in HARD)
        part = replace(
            selection, templates=(template,), world_seed=int(world), seed=int(seed),
            difficulty=difficulty or selection.difficulty, obstacles=obstacles,
            scale=next((mark for mark in marks.split("+") if mark not in obstacles), ""),
        )  # fmt: skip
        parts[part] = max(parts.get(part, 0), int(number) + 1)
    return [replace(part, instances=count) for part, count in parts.items()]


def _suitable(selection: Selection, sources: Sources) -> list[type[Template]]:
    wanted = selection.difficulty
    if wanted and wanted not in DIFFICULTIES:
        raise InputError(f"There is no difficulty {wanted!r}.", hint=f"There are {', '.join(DIFFICULTIES)}.")
    known = sources.templates(selection.templates)
    if selection.templates and wanted:
        for template in known:
            if wanted not in template.levels:
                raise InputError(f"{template.name} is never {wanted}.", hint=f"It is {' or '.join(template.levels)}.")
    return [template for template in known if not wanted or wanted in template.levels]


def _few(templates: list[type[Template]], selection: Selection) -> tuple[list[type[Template]], int]:
    """Where not even every template is wanted: which, and how often. Drawing all would take longer than playing few."""
    limit = selection.limit
    if limit is None or selection.tasks or limit >= len(templates):
        return templates, selection.instances
    marks = [(*features(one.kind, one.sites, one.levels), one.chore) for one in templates]
    return [templates[place] for place in sorted(mirroring(marks, limit))], 1


ARENA = Benchmark("arena", "Chores on the embedded sites, generated from templates, with keys computed by SQL.", _load)
