"""Agents that do not look, over any benchmark that can be graded: nothing is played, so it takes seconds."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from webassay.agents.base import Agent, AgentFactory, AgentRequest, make_agent
from webassay.agents.flawed.naive import CONSTANTS
from webassay.analysis.benchmark.contamination import Guess, guessed, is_vulnerable, of_guessed
from webassay.analysis.output.document import Document
from webassay.benchmarks.base import Selection
from webassay.compose.models import ModelOptions, OpenModels
from webassay.compose.registries import AGENTS, GRADERS
from webassay.compose.setup import Setup
from webassay.compose.tasks import select
from webassay.core.errors import InputError
from webassay.core.interaction import Observation
from webassay.core.progress import Progress
from webassay.core.rater import RULES
from webassay.core.served import ServedRecord
from webassay.core.task import Task
from webassay.core.trajectory import (
    AgentInfo,
    Ending,
    MemoryBlobs,
    NetworkLog,
    PageResult,
    RowsResult,
    ServedResult,
    SessionResult,
    Trajectory,
)
from webassay.judging.plan import TOKENS_OF_REPLY, RehearsalModel
from webassay.llm.client import PROVIDERS_CHOICE, Budget, Model
from webassay.llm.hosted import estimated_cost

KNOWLEDGE = "knowledge"
NOWHERE = Observation(url="about:blank", title="", tabs=(), active_tab=0)


@dataclass(frozen=True)
class GuessOptions:
    agents: tuple[str, ...] = ()
    """Empty: every agent that answers at once, and with a model the one that answers from what the model knows."""
    model: ModelOptions | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    """Task to what somebody else's agent said without looking; graded as the agent `yours`."""
    at_once: int = 8


@dataclass(frozen=True)
class GuessPlan:
    """What asking the model would take."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None: nobody here knows what the model costs."""


NAIVE_ONLY = GuessOptions()


async def contamination(setup: Setup, selection: Selection, options: GuessOptions = NAIVE_ONLY) -> Document:
    """What agents get that do not look at any page, over any benchmark that can be graded. Nothing is played."""
    tasks = select(selection, setup).tasks
    guesses: list[Guess] = []
    seen: list[list[str]] = []
    models = OpenModels(
        setup.cache / "replies",
        budget=Budget(usd=options.model.max_usd if options.model else None),
        concurrency=options.at_once,
    )
    try:
        for name in options.agents or _all(options):
            factory = AGENTS.get(name)
            if factory.name not in CONSTANTS and factory.name != KNOWLEDGE:
                raise InputError(f"{name} has to be played.", hint="Only agents that answer at once can be used here.")
            answers = await _answers(factory, tasks, options, models)
            if not options.agents and answers in seen:
                continue  # without a form of answers, all refusals are one
            seen.append(answers)
            guesses += [_graded(name, task, answer) for task, answer in zip(tasks, answers, strict=True)]
            setup.on_progress(Progress("guessing", len(guesses)))
    finally:
        await models.close()
    unknown = set(options.answers) - {task.id for task in tasks}
    if unknown:
        raise InputError(f"There is no task {min(unknown)} in {selection.benchmark}.")
    if options.answers:
        guesses += [_graded("yours", task, options.answers.get(task.id, "")) for task in tasks]
    made = guessed(selection.benchmark, guesses)
    return Document(f"{selection.benchmark} without looking", of_guessed(made), made.model_dump_json(indent=1))


async def contamination_plan(setup: Setup, selection: Selection, model: ModelOptions) -> GuessPlan:
    """What asking a model about every task would take. Nothing is asked: the model only counts."""
    counting = RehearsalModel("")
    for task in select(selection, setup).tasks:
        await _said(AGENTS.get(KNOWLEDGE), task, counting, model)
    output = counting.calls * TOKENS_OF_REPLY
    calls = max(1, counting.calls)
    each = estimated_cost(model.model, counting.input_tokens // calls, TOKENS_OF_REPLY)
    return GuessPlan(counting.calls, counting.input_tokens, output, None if each is None else each * calls)


def _all(options: GuessOptions) -> Sequence[str]:
    return [*CONSTANTS, *([KNOWLEDGE] if options.model is not None else [])]


async def _answers(
    factory: AgentFactory, tasks: Sequence[Task], options: GuessOptions, models: OpenModels
) -> list[str]:
    model = models.get(options.model.model) if options.model else None
    places = asyncio.Semaphore(options.at_once)

    async def one(task: Task) -> str:
        async with places:
            return await _said(factory, task, model, options.model)

    return await asyncio.gather(*map(one, tasks))


async def _said(factory: AgentFactory, task: Task, model: Model | None, options: ModelOptions | None) -> str:
    settings = options.settings if options else PROVIDERS_CHOICE
    agent = make_agent(factory, AgentRequest(factory.name, factory.options(), model=model, settings=settings))
    assert isinstance(agent, Agent)
    await agent.start(task.goal)
    decision = await agent.decide(NOWHERE)
    return decision if isinstance(decision, str) else str(decision.actions[-1].args["text"])


def _graded(agent: str, task: Task, answer: str) -> Guess:
    blobs = MemoryBlobs()
    verdict = GRADERS.get(RULES).grade(task, idle(task, answer, agent, blobs), blobs)
    return Guess(
        agent=agent,
        task=task.id,
        template=task.template,
        sites=task.sites,
        vulnerable=is_vulnerable(task),
        status=verdict.status,
        answer=answer,
    )


def idle(task: Task, answer: str, agent: str, blobs: MemoryBlobs) -> Trajectory:
    """An episode in which nothing happened but an answer: no request, no row changed, the browser as it was opened."""
    empty = blobs.write(ServedRecord().pack(), "application/octet-stream")
    return Trajectory(
        id=f"{agent}/{task.id}",
        task_id=task.id,
        goal=task.goal,
        agent=AgentInfo(name=agent),
        bases={site: f"http://{site.replace('_', '-')}.invalid" for site in task.sites},
        answer=answer,
        ending=Ending(kind="answered"),
        network=NetworkLog(blob=blobs.write(b"", "application/jsonl"), count=0),
        probes=(
            PageResult(url="about:blank", title="", tabs=("about:blank",)),
            *(RowsResult(site=site, changes=()) for site in task.sites),
            *(SessionResult(site=site, user=user) for site, user in task.logins.items()),
            *(ServedResult(site=site, blob=empty, count=0) for site in task.sites),
        ),
    )
