"""How anything here asks a language model: one small protocol, and what can be wrapped around it.

A `Model` answers one conversation. Retries, limits, the spend cap and the cache are wrappers that are
models themselves, so that whoever asks (an agent, a judge) knows nothing of them:

    model = cached(budgeted(retrying(limited(connect("openai:gpt-5"), concurrency=4)), budget), folder)

Errors: `Unavailable` means not now (worth another try), `ModelError` means no, `BudgetError` means that
the money is gone. None of them ever holds a key: `llm.providers` sees to that where the keys are.
"""

import asyncio
import hashlib
import json
import os
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, Self, runtime_checkable

import jsonschema_rs

from webassay.core.errors import BudgetError, InputError, ModelError
from webassay.core.interaction import Usage
from webassay.core.record import content_hash

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
        """These settings, and those of `base` wherever none is set here."""
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
models refuse to be told the temperature that they have anyway. It switches Claude Sonnet 4's thinking on without
naming a budget; `medium` is our reading."""


def preset(name: str) -> Settings:
    try:
        return PRESETS[name]
    except KeyError:
        raise InputError(f"There is no preset {name!r}.", hint=f"Known presets: {', '.join(PRESETS)}.") from None


NOTHING_SPENT = Usage(cost_usd=0.0)
ONE_CALL = Usage(calls=1)


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    usage: Usage = ONE_CALL
    finish_reason: str = "stop"
    """`stop`, `length` (cut at max_tokens), `filter`, or the provider's own word."""
    cached: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)
    """What else the provider told: its own id of the model, the reasoning where it is shown. JSON only."""


class Model(Protocol):
    @property
    def name(self) -> str:
        """As it is recorded: provider and model, never a key."""
        ...

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        settings: Settings = PROVIDERS_CHOICE,
        purpose: str = "",
    ) -> Reply:
        """`schema` asks for JSON of that form; `purpose` says what for, in a word, for the books."""
        ...


class Unavailable(ModelError):
    """Not now, and it is worth trying again: over the rate, overloaded, connection cut."""

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class UnusableReply(ModelError):
    """The model answered, but never in the form that was asked for; the replies are kept as evidence."""

    def __init__(self, message: str, replies: Sequence[Reply]) -> None:
        super().__init__(message)
        self.replies = tuple(replies)


def add_usage(items: Sequence[Usage]) -> Usage:
    """The sum; the cost is unknown as soon as one is."""
    costs = [item.cost_usd for item in items]
    return Usage(
        calls=sum(item.calls for item in items),
        input_tokens=sum(item.input_tokens for item in items),
        output_tokens=sum(item.output_tokens for item in items),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        seconds=sum(item.seconds for item in items),
    )


# --- wrappers -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """What `Model.ask` was given, as one value."""

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None
    settings: Settings
    purpose: str

    async def put_to(self, model: Model) -> Reply:
        return await model.ask(self.messages, schema=self.schema, settings=self.settings, purpose=self.purpose)


def request_hash(model: str, question: Question) -> str:
    """Of everything that decides the answer; a picture counts by its own hash."""

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


@dataclass(frozen=True, slots=True)
class _Wrapped:
    inner: Model
    around: Callable[[Question], Awaitable[Reply]]

    @property
    def name(self) -> str:
        return self.inner.name

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        settings: Settings = PROVIDERS_CHOICE,
        purpose: str = "",
    ) -> Reply:
        return await self.around(Question(messages, schema, settings, purpose))


@runtime_checkable
class _Closing(Protocol):
    async def close(self) -> None: ...


async def close(model: Model) -> None:
    """Lets go of the connections of whatever lies under the wrappers."""
    while (inner := getattr(model, "inner", None)) is not None:
        model = inner
    if isinstance(model, _Closing):
        await model.close()


