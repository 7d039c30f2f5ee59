"""Proof of the tasks: every route of the oracle passes; shortcuts, naive agents and mistakes fail.

What has to be played is played: the reference solution, the other routes, the shortcuts that are walks, and a walker
that does not read. Everything else is grafted onto the oracle's episode and graded offline.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from zlib import crc32

from webassay.agents.flawed.naive import CONSTANTS, WALKERS
from webassay.arena.kit.mistakes import mistakes
from webassay.arena.kit.proof import Proof
from webassay.arena.kit.shortcuts import as_task, grafted
from webassay.arena.kit.template import Template
from webassay.benchmarks.base import Selection
from webassay.compose.builder import PlayOptions
from webassay.compose.given import AnyPath
from webassay.compose.registries import GRADERS, TEMPLATES
from webassay.compose.setup import Setup
from webassay.compose.tasks import TaskSet, adopted, open_world, select
from webassay.core.progress import Progress
from webassay.core.rater import RULES
from webassay.core.task import Task
from webassay.core.trajectory import BlobRef, Blobs, MemoryBlobs, Trajectory
from webassay.core.unit import UnitOfWork
from webassay.core.verdict import Verdict
from webassay.grading.grade import Policy
from webassay.sites.kit import World
from webassay.store import Store
from webassay.store.runs import open_run
from webassay.workbench.play import DEFAULTS, run
from webassay.workbench.tasks import ALL_TASKS

ORACLE = "oracle"


# --- playing ----------------------------------------------------------------------------------------------


async def check(
    setup: Setup, out: AnyPath, selection: Selection = ALL_TASKS, options: PlayOptions = DEFAULTS
) -> list[Proof]:
    """Plays every route of the oracle, shortcuts and a naive agent, then grafts mistakes onto the right episodes: the
    proof that tasks are solvable and strict."""
    selection = adopted(selection)
    await play(setup, Path(out), selection, options)
    return prove(setup, Path(out), selection)


async def play(setup: Setup, out: Path, selection: Selection, options: PlayOptions) -> None:
    tasks = select(selection, setup).tasks
    players = {task.id: _players(task) for task in tasks}
    agents = list(dict.fromkeys(agent for names in players.values() for agent in names))

    def wanted(unit: UnitOfWork) -> bool:
        return unit.agent in players[unit.task_id]

    await run(setup, out, agents, selection, options, wanted=wanted)


def _players(task: Task) -> list[str]:
    """The oracle on all its ways, right and wrong, and one of the walkers: the same one whatever else is played."""
    drawn = _instance(task)
    walkers = list(WALKERS)
    # Where an obstacle makes the task unachievable, nobody gets as far as a shortcut.
    hasty = drawn.hasty() if task.kind == drawn.kind else ()
    ways = [f"{ORACLE}[route={name}]" for name in (*drawn.routes(), *hasty)]
    return [ORACLE, *ways, walkers[crc32(task.id.encode()) % len(walkers)]]


def _instance(task: Task) -> Template:
    return TEMPLATES.get(task.template).from_parameters(task.parameters)


# --- proving ----------------------------------------------------------------------------------------------


def prove(setup: Setup, run: Path, selection: Selection) -> list[Proof]:
    """From a run that `play` has played."""
    tasks = select(selection, setup)
    with open_run(run, setup.tell) as store:
        prover = _Prover(tasks, setup, store)
        for number, (unit, trajectory) in enumerate(store.trajectories(), 1):
            setup.on_progress(Progress("grafting mistakes", number, store.count_units()))
            prover.consider(unit, trajectory)
    return [prover.proofs[name] for name in sorted(prover.proofs)]


class _Grafts(MemoryBlobs):
    """What is grafted onto an episode, beside the blobs of its run, which is only read."""

    def __init__(self, run: Blobs) -> None:
        super().__init__()
        self._run = run

    def read(self, ref: BlobRef) -> bytes:
        return self._data[ref.hash] if ref.hash in self._data else self._run.read(ref)


class _Prover:
    def __init__(self, tasks: TaskSet, setup: Setup, store: Store) -> None:
        self._tasks = tasks
        self._blobs = _Grafts(store.blobs)
        self._grade = GRADERS.get(RULES).grade
        self._world = cache(lambda site, seed, scale: open_world(setup, site, seed, scale))
        self.proofs: dict[str, Proof] = {}

    def consider(self, unit: UnitOfWork, trajectory: Trajectory) -> None:
        task = self._tasks.get(unit.task_id)
        proof = self.proofs.setdefault(task.template, Proof(task.template))
        proof.seconds += trajectory.seconds
        drawn, worlds = _instance(task), self._worlds(task)
        way = unit.agent.removeprefix(f"{ORACLE}[route=").removesuffix("]")
        if unit.agent == ORACLE or way in drawn.routes():
            right = self._must_pass(task, trajectory, proof, "" if unit.agent == ORACLE else way)
            effort = drawn.effort(worlds)
            way_is_longer = unit.agent != ORACLE and effort.longest > effort.steps
            steps, named = (effort.longest, "longest") if way_is_longer else (effort.steps, "steps")
            # Whoever gets past an obstacle takes steps that the template does not count.
            if right and len(trajectory.steps) > steps and not task.obstacles:
                most = f"`{named}` of its effort says {steps}"
                proof.problems.append(f"{unit.id}: it took {len(trajectory.steps)} steps, and {most}")
            if right and unit.agent == ORACLE:
                self._graft(task, trajectory, drawn, proof)
        elif way in drawn.hasty():
            self._must_fail(task, trajectory, proof, "shortcuts", f"played {way}")
            wrong = drawn.shortcuts(worlds)[way]
            if wrong.changes and self._status(as_task(task, wrong), trajectory) != "pass":
                ended = trajectory.ending
                why = f" ({ended.kind}: {ended.message})" if ended.message else ""
                proof.problems.append(f"{unit.id}: the shortcut does not lead where its key says{why}")
        else:
            self._must_fail(task, trajectory, proof, "naive", unit.agent)

    def _worlds(self, task: Task) -> Mapping[str, World]:
        return {site: self._world(site, task.world_seed, task.world_scale) for site in task.sites}

    def _status(self, task: Task, trajectory: Trajectory) -> str:
        """An end that was grafted on contradicts the record; the proof is that it fails for what it is."""
        return self._grade(task, trajectory, self._blobs, Policy(record="off")).status

    def _must_pass(self, task: Task, trajectory: Trajectory, proof: Proof, route: str) -> bool:
        verdict = self._grade(task, trajectory, self._blobs)
        passed = verdict.status == "pass"
        who = f"the route {route}" if route else "the oracle"
        problem = f"{task.id}: {who} does not pass: {_why(verdict, trajectory)}"
        proof.add("routes" if route else "oracle", passed, problem)
        missed = [one.message for one in verdict.findings if one.check == "checkpoint" and one.status != "pass"]
        if passed and missed and not route:
            proof.problems.append(f"{task.id}: the oracle passes without reaching its checkpoint: {', '.join(missed)}")
        proof.most_steps = max(proof.most_steps, len(trajectory.steps))
        seen = [step.seen.screenshot for step in trajectory.steps if step.seen.screenshot is not None]
        if not passed and seen:
            suffix = seen[-1].media_type.rpartition("/")[2].replace("jpeg", "jpg")
            proof.pictures[f"{task.id}{f'-{route}' if route else ''}.{suffix}"] = self._blobs.read(seen[-1])
        return passed

    def _must_fail(self, task: Task, wrong: Trajectory, proof: Proof, column: str, name: str) -> None:
        status = self._status(task, wrong)
        proof.add(column, status == "fail", f"{task.id}: a wrong episode does not fail ({status}): {name}")

    def _graft(self, task: Task, right: Trajectory, drawn: Template, proof: Proof) -> None:
        idle = right
        for name, wrong in mistakes(task, right, self._blobs):
            column = next((known for known in ("step 0", "fact") if known in name), "mistake")
            idle = wrong if column == "step 0" else idle
            self._must_fail(task, wrong, proof, {"fact": "facts", "mistake": "mistakes"}.get(column, column), name)
        for name, answer in CONSTANTS.items():
            said = idle.model_copy(update={"answer": answer(task.goal)})
            self._must_fail(task, said, proof, "naive", name)
        worlds = self._worlds(task)
        shortcuts = drawn.shortcuts(worlds)
        proof.instances += 1
        proof.left_out.update(drawn.misread.keys() - shortcuts.keys())
        for name, key in shortcuts.items():
            self._must_fail(task, grafted(task, right, key, worlds), proof, "shortcuts", name)


_PLACE = re.compile(r'File "(?:[^"]*[/\\\\])?([^"]+)", line (\d+)')


def _why(verdict: Verdict, trajectory: Trajectory) -> str:
    ending = trajectory.ending
    if ending.kind == "agent_crashed":
        # That there is no answer then goes without saying; where it crashed does not.
        places = _PLACE.findall(ending.fault.trace if ending.fault is not None else "")
        return ending.message + (f" ({places[-1][0]}, line {places[-1][1]})" if places else "")
    said = "; ".join(finding.message for finding in verdict.findings if finding.status != "pass") or verdict.status
    return f"{said} ({ending.kind}: {ending.message})" if ending.message else said
