"""Templates: one chore, many instances, each with a key that is computed and a solution that is played.

A template draws parameters from a seeded world, phrases the goal, and computes the key by SQL over that world.
Its reference solution gets the parameters and the pages, never the key; what it reads must equal the SQL.
"""

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field

from webassay.core.errors import TaskError
from webassay.core.interaction import Action, Goal, Observation
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.record import Json, content_hash
from webassay.core.task import (
    ActivityCheck,
    Check,
    Checkpoint,
    ChoreType,
    Expectation,
    ExpectedChange,
    PageCheck,
    PagePattern,
    ResponseCheck,
    StateCheck,
    Task,
    TaskKind,
)
from webassay.sites.kit import World
from webassay.sites.rng import Stream

Parameters = Mapping[str, Json]
Worlds = Mapping[str, World]
Walk = Generator[Action, Observation, Json]
Solution = Callable[[Goal, Parameters, Observation], Walk]


@dataclass(frozen=True, slots=True)
class Key:
    """What a right episode looks like, computed from the world."""

    results: Expectation | None = None
    status: tuple[str, ...] = ("SUCCESS",)
    changes: tuple[ExpectedChange, ...] = ()
    """Rows that must change; every other change of content fails, also on tasks that only read."""
    page: tuple[PagePattern, ...] = ()
    visits: tuple[tuple[PagePattern, ...], ...] = ()
    """Pages that a diligent search cannot miss, one group for each."""
    checkpoints: tuple[Checkpoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    name: str
    site: str
    kind: TaskKind
    chore: ChoreType
    instruction: str
    """Filled in with the parameters by `str.format`."""
    draw: Callable[[World, Stream], Parameters | None]
    """Parameters of one instance; None where the draw fell on something unusable."""
    key: Callable[[World, Parameters], Key]
    solve: Solution
    user: str = ""
    """Whose log-in is set up; empty: nobody's. A parameter `user` takes precedence."""
    start: str = "/"
    difficulty: str = "medium"
    max_steps: int = 50
    tags: tuple[str, ...] = field(default=())

    @property
    def id(self) -> str:
        return f"{self.site}.{self.name}"


MAX_DRAWS = 400


def instances(template: Template, world: World, count: int, seed: int = 0) -> list[Task]:
    """That many different instances, the same ones for the same world and seed."""
    tasks: list[Task] = []
    seen: set[str] = set()
    stream = Stream(seed, "arena", template.id, world.seed)
    for number in range(MAX_DRAWS):
        if len(tasks) == count:
            return tasks
        parameters = template.draw(world, stream.child(number))
        if parameters is None or (digest := content_hash(dict(parameters))) in seen:
            continue
        seen.add(digest)
        task = _task(template, world, parameters, len(tasks), seed)
        if not _given_away(task):
            tasks.append(task)
    if len(tasks) == count:
        return tasks
    raise TaskError(
        f"Template {template.id} gives only {len(tasks)} instances on world {world.seed}, not {count}.",
        hint="Ask for fewer instances.",
    )


def _given_away(task: Task) -> bool:
    """Whether somebody who never opened the site could be right: nothing there, or a number of the goal's own text."""
    for check in task.checks:
        if isinstance(check, ResponseCheck) and check.results is not None and check.results.items is not None:
            values = [item.value for item in check.results.items]
            said = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", task.goal.instruction)}
            numbers = [value for value in values if isinstance(value, int | float)]
            if not values or (len(numbers) == len(values) and {float(number) for number in numbers} <= {0.0, *said}):
                return True
    return False


def _task(template: Template, world: World, parameters: Parameters, number: int, seed: int) -> Task:
    key = template.key(world, parameters)
    user = str(parameters.get("user") or template.user)
    return Task(
        id=f"{template.id}.w{world.seed}s{seed}.{number}",
        benchmark="arena",
        template=template.id,
        kind=template.kind,
        goal=Goal(
            instruction=template.instruction.format(**parameters),
            start_urls=(f"__{template.site.upper()}__{template.start}",),
            protocol=ARENA_PROTOCOL,
            sites=(template.site,),
        ),
        checks=_checks(template, key, user),
        sites=(template.site,),
        logins={template.site: user} if user else {},
        world_seed=world.seed,
        parameters=dict(parameters),
        chore=template.chore,
        difficulty=template.difficulty,
        checkpoints=key.checkpoints,
        tags=template.tags,
        max_steps=template.max_steps,
    )


def _checks(template: Template, key: Key, user: str) -> tuple[Check, ...]:
    actions = {"retrieve": "retrieve", "navigate": "navigate", "mutate": "mutate", "unachievable": ""}
    checks: list[Check] = [
        ResponseCheck(action=actions[template.kind], status=key.status, results=key.results),
        StateCheck(changes=key.changes),
        ActivityCheck(site=template.site, logged_in=bool(user), visits=key.visits),
    ]
    if key.page:
        checks.append(PageCheck(any_of=key.page))
    return tuple(checks)