def configured(model: Model, defaults: Settings) -> Model:
    """`defaults` wherever whoever asks sets nothing."""

    async def ask(question: Question) -> Reply:
        return await replace(question, settings=question.settings.over(defaults)).put_to(model)

    return _Wrapped(model, ask)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a model that is not available is waited for. Both bounds hold."""

    attempts: int = 8
    seconds: float = 1800.0
    first: float = 1.0
    ceiling: float = 60.0
    sleep: Sleep = asyncio.sleep


HALF_AN_HOUR = Patience()


def retrying(model: Model, patience: Patience = HALF_AN_HOUR) -> Model:
    """Asks again, after a wait that doubles, or as long as the provider says (Retry-After)."""

    async def ask(question: Question) -> Reply:
        waited = 0.0
        attempt = 1
        while True:
            try:
                reply = await question.put_to(model)
            except Unavailable as error:
                wait = error.retry_after
                if wait is None:
                    # Jitter keeps a fleet of episodes from knocking in step.
                    wait = min(patience.first * 2 ** (attempt - 1), patience.ceiling) * random.uniform(0.5, 1.0)
                if attempt >= patience.attempts or waited + wait > patience.seconds:
                    raise ModelError(
                        f"{model.name} is not available: asked {attempt} times over {waited:.0f} s. Last: {error}"
                    ) from None
                waited += wait
                attempt += 1
                await patience.sleep(wait)
            else:
                return replace(reply, raw={**reply.raw, "attempts": attempt}) if attempt > 1 else reply

    return _Wrapped(model, ask)


def limited(
    model: Model, *, concurrency: int | None = None, per_minute: float | None = None, sleep: Sleep = asyncio.sleep
) -> Model:
    """At most so many questions at once, and so many a minute, evenly spaced."""
    if (concurrency is not None and concurrency < 1) or (per_minute is not None and per_minute <= 0):
        raise InputError("The limits of a model must be above zero.")
    gate = asyncio.Semaphore(concurrency) if concurrency else nullcontext()
    spacing = 60.0 / per_minute if per_minute else 0.0
    next_start = 0.0

    async def ask(question: Question) -> Reply:
        nonlocal next_start
        async with gate:
            now = time.monotonic()
            start = max(now, next_start)
            next_start = start + spacing
            if start > now:
                await sleep(start - now)
            return await question.put_to(model)

    return _Wrapped(model, ask)


@dataclass(slots=True)
class Budget:
    """Shared by everything that one run asks. Checked before each question, charged after each answer."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    spent: Usage = NOTHING_SPENT
    under_way: int = 0
    dearest: float = 0.0
    """The dearest call so far: what each call under way is taken to cost, so that many at once keep the cap."""

    def check(self) -> None:
        spent = self.spent
        hint = "Raise the cap and resume; what is finished is kept."
        if self.usd is not None and (spent.cost_usd or 0.0) + self.under_way * self.dearest >= self.usd:
            raise BudgetError(
                f"The spend cap of ${self.usd:g} is reached (${spent.cost_usd or 0.0:.4f} spent).", hint=hint
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
                "There is a spend cap, but what a call costs is not known for this model.",
                hint="Give its price, or cap tokens or calls instead.",
            )


def budgeted(model: Model, budget: Budget) -> Model:
    async def ask(question: Question) -> Reply:
        budget.check()
        budget.under_way += 1
        try:
            reply = await question.put_to(model)
        finally:
            budget.under_way -= 1
        if not reply.cached:
            budget.charge(reply.usage)
        return reply

    return _Wrapped(model, ask)


def cached(model: Model, folder: Path, *, salt: str = "") -> Model:
    """The same question gets the same answer, from disk, at no cost.

    What counts as the same: model, messages, schema, settings, purpose and `salt`. Whoever wants several
    samples of one question gives each another seed or purpose; repeated trials of a task differ by salt.
    """

    async def ask(question: Question) -> Reply:
        key = request_hash(model.name, replace(question, purpose=f"{salt}\n{question.purpose}"))
        key = key.removeprefix("sha256:")
        path = folder / key[:2] / f"{key}.json"
        known = _read_reply(path)
        if known is not None:
            return known
        reply = await question.put_to(model)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.{id(reply)}.tmp")
        draft.write_text(json.dumps(reply_to_json(reply), indent=1), encoding="utf-8")
        draft.replace(path)
        return reply

    return _Wrapped(model, ask)


def _read_reply(path: Path) -> Reply | None:
    try:
        reply = reply_from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # a cache entry that cannot be read is no entry; it is written again
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
"""Brackets to try before giving up: an answer of nothing but brackets must not cost quadratic time."""


async def ask_json(
    model: Model,
    messages: Sequence[Message],
    *,
    schema: Mapping[str, Any] | None = None,
    validate: Callable[[Any], Any] | None = None,
    attempts: int = 3,
    purpose: str = "",
) -> tuple[Any, tuple[Reply, ...]]:
    """The value, checked, and every reply on the way to it.

    `schema` is checked with a JSON Schema validator, whatever the provider promised. `validate` may then refuse
    with a ValueError (pydantic's are), or return something better than plain JSON. What was wrong goes back to
    the model as a user turn; after `attempts` replies in all it is an `UnusableReply`.
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
    """The JSON value in a reply: alone, in a fence, or the first whole object or list in the prose."""
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
