"""Tasks of a template: different instances, each checked before an episode is spent on it."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from webassay.arena.kit.dates import days_in_words
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key
from webassay.arena.kit.shortcuts import bites
from webassay.arena.kit.template import Template, Worlds
from webassay.core.errors import TaskError, blaming
from webassay.core.interaction import Goal
from webassay.core.protocols import ARENA_PROTOCOL, READ_WHOLE, reading
from webassay.core.task import ActivityCheck, Check, PageCheck, ResponseCheck, StateCheck, Task, TaskKind
from webassay.sites.rng import Stream

MAX_DRAWS = 4000


def instances(template: type[Template], worlds: Worlds, count: int, seed: int = 0, difficulty: str = "") -> list[Task]:
    """That many different tasks, of one difficulty if it is given; the same ones for the same worlds and seed."""
    worlds = _needed(template, worlds)
    world_seed = worlds[template.sites[0]].seed
    stream = Stream(seed, "arena", template.name, world_seed)
    # The numbers of a filtered list mean other tasks than those of the whole, so their ids must differ.
    prefix = f"{template.name}.w{world_seed}s{seed}" + (f"-{difficulty}" if difficulty else "")
    tasks: list[Task] = []
    drawn: set[Template] = set()
    empty = 0
    unfit = Counter[str]()
    asked: dict[str, list[Key]] = defaultdict(list)
    for number in range(MAX_DRAWS):
        if len(tasks) == count:
            break
        with blaming(TaskError, f"{template.name} cannot be drawn"):
            one = template.drawn(worlds, stream.child(number))
            if one is None or one in drawn:
                empty += one is None
                continue
            drawn.add(one)
            text, key = in_words(one), one.key(worlds)
            if not all(bites(key, other) for other in asked[text]):
                # Such as by another member of the staff.
                unfit["another one asked the same"] += 1
                continue
            asked[text].append(key)
            effort = one.effort(worlds)
            if difficulty in ("", effort.difficulty(len(one.sites))):
                made = _task(one, effort, f"{prefix}.{len(tasks)}", worlds)
                if isinstance(made, Task):
                    tasks.append(made)
                else:
                    unfit[made] += 1
    if len(tasks) < count:
        kind = f" of difficulty {difficulty}" if difficulty else ""
        raise TaskError(
            f"World {world_seed} has only {len(tasks)} {'instance' if len(tasks) == 1 else 'instances'} of "
            f"{template.name}{kind}, not {count}. {MAX_DRAWS} draws gave {len(drawn)} different fair ones"
            + "".join(f"; in {often}, {why}" for why, often in unfit.most_common())
            + f". In {empty} draws there was nothing to draw, or it was not fair.",
            hint=f"Ask for at most {len(tasks)}." if tasks else "Choose another world or difficulty.",
        )
    return tasks


def in_words(drawn: Template) -> str:
    """The instruction, filled in."""
    said = {name: days_in_words(value) if isinstance(value, str) else value for name, value in drawn.parameters.items()}
    return drawn.instruction.format(**said)


def _needed(template: type[Template], worlds: Worlds) -> Worlds:
    """The worlds of the template's own sites, so that it cannot read others by accident."""
    missing = [site for site in template.sites if site not in worlds]
    if missing:
        raise TaskError(f"Template {template.name} needs a world of {', '.join(missing)} as well.")
    chosen = {site: worlds[site] for site in template.sites}
    if len({world.seed for world in chosen.values()}) > 1:
        raise TaskError(f"The worlds of template {template.name} come from different seeds.")
    return chosen


def _given_away(task: Task) -> bool:
    """Whether the answer can be guessed without opening the site: it is empty, 0, or a number that the goal says."""
    for check in task.checks:
        if isinstance(check, ResponseCheck) and check.results is not None and check.results.items is not None:
            values = [item.value for item in check.results.items]
            said = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", task.goal.instruction)}
            numbers = [value for value in values if isinstance(value, int | float)]
            if not values or (len(numbers) == len(values) and {float(number) for number in numbers} <= {0.0, *said}):
                return True
    return False


