"""Who is asked, in which words, and what came back: the books of one verification.

Every call goes through a `Ledger`: it holds the limit on calls under way (a picture is loaded only when its turn
has come, so a thousand trajectories need no more memory than the calls under way), asks, checks the form of the
reply, and keeps the raw replies, the usage and the hash of the prompt. A reply that never takes the form that was
asked for is the stage's business (each has a fallback, and says so in `degraded`); a model that is not available
or refuses is not: that error passes through and the verdict becomes a fault.
"""

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata, resources
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from webassay.core.errors import InputError
from webassay.core.interaction import Usage
from webassay.core.record import Json
from webassay.core.verdict import Fingerprint
from webassay.judging.case import PromptBuilder
from webassay.llm.client import Message, Model, Reply, Settings, UnusableReply, add_usage, ask_json, configured

SLOTS = ("rubric", "relevance", "score", "outcome")


@dataclass(frozen=True, slots=True)
class Models:
    """One model for each part of the work; the ablations of the paper are one of these each."""

    rubric: Model
    relevance: Model
    score: Model
    outcome: Model

    @classmethod
    def one(cls, model: Model, **slots: Model | None) -> "Models":
        """`model` everywhere but where a slot names another."""
        if unknown := set(slots) - set(SLOTS):
            raise InputError(f"No such model slot: {', '.join(sorted(unknown))}.", hint=f"Slots: {', '.join(SLOTS)}.")
        chosen = {slot: slots.get(slot) or model for slot in SLOTS}
        return cls(chosen["rubric"], chosen["relevance"], chosen["score"], chosen["outcome"])

    def with_settings(self, settings: Settings) -> "Models":
        """The same models, told `settings` wherever a stage says nothing of its own."""
        return Models(*(configured(getattr(self, slot), settings) for slot in SLOTS))

    @property
    def name(self) -> str:
        """For the fingerprint: one name where they are all the same."""
        names = {slot: getattr(self, slot).name for slot in SLOTS}
        if len(set(names.values())) == 1:
            return str(names["rubric"])
        return ", ".join(f"{slot}={name}" for slot, name in names.items())


class Form(BaseModel):
    """The form of a reply. Keys that were not asked for are ignored: models add them, and they change nothing."""

    model_config = ConfigDict(extra="ignore", frozen=True)


F = TypeVar("F", bound=Form)


@lru_cache
def prompt(name: str) -> str:
    """The system prompt of a stage: its own file, and the part about fences that all of them share."""
    folder = resources.files("webassay.judging") / "prompts"
    own = (folder / f"{name}.md").read_text(encoding="utf-8").strip()
    for part in ("principles", "evidence_rules"):
        own = own.replace(f"{{{{{part}}}}}", (folder / f"{part}.md").read_text(encoding="utf-8").strip())
    return f"{own}\n\n{(folder / 'fence.md').read_text(encoding='utf-8').strip()}"


@lru_cache
def source_hash() -> str:
    """Of every module of this package: a verdict made by other code is another verdict."""
    digest = hashlib.sha256()
    for module in sorted(resources.files("webassay.judging").iterdir(), key=lambda item: item.name):
        if module.name.endswith(".py"):
            digest.update(module.name.encode() + b"\0" + module.read_bytes() + b"\0")
    return "sha256:" + digest.hexdigest()


def fingerprint(judge: str, models: Models | None, prompts: Sequence[str], settings: Mapping[str, Json]) -> Fingerprint:
    return Fingerprint(
        grader=judge,
        version=metadata.version("webassay"),
        source=source_hash(),
        model=models.name if models else "",
        prompts=prompt_hashes(prompts),
        settings=dict(settings),
    )


def prompt_hashes(names: Sequence[str]) -> dict[str, str]:
    return {name: "sha256:" + hashlib.sha256(prompt(name).encode()).hexdigest() for name in names}


@dataclass(frozen=True, slots=True)
class Question:
    """One question to a model: for which stage, which of its several, in which words."""

    stage: str
    key: str = ""
    """Where a stage asks more than once: what about. Part of what a cache goes by."""
    words: str = ""
    """The prompt's name, where it is not the stage's."""

    @property
    def purpose(self) -> str:
        return f"{self.stage}#{self.key}" if self.key else self.stage

    @property
    def prompt(self) -> Message:
        return Message.system(prompt(self.words or self.stage))


@dataclass
class Ledger:
    limit: asyncio.Semaphore | None = None
    attempts: int = 3
    calls: dict[str, dict[str, Json]] = field(default_factory=dict)
    """By stage, and number where a stage asks more than once."""
    usages: list[Usage] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    """Stages that had to fall back, with what was wrong."""

    async def text(self, model: Model, turn: Question, sheet: Callable[[], PromptBuilder]) -> str:
        """One question, one reply, as it came."""
        async with self.limit or nullcontext():
            reply = await model.ask(await _messages(turn, sheet), purpose=turn.purpose)
        self._keep(turn, model, (reply,))
        return reply.text

    async def form(
        self,
        model: Model,
        turn: Question,
        sheet: Callable[[], PromptBuilder],
        shape: type[F],
        check: Callable[[F], str] = lambda _: "",
    ) -> F:
        """A reply of the given form; `check` says what is wrong beyond the form, or nothing.

        Raises UnusableReply when no reply within the bound was of use; the replies are kept all the same.
        """

        def validate(value: Any) -> F:
            made = shape.model_validate(value)
            if problem := check(made):
                raise ValueError(problem)
            return made

        async with self.limit or nullcontext():
            try:
                made, replies = await ask_json(
                    model,
                    await _messages(turn, sheet),
                    schema=_schema_of(shape),
                    validate=validate,
                    attempts=self.attempts,
                    purpose=turn.purpose,
                )
            except UnusableReply as error:
                self._keep(turn, model, error.replies, problem=str(error))
                raise
        self._keep(turn, model, replies)
        assert isinstance(made, shape)
        return made

    def fell_back(self, stage: str, error: UnusableReply) -> None:
        self.degraded.append(f"{stage}: {error.message}")

    @property
    def usage(self) -> Usage:
        return add_usage(self.usages) if self.usages else Usage(cost_usd=0.0)

    @property
    def count(self) -> int:
        """Replies, repairs included."""
        return sum(len(_replies(call)) for call in self.calls.values())

    def _keep(self, turn: Question, model: Model, replies: Sequence[Reply], problem: str = "") -> None:
        self.usages += [reply.usage for reply in replies]
        call: dict[str, Json] = {"model": model.name, "replies": [reply.text for reply in replies]}
        if problem:
            call["problem"] = problem
        self.calls[turn.purpose] = call


async def _messages(turn: Question, sheet: Callable[[], PromptBuilder]) -> list[Message]:
    # Reading and scaling pictures takes a while; other calls go on meanwhile.
    return [turn.prompt, await asyncio.to_thread(lambda: sheet().message())]


@lru_cache
def _schema_of(shape: type[Form]) -> dict[str, Any]:
    return shape.model_json_schema()


T = TypeVar("T")


async def gather_all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All at once, results in their order. The first failure ends the others, so that nothing is spent in vain."""
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


def _replies(call: dict[str, Json]) -> list[Json]:
    kept = call["replies"]
    assert isinstance(kept, list)
    return kept
