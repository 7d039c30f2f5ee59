"""What was asked in one verification, in which words, and what came back.

Every call goes through a `Ledger`. It limits concurrent calls (pictures are loaded only once a call may start), checks
the form of the reply, and keeps raw replies and usage. A stage without a usable reply falls back and is listed in
`degraded`; an unavailable model makes the verdict a fault. Replies come from outside, so they are made well-formed and
cut to a size that can be stored.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from webassay.core.errors import InputError
from webassay.core.interaction import Usage
from webassay.core.record import Json
from webassay.core.text import capped, well_formed_json
from webassay.judging.case import PromptBuilder
from webassay.judging.prompts import Prompts
from webassay.llm.client import Message, Model, Reply, Settings, UnusableReply, add_usage, ask_json, configured

MAX_REPLY = 200_000
"""Characters of one reply that are kept and read; a reply beyond that is an attack or an accident."""

SLOTS = ("rubric", "relevance", "score", "outcome")


@dataclass(frozen=True, slots=True)
class Models:
    """One model for each part of the work. Every ablation in the paper is one choice of these."""

    rubric: Model
    relevance: Model
    score: Model
    outcome: Model

    @classmethod
    def one(cls, model: Model, **slots: Model | None) -> "Models":
        """`model` for every slot that does not name another."""
        if unknown := set(slots) - set(SLOTS):
            raise InputError(f"No such model slot: {', '.join(sorted(unknown))}.", hint=f"Slots: {', '.join(SLOTS)}.")
        chosen = {slot: slots.get(slot) or model for slot in SLOTS}
        return cls(chosen["rubric"], chosen["relevance"], chosen["score"], chosen["outcome"])

    def with_settings(self, settings: Settings) -> "Models":
        """The same models, with `settings` as their defaults."""
        return Models(*(configured(getattr(self, slot), settings) for slot in SLOTS))

    @property
    def name(self) -> str:
        """For the fingerprint: one name if all slots share it."""
        names = {slot: getattr(self, slot).name for slot in SLOTS}
        if len(set(names.values())) == 1:
            return str(names["rubric"])
        return ", ".join(f"{slot}={name}" for slot, name in names.items())


class ReplyForm(BaseModel):
    """The form of a reply. Extra keys are ignored: models like to add some, and they change nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True)


F = TypeVar("F", bound=ReplyForm)


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """One question to a model: for which stage, about what, in which words."""

    stage: str
    key: str = ""
    """What tells the questions of one stage apart. A reply cache tells them apart by it, too."""
    prompt: str = ""
    """The name of the prompt; by default that of the stage."""

    @property
    def purpose(self) -> str:
        return f"{self.stage}#{self.key}" if self.key else self.stage


@dataclass
class Ledger:
    limit: asyncio.Semaphore | None = None
    attempts: int = 3
    prompts: Prompts = field(default_factory=Prompts)
    calls: dict[str, dict[str, Json]] = field(default_factory=dict)
    """By purpose."""
    _usages: dict[str, list[Usage]] = field(default_factory=dict)
    _degraded: list[str] = field(default_factory=list)

    async def text(self, model: Model, question: JudgeQuestion, build: Callable[[], PromptBuilder]) -> str:
        """One question, one reply in free text."""
        async with self.limit or nullcontext():
            reply = await model.ask(await self._messages(question, build), purpose=question.purpose)
        self._keep(question, model, (reply,))
        return capped(reply.text, MAX_REPLY)

    async def form(
        self,
        model: Model,
        question: JudgeQuestion,
        build: Callable[[], PromptBuilder],
        shape: type[F],
        check: Callable[[F], str] = lambda _: "",
    ) -> F:
        """A reply of the given form. `check` says what else is wrong with it, or nothing. Raises UnusableReply when
        all `attempts` failed; their replies are kept."""

        def validate(value: Any) -> F:
            # JSON can spell out a lone surrogate (`\ud800`), so the parsed value has to be cleaned, not the text.
            made = shape.model_validate(well_formed_json(value, limit=MAX_REPLY))
            if problem := check(made):
                raise ValueError(problem)
            return made

        async with self.limit or nullcontext():
            try:
                made, replies = await ask_json(
                    model,
                    await self._messages(question, build),
                    schema=_schema_of(shape),
                    validate=validate,
                    attempts=self.attempts,
                    purpose=question.purpose,
                )
            except UnusableReply as error:
                self._keep(question, model, error.replies, problem=error.message)
                raise
        self._keep(question, model, replies)
        assert isinstance(made, shape)
        return made

    async def form_or_none(
        self,
        model: Model,
        question: JudgeQuestion,
        build: Callable[[], PromptBuilder],
        shape: type[F],
        check: Callable[[F], str] = lambda _: "",
    ) -> F | None:
        """As `form`, for a stage that can do without: None where no reply can be used."""
        try:
            return await self.form(model, question, build, shape, check)
        except UnusableReply as error:
            self.fell_back(question.stage, error)
            return None

    def fell_back(self, stage: str, error: UnusableReply) -> None:
        self._degraded.append(f"{stage}: {capped(error.message, MAX_REPLY)}")

    @property
    def degraded(self) -> list[str]:
        """Stages that had to fall back, and why. Sorted: calls finish in any order, and verdicts must not differ."""
        return sorted(self._degraded)

    @property
    def usage(self) -> Usage:
        in_order = [usage for _, usages in sorted(self._usages.items()) for usage in usages]
        return add_usage(in_order) if in_order else Usage(cost_usd=0.0)

    @property
    def count(self) -> int:
        """Replies, repairs included."""
        return sum(len(usages) for usages in self._usages.values())

    async def _messages(self, question: JudgeQuestion, build: Callable[[], PromptBuilder]) -> list[Message]:
        system = Message.system(self.prompts[question.prompt or question.stage].text)
        # Reading and scaling pictures takes a while, so it must not hold up the other calls.
        return [system, await asyncio.to_thread(lambda: build().message())]

    def _keep(self, question: JudgeQuestion, model: Model, replies: Sequence[Reply], problem: str = "") -> None:
        self._usages.setdefault(question.purpose, []).extend(reply.usage for reply in replies)
        call: dict[str, Json] = {"model": model.name, "replies": [capped(reply.text, MAX_REPLY) for reply in replies]}
        if problem:
            call["problem"] = capped(problem, MAX_REPLY)
        self.calls[question.purpose] = call


@lru_cache
def _schema_of(shape: type[ReplyForm]) -> dict[str, Any]:
    return shape.model_json_schema()


T = TypeVar("T")


async def gather_all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run everything at once and return results in order. The first failure cancels the rest, to save their cost."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]


A = TypeVar("A")
B = TypeVar("B")


async def gather_pair(one: Coroutine[Any, Any, A], other: Coroutine[Any, Any, B]) -> tuple[A, B]:
    done: list[Any] = await gather_all([one, other])
    return done[0], done[1]
