"""How agents and judges ask a language model: one small protocol, and the wrappers around it.

A `Model` answers one conversation. Retries, limits, the spend cap and the cache are wrappers that are models
themselves, so agents and judges never see them. `assemble` puts them in the right order:

    model = assemble(connect("openai:gpt-5"), folder=replies, budget=Budget(usd=5), concurrency=4)

Errors: `Unavailable` means not now (worth another try), `ModelError` means no, `BudgetError` means the money is spent.
None of them ever contains a key: `llm.hosted` removes it where the key is used.
"""

import asyncio
import hashlib
import json
import os
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, Self, runtime_checkable

import jsonschema_rs

from webassay.core.errors import BudgetError, InputError, ModelError
from webassay.core.interaction import Usage
from webassay.core.record import content_hash
from webassay.core.text import capped, well_formed_json

Role = Literal["system", "user", "assistant"]
Sleep = Callable[[float], Awaitable[None]]

# --- what is asked and answered -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Image:
    data: bytes
    media_type: str = "image/jpeg"
    detail: str = "high"


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    parts: tuple[str | Image, ...]

    @classmethod
    def system(cls, *parts: str | Image) -> Self:
        return cls("system", parts)

    @classmethod
    def user(cls, *parts: str | Image) -> Self:
        return cls("user", parts)

    @classmethod
    def assistant(cls, *parts: str | Image) -> Self:
        return cls("assistant", parts)

    @property
    def text(self) -> str:
        """Without the pictures."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True, slots=True)
class Settings:
    """None leaves the choice to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()

    def over(self, base: "Settings") -> "Settings":
        """These settings, with those of `base` where nothing is set here."""
        mine = {key: value for key, value in asdict(self).items() if value not in (None, ())}
        return replace(base, **mine)


PROVIDERS_CHOICE = Settings()

PRESETS: Mapping[str, Settings] = {
    "generic/gpt-4o": Settings(temperature=0.1, max_tokens=2000),
    "generic/claude-3.7-sonnet": Settings(temperature=0.1, top_p=0.95, max_tokens=2000),
    "generic/gemini-2.5-pro": Settings(temperature=0.1, top_p=0.95, max_tokens=8000),
    "generic/claude-sonnet-4": Settings(max_tokens=8000, reasoning_effort="medium"),
    "generic/gpt-5": Settings(max_tokens=8000, reasoning_effort="medium"),
    "occam/gpt-4o": Settings(temperature=0.5, top_p=0.95, max_tokens=128_000),
    "occam/claude-3.7-sonnet": Settings(temperature=0.95, top_p=0.95, max_tokens=4096),
    "occam/gemini-2.5-pro": Settings(),
    "occam/claude-sonnet-4": Settings(reasoning_effort="medium"),
    "occam/gpt-5": Settings(reasoning_effort="medium"),
}
"""WebChoreArena's appendix E.2, by agent and model. Where the paper says "the default", nothing is sent: reasoning
models reject even their own default temperature. The paper turns on Claude Sonnet 4's thinking without naming a budget;
`medium` is our reading."""


def preset(name: str) -> Settings:
    try:
        return PRESETS[name]
    except KeyError:
        raise InputError(f"There is no preset {name!r}.", hint=f"Known presets: {', '.join(PRESETS)}.") from None


NOTHING_SPENT = Usage(cost_usd=0.0)
ONE_CALL = Usage(calls=1)


@dataclass(frozen=True, slots=True)
class Reply:
    """Text and `raw` are well-formed and bounded from the start, wherever the reply came from."""

    text: str
    usage: Usage = ONE_CALL
    finish_reason: str = "stop"
    """`stop`, `length` (cut at max_tokens), `filter`, or the provider's own word."""
    cached: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)
    """What else the provider returned: its own name for the model, visible reasoning. JSON only."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", capped(self.text))
        object.__setattr__(self, "raw", well_formed_json(self.raw))


class Model(Protocol):
    @property
    def name(self) -> str:
        """Provider and model, as recorded; never a key."""
        ...

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        settings: Settings = PROVIDERS_CHOICE,
        purpose: str = "",
    ) -> Reply:
        """`schema` asks for JSON of that form; `purpose` is one word for the records: what the answer is for."""
        ...


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of `Model.ask` as one value."""

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None
    settings: Settings
    purpose: str

    async def put_to(self, model: Model) -> Reply:
        return await model.ask(self.messages, schema=self.schema, settings=self.settings, purpose=self.purpose)


