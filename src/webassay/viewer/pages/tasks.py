"""Agents on templates as a heat map, and one task from all sides."""

from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.core.errors import StoreError
from webassay.core.rater import Rater
from webassay.viewer.page import Page, PageVisit
from webassay.viewer.pages.episodes import wanted_of
from webassay.workbench import ShelvedUnit, look

MOST_ROWS = 400
MOST_ATTEMPTS = 60
SORTS = {"differ": "where agents differ most", "hard": "hardest first", "name": "by name"}


def tasks(visit: PageVisit) -> Response:
    shelf = visit.shelf
    visit.runs()
    rater = shelf.rater(visit.one("grader"))
    wanted = wanted_of(visit, look.facet_names(shelf, rater))
    found = look.narrow(shelf, rater, wanted)
    by = "task" if visit.one("by") == "task" else "template"
    sort = visit.one("sort") if visit.one("sort") in SORTS else "name"
    made = look.heat(found.units, by).sorted(sort)
    return visit.page(
        "tasks.html", "Tasks", heat=made, by=by, sort=sort, sorts=SORTS, wanted=wanted, most=MOST_ROWS,
        facets={name: own for name, own in found.facets.items() if name not in ("task", "template", "status")},
    )  # fmt: skip


def key(visit: PageVisit) -> Response:
    """Built again from the plan of the run, which may take a while: the page that needs it comes first."""
    view, played = look.task_view(visit.run(), visit.one("task")), visit.all("played")
    changed = bool(view.task_hash and played) and set(played) != {view.task_hash}
    return visit.page("key.html", "The key", view=view, changed=changed)


class Attempted(NamedTuple):
    """One agent's episode on the task, as far as it shows side by side."""

    run: str
    agent: str
    unit: str
    status: str
    steps: int
    seconds: float
    picture: str
    answer: str
    why: tuple[str, ...]
    goal: str = ""
    """What the agent was told."""
    task_hash: str = ""


def task(visit: PageVisit) -> Response:
    shelf = visit.shelf
    name = visit.one("task")
    rater = shelf.rater(visit.one("grader"))
    found = look.narrow(shelf, rater, {"task": (name,), "run": visit.all("run"), "agent": visit.all("agent")})
    if not found.units:
        raise HTTPException(404, f"There is no task {name[:200]!r} here.")
    units = sorted(found.units, key=lambda one: (one.run, one.agent, one.row.trial))
    first = units[0]
    attempts = [_attempted(visit, one, rater) for one in units[:MOST_ATTEMPTS]]
    return visit.page(
        "task.html", name, name=name, run=first.run, attempts=attempts, left_out=len(units) - len(attempts),
        played=sorted({one.task_hash for one in attempts if one.task_hash}),
        goal=next((one.goal for one in attempts if one.goal), ""),
        made_for=sorted({one.row.template for one in units if one.row.template}),
    )  # fmt: skip


def _attempted(visit: PageVisit, one: ShelvedUnit, rater: Rater) -> Attempted:
    status = one.row.status
    empty = Attempted(one.run, one.agent, one.unit, status, one.row.steps, one.row.seconds, "", "", ())
    with visit.shelf.run(one.run).open() as recorded:
        try:
            trajectory = recorded.store.trajectory(one.unit)
            if trajectory is None:
                return empty
            verdict = recorded.store.verdict(trajectory.id, rater.name, raters=rater.counting)
        except StoreError as error:
            return empty._replace(why=(error.message,))
    last = trajectory.last_seen or (trajectory.steps[-1].seen if trajectory.steps else None)
    picture = last.screenshot.hash if last is not None and last.screenshot is not None else ""
    told = look.reasons(verdict) if verdict is not None and status != "pass" else []
    goal = trajectory.goal.at({site: f"{site}:" for site in trajectory.bases}).instruction
    answer = trajectory.answer or trajectory.ending.message
    return empty._replace(picture=picture, answer=answer, why=tuple(told), goal=goal, task_hash=trajectory.task_hash)


TASKS = Page("tasks", "/tasks", "Which agents do which tasks.", tasks, title="Tasks", place=4)
KEY = Page("key", "/key", "The key of a task, in words.", key)
TASK = Page("task", "/task", "One task, its key, and every attempt at it.", task)