def _task(drawn: Template, effort: Effort, task_id: str, worlds: Worlds) -> Task | str:
    """The task; or why there is none: its answer can be had without looking, or by hasty reading."""
    key = drawn.key(worlds).on(drawn.sites)
    if wrong := next(_misfits(drawn, key, worlds), None):
        raise TaskError(f"The key of {task_id} {wrong}.")
    shortcuts = drawn.shortcuts(worlds)
    if missing := drawn.hasty().keys() - shortcuts.keys():
        raise TaskError(
            f"The misreading {missing.pop()!r} of {task_id} is played, but does not apply.",
            hint="Name it in `may_agree`, or draw only where it applies: `yield fair(…)`.",
        )
    for name, other in shortcuts.items():
        if not bites(key, other.on(drawn.sites)):
            return f"the misreading {name!r} is right"
    parameters = drawn.parameters
    first, *others = drawn.sites
    places = [*((first, path) for path in drawn.start_pages), *((site, "/") for site in others)]
    task = Task(
        id=task_id,
        benchmark="arena",
        template=drawn.name,
        kind=drawn.kind,
        goal=Goal(
            instruction=in_words(drawn),
            start_urls=tuple(f"__{site.upper()}__{path}" for site, path in places),
            protocol=reading(ARENA_PROTOCOL, drawn.reads),
            sites=drawn.sites,
            modality=drawn.modality,
            hints=(f"You may take at most {effort.step_limit} steps.",),
        ),
        checks=checks_of(drawn.kind, drawn.sites, drawn.logins, key),
        sites=drawn.sites,
        logins=dict(drawn.logins),
        world_seed=worlds[drawn.sites[0]].seed,
        parameters=parameters,
        chore=drawn.chore,
        difficulty=effort.difficulty(len(drawn.sites)),
        checkpoints=key.checkpoints,
        tags=drawn.tags,
        max_steps=effort.step_limit,
    )
    return "the answer can be guessed from the goal" if _given_away(task) else task


def _misfits(drawn: Template, key: Key, worlds: Worlds) -> Iterator[str]:
    """Why the key cannot be right, before an episode is spent on it."""
    proofs = {"retrieve": key.results, "navigate": key.pages, "mutate": key.changes, "unachievable": key.status}
    if not proofs[drawn.kind]:
        yield f"does not decide a task of the kind {drawn.kind}"
    if drawn.kind in ("retrieve", "unachievable") and not key.evidence:
        yield "names no facts that an honest solver must have seen"
    if key.status and drawn.kind != "unachievable":
        yield f"is a refusal, but the task is of the kind {drawn.kind}"
    if unknown := set(drawn.reads) - _result_fields(key):
        yield f"has no results with {', '.join(sorted(unknown))}, which `reads` names"
    for change in key.changes:
        if change.site not in worlds:
            yield f"expects a change on {change.site}, which is not a site of the template"
            continue
        columns = worlds[change.site].site.columns.get(change.table)
        if columns is None:
            yield f"expects a change of {change.table}, which is not a table of {change.site}"
            continue
        for column in (*change.where, *change.values):
            if column not in columns:
                yield f"names {change.table}.{column}, which does not exist"


def _result_fields(key: Key) -> set[str]:
    items = key.results.items or () if key.results is not None else ()
    return {field for item in items for field in (item.fields or (READ_WHOLE,))}


def checks_of(kind: TaskKind, sites: Sequence[str], logins: Collection[str], key: Key) -> tuple[Check, ...]:
    first, *others = sites
    checks: list[Check] = [
        ResponseCheck(
            action="" if kind == "unachievable" else kind,
            status=key.status or ("SUCCESS",),
            results=key.results,
        ),
        StateCheck(changes=key.changes),
        ActivityCheck(site=first, logged_in=first in logins, visits=key.visits),
        *(ActivityCheck(site=site, logged_in=site in logins) for site in others),
    ]
    if key.pages:
        checks.append(PageCheck(any_of=key.pages))
    return (*checks, *key.evidence)