class Answering(ABC):
    """Base of models that take each question as one value: a subclass has a `name` and defines `answer`."""

    __slots__ = ()

    @abstractmethod
    async def answer(self, question: Question) -> Reply: ...

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        settings: Settings = PROVIDERS_CHOICE,
        purpose: str = "",
    ) -> Reply:
        # A copy, because callers extend their list as the conversation goes on.
        return await self.answer(Question(tuple(messages), schema, settings, purpose))


Answer = Callable[[Question], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class _Function(Answering):
    name: str
    function: Answer
    inner: Model | None = None

    async def answer(self, question: Question) -> Reply:
        return await self.function(question)


def model_of(name: str, answer: Answer, *, inner: Model | None = None) -> Model:
    """A model made of a function. `inner` is the model it wraps, if any, so that `close` reaches it."""
    return _Function(name, answer, inner)


class Unavailable(ModelError):
    """Not now, but worth another try: rate limit, overload, lost connection."""

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


ARE_YOU_THERE = "This is a check before a run. Reply with one word: ready"


async def knock(model: Model, settings: Settings) -> Reply:
    """One tiny question, so that a model that cannot answer is found before anything depends on it. It is asked once
    more for a stumble, not for an hour: whoever waits wants to know."""
    started = time.monotonic()
    while True:
        try:
            return await model.ask([Message.user(ARE_YOU_THERE)], settings=settings, purpose="check")
        except Unavailable as error:
            wait = 1.0 if error.retry_after is None else error.retry_after
            if time.monotonic() - started + wait > KNOCKING_SECONDS:
                raise
            await asyncio.sleep(wait)


KNOCKING_SECONDS = 4.0


class UnusableReply(ModelError):
    """The model answered, but never in the requested form; the replies are kept as evidence."""

    def __init__(self, message: str, replies: Sequence[Reply]) -> None:
        super().__init__(message)
        self.replies = tuple(replies)


def add_usage(items: Sequence[Usage]) -> Usage:
    """The sum; one unknown cost makes the total unknown."""
    costs = [item.cost_usd for item in items]
    return Usage(
        calls=sum(item.calls for item in items),
        input_tokens=sum(item.input_tokens for item in items),
        output_tokens=sum(item.output_tokens for item in items),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        seconds=sum(item.seconds for item in items),
    )


# --- wrappers -------------------------------------------------------------------------------------------


def request_hash(model: str, question: Question) -> str:
    """A hash of everything that affects the answer; pictures are represented by their own hash."""

    def key(part: str | Image) -> Any:
        if isinstance(part, str):
            return part
        return [part.media_type, part.detail, hashlib.sha256(part.data).hexdigest()]

    return content_hash(
        {
            "model": model,
            "messages": [[message.role, [key(part) for part in message.parts]] for message in question.messages],
            "schema": None if question.schema is None else dict(question.schema),
            "settings": {**asdict(question.settings), "stop": list(question.settings.stop)},
            "purpose": question.purpose,
        }
    )


@runtime_checkable
class _Closing(Protocol):
    async def close(self) -> None: ...


async def close(model: Model) -> None:
    """Closes the connections of the model under all the wrappers."""
    while (inner := getattr(model, "inner", None)) is not None:
        model = inner
    if isinstance(model, _Closing):
        await model.close()


def configured(model: Model, defaults: Settings) -> Model:
    """Uses `defaults` for settings the caller leaves unset."""

    async def ask(question: Question) -> Reply:
        return await replace(question, settings=question.settings.over(defaults)).put_to(model)

    return model_of(model.name, ask, inner=model)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for an unavailable model. Both bounds apply."""

    attempts: int = 8
    seconds: float = 1800.0
    first: float = 1.0
    ceiling: float = 60.0
    sleep: Sleep = asyncio.sleep
    tell: Callable[[str], None] = lambda said: None
    """Hears of a model that keeps somebody waiting."""


HALF_AN_HOUR = Patience()
TOLD_FROM = 3
"""The attempt from which on somebody should know: one lost question is nothing unusual."""


def retrying(model: Model, patience: Patience = HALF_AN_HOUR) -> Model:
    """Asks again after a wait that doubles each time, or for as long as the provider says (Retry-After)."""

    async def ask(question: Question) -> Reply:
        waited = 0.0
        attempt = 1
        while True:
            try:
                reply = await question.put_to(model)
            except Unavailable as error:
                wait = error.retry_after
                if wait is None:
                    # Jitter keeps parallel episodes from retrying in lockstep.
                    wait = min(patience.first * 2 ** (attempt - 1), patience.ceiling) * random.uniform(0.5, 1.0)
                if attempt >= patience.attempts or waited + wait > patience.seconds:
                    raise ModelError(
                        f"{model.name} is not available: gave up after {attempt} "
                        f"{'attempt' if attempt == 1 else 'attempts'} and {waited:.0f} s of waiting. Last: {error}"
                    ) from None
                waited += wait
                attempt += 1
                if attempt == TOLD_FROM:
                    patience.tell(f"{model.name} is asked again and again: {error.message}")
                await patience.sleep(wait)
            else:
                return replace(reply, raw={**reply.raw, "attempts": attempt}) if attempt > 1 else reply

    return model_of(model.name, ask, inner=model)


def limited(model: Model, concurrency: int | None = None) -> Model:
    """At most this many questions at once."""
    if concurrency is not None and concurrency < 1:
        raise InputError("A model's concurrency must be at least 1.")
    gate = asyncio.Semaphore(concurrency) if concurrency else nullcontext()

    async def ask(question: Question) -> Reply:
        async with gate:
            return await question.put_to(model)

    return model_of(model.name, ask, inner=model)


_ROUNDING = 1e-9
"""Dollars: ten calls of 10 cents fit into one dollar."""


@dataclass(slots=True)
class Budget:
    """Shared by all questions of one run. Checked before each question, charged after each answer."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    spent: Usage = NOTHING_SPENT
    under_way: int = 0
    dearest: float = 0.0
    """The most expensive call so far. Each call under way, and the next one, is assumed to cost this much, so that the
    cap is overrun only by a call that is dearer than all before it."""
    alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the first call under a cap in dollars: until it is back, nobody knows what a call costs."""

    def check(self) -> None:
        spent = self.spent
        hint = "Raise the cap and resume; finished work is kept."
        spent_usd = spent.cost_usd or 0.0
        if self.usd is not None and (
            spent_usd >= self.usd or spent_usd + (self.under_way + 1) * self.dearest > self.usd + _ROUNDING
        ):
            raise BudgetError(
                f"The next call may exceed the spend cap of ${self.usd:g} (${spent_usd:.4f} spent).", hint=hint
            )
        if self.tokens is not None and spent.input_tokens + spent.output_tokens >= self.tokens:
            raise BudgetError(f"The cap of {self.tokens} tokens is reached.", hint=hint)
        if self.calls is not None and spent.calls + self.under_way >= self.calls:
            raise BudgetError(f"The cap of {self.calls} calls is reached.", hint=hint)

    def charge(self, usage: Usage) -> None:
        self.dearest = max(self.dearest, usage.cost_usd or 0.0)
        self.spent = add_usage([self.spent, usage])
        if self.usd is not None and self.spent.cost_usd is None:
            raise BudgetError(
                "There is a spend cap, but the price of this model is not known.",
                hint="Set WEBASSAY_MODEL_PRICE to US dollars per million tokens, input/output, such as 0.5/1.5.",
            )


def budgeted(model: Model, budget: Budget) -> Model:
    async def ask(question: Question) -> Reply:
        if budget.usd is not None and not budget.spent.calls:
            async with budget.alone:
                if not budget.spent.calls:
                    return await pay(question)
        return await pay(question)

    async def pay(question: Question) -> Reply:
        budget.check()
        budget.under_way += 1
        try:
            reply = await question.put_to(model)
        finally:
            budget.under_way -= 1
        if not reply.cached:
            budget.charge(reply.usage)
        return reply

    return model_of(model.name, ask, inner=model)


@dataclass(frozen=True, slots=True)
class _Cached(Answering):
    inner: Model
    folder: Path
    salt: str

    @property
    def name(self) -> str:
        return self.inner.name

    async def answer(self, question: Question) -> Reply:
        key = request_hash(self.name, replace(question, purpose=f"{self.salt}\n{question.purpose}"))
        key = key.removeprefix("sha256:")
        path = self.folder / key[:2] / f"{key}.json"
        known = _read_reply(path)
        if known is not None:
            return known
        reply = await question.put_to(self.inner)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.{id(reply)}.tmp")
        draft.write_text(json.dumps(reply_to_json(reply), indent=1), encoding="utf-8")
        draft.replace(path)
        return reply


def cached(model: Model, folder: Path, *, salt: str = "") -> Model:
    """The same question gets the same answer, from disk, at no cost.

    Questions are the same if model, messages, schema, settings, purpose and `salt` are. For several samples of one
    question, give each its own seed or purpose; for repeated trials of a task, use `for_trial`.
    """
    return _Cached(model, folder, salt)


def for_trial(model: Model, trial: int) -> Model:
    """The same model, whose cache keeps this trial's answers apart; limits and budget stay shared.

    Without it, an agent that repeats its prompt gets one answer for all its trials, and pass@k means nothing. Trial 0
    reads what an unsalted cache wrote. A model without a cache is returned as it is.
    """
    if trial == 0:
        return model
    if isinstance(model, _Cached):
        return replace(model, salt=f"{model.salt}trial {trial}")
    inner = getattr(model, "inner", None)
    while inner is not None:
        if isinstance(inner, _Cached):
            raise TypeError("for_trial must be applied before anything is wrapped around the cache")
        inner = getattr(inner, "inner", None)
    return model


def assemble(
    model: Model,
    *,
    folder: Path | None = None,
    budget: Budget | None = None,
    concurrency: int | None = None,
    patience: Patience = HALF_AN_HOUR,
    salt: str = "",
) -> Model:
    """Everything a run wraps around its model, in the order that makes sense of it.

    Limits are innermost, so that waiting for a retry holds no slot; the budget sees one call however often it was
    retried; the cache is outermost, so that a known answer costs nothing and waits for nobody. No `folder`: no cache.
    """
    asking = retrying(limited(model, concurrency), patience)
    if budget is not None:
        asking = budgeted(asking, budget)
    return asking if folder is None else cached(asking, folder, salt=salt)


def _read_reply(path: Path) -> Reply | None:
    try:
        reply = reply_from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # an unreadable entry counts as missing and is written again
    paid = reply.usage.model_copy(update={"calls": 0, "cost_usd": 0.0, "seconds": 0.0})
    return replace(reply, usage=paid, cached=True)


def reply_to_json(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.text,
        "usage": reply.usage.model_dump(),
        "finish_reason": reply.finish_reason,
        "raw": dict(reply.raw),
    }


def reply_from_json(value: Mapping[str, Any]) -> Reply:
    return Reply(
        text=str(value["text"]),
        usage=Usage.model_validate(value.get("usage") or {"calls": 1}),
        finish_reason=str(value.get("finish_reason", "stop")),
        raw=dict(value.get("raw") or {}),
    )


# --- JSON answers ---------------------------------------------------------------------------------------

REPAIR = "That cannot be used: {problem}\nAnswer again with the corrected JSON only."
MAX_JSON_STARTS = 50
"""Brackets to try before giving up: an answer made of brackets must not cost quadratic time."""


async def ask_json(
    model: Model,
    messages: Sequence[Message],
    *,
    schema: Mapping[str, Any] | None = None,
    validate: Callable[[Any], Any] | None = None,
    attempts: int = 3,
    purpose: str = "",
) -> tuple[Any, tuple[Reply, ...]]:
    """The checked value, and every reply on the way to it.

    The reply is validated against `schema` even if the provider promises to. `validate` may then reject the value with
    a ValueError (pydantic's are), or return something better than plain JSON. The problem goes back to the model as a
    user message; after `attempts` replies it becomes an `UnusableReply`.
    """
    checker = None if schema is None else jsonschema_rs.validator_for(dict(schema))
    talk = list(messages)
    replies: list[Reply] = []
    problem = "no attempts are allowed"
    for _ in range(attempts):
        reply = await model.ask(talk, schema=schema, purpose=purpose)
        replies.append(reply)
        try:
            value = read_json(reply.text)
            if checker is not None:
                error = next(checker.iter_errors(value), None)
                if error is not None:
                    place = "/".join(str(part) for part in error.instance_path) or "the whole"
                    raise ValueError(f"{place}: {error.message}")
            return (value if validate is None else validate(value)), tuple(replies)
        except ValueError as error:
            cut = " (the answer was cut off at the token limit)" if reply.finish_reason == "length" else ""
            problem = f"{error}{cut}"[:2000]
        talk += [Message.assistant(reply.text), Message.user(REPAIR.format(problem=problem))]
    raise UnusableReply(f"{model.name} gave no usable JSON in {attempts} replies. Last problem: {problem}", replies)


def read_json(text: str) -> Any:
    """The JSON value in a reply: bare, fenced, or the first complete object or list in the prose."""
    bare = text.strip()
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        pass
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(MAX_JSON_STARTS):
        starts = [place for place in (bare.find("{", at), bare.find("[", at)) if place >= 0]
        if not starts:
            break
        try:
            return decoder.raw_decode(bare, min(starts))[0]
        except (ValueError, RecursionError):
            at = min(starts) + 1
    raise ValueError("there is no JSON object in the answer")
