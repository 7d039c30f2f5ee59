"""Models behind somebody's API, asked through pydantic-ai. The only place where keys are used.

The SDKs are an optional extra and slow to load, so they are imported at the first question. No key is ever part of a
name, a reply or an error: texts from a provider are searched for it, and its exceptions are never passed on.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from webassay.core.errors import ModelError, boundary
from webassay.core.interaction import Usage
from webassay.core.text import first_line, well_formed
from webassay.llm.client import Answering, Image, Message, Question, Reply, Settings, Unavailable

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as SdkModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModelSettings
    from pydantic_ai.settings import ModelSettings

OPENAI_URL = "https://api.openai.com/v1"
SECONDS_PER_CALL = 3600.0
"""Whoever calls has a limit of their own; this one only ends what everybody forgot."""
SECONDS_TO_CONNECT = 5.0
SHORTEST_SECRET = 4
"""A shorter key is a dummy; hiding it would only garble texts."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, for models that no price list knows."""

    input: float
    output: float


class Secret:
    """A key that does not show in a repr, a traceback or a log."""

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Secret(…)"

    def reveal(self) -> str:
        return self._value

    def hide_in(self, text: str) -> str:
        text = well_formed(text)
        return text.replace(self._value, "[key]") if len(self._value) >= SHORTEST_SECRET else text


@dataclass(slots=True)
class HostedModel(Answering):
    provider: str
    model: str
    url: str
    """Empty: the provider's own."""
    secret: Secret
    price: Price | None = None
    api_version: str = ""
    _sdk: "SdkModel | None" = field(default=None, repr=False)
    _building: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}" + (f"@{self.url}" if self.url else "")

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc or f"{self.provider}'s own address"

    async def answer(self, question: Question) -> Reply:
        started = time.perf_counter()
        failure: ModelError
        try:
            with boundary(ModelError, f"asking {self.name}"):
                sdk = await self._built()
                talk, parameters = _translate(question.messages, question.schema, sdk)
                response = await sdk.request(talk, _sdk_settings(question.settings, self.provider), parameters)
                return self._reply(response, time.perf_counter() - started)
        except ModelError as error:
            failure = self._without_secrets(error)
        # Raised outside the handler, so that the provider's exception is not even its context.
        raise failure

    async def _built(self) -> "SdkModel":
        # In a thread: the SDKs take seconds to load, and other episodes are running.
        async with self._building:
            if self._sdk is None:
                self._sdk = await asyncio.to_thread(_BUILDERS[self.provider], self)
            return self._sdk

    def _reply(self, response: "ModelResponse", seconds: float) -> Reply:
        texts = [part.content for part in response.parts if part.part_kind == "text"]
        thoughts = [part.content for part in response.parts if part.part_kind == "thinking" and part.content]
        usage = response.usage
        finish = response.finish_reason or "unknown"
        return Reply(
            text=self.secret.hide_in("".join(texts)),
            usage=Usage(
                calls=1,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cost_usd=self._cost(response),
                seconds=seconds,
            ),
            finish_reason="filter" if finish == "content_filter" else finish,
            raw={
                "model": response.model_name or self.model,
                "id": response.provider_response_id,
                **({"thinking": self.secret.hide_in("\n".join(thoughts))} if thoughts else {}),
                **({"cache_read_tokens": usage.cache_read_tokens} if usage.cache_read_tokens else {}),
            },
        )

    def _cost(self, response: "ModelResponse") -> float | None:
        usage = response.usage
        if self.price is not None:
            return (usage.input_tokens * self.price.input + usage.output_tokens * self.price.output) / 1_000_000
        if self.url and self.provider != "azure":
            return None
        import genai_prices  # noqa: PLC0415 - an optional package, and slow to load

        for reference in (response.model_name, self.model):
            try:
                found = genai_prices.calc_price(usage, model_ref=reference or "", provider_id=self.provider)
            except LookupError:
                continue
            return float(found.total_price)
        return None

    def _without_secrets(self, error: ModelError) -> ModelError:
        cause = error.__cause__
        said = f"asking {self.name}: {_in_words(cause, self.host)}" if cause is not None else error.message
        message = self.secret.hide_in(said)[:2000]
        if cause is not None and _may_pass(cause):
            return Unavailable(message, retry_after=getattr(cause, "retry_after", None))
        hint = "Check the key and its permissions." if getattr(cause, "status_code", None) in (401, 403) else ""
        return ModelError(message, hint=hint)

    async def close(self) -> None:
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            async with sdk:  # leaving the block closes its connections
                pass


def estimated_cost(spec: str, input_tokens: int, output_tokens: int) -> float | None:
    """In US dollars, by the list price of a model such as `openai:gpt-5`. None: no list knows it."""
    provider, _, name = spec.partition(":")
    if not name or "@" in name:
        return None
    try:
        import genai_prices  # noqa: PLC0415 - an optional package, and slow to load

        usage = genai_prices.Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        return float(genai_prices.calc_price(usage, model_ref=name, provider_id=provider).total_price)
    except (ImportError, LookupError):
        return None


def _in_words(cause: BaseException, host: str) -> str:
    """Who said no, with which status, and the first line of what it said."""
    status, body = getattr(cause, "status_code", None), getattr(cause, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        body = (inner.get("message") if isinstance(inner, Mapping) else inner) or json.dumps(body)
    if status is not None:
        return f"{host} answered {status}: {first_line(str(body or cause))}"
    root = cause
    while (deeper := root.__cause__ or root.__context__) is not None:
        root = deeper
    return f"{host}: {first_line(str(cause))}" + (f" ({first_line(str(root))})" if str(root) not in str(cause) else "")


def _may_pass(cause: BaseException) -> bool:
    """Whether the same question may succeed later."""
    from pydantic_ai import exceptions  # noqa: PLC0415 - loaded only when a model is called

    if isinstance(cause, exceptions.ModelQuotaExceededError | exceptions.ContentFilterError):
        return False
    if isinstance(cause, exceptions.ModelHTTPError):
        return cause.status_code in (408, 409, 425, 429) or cause.status_code >= 500
    if isinstance(cause, exceptions.ModelRequestRejectedError):
        return False
    # No connection, a lost connection, half a body, or a gateway's error page instead of a reply.
    return isinstance(cause, exceptions.ModelAPIError | exceptions.UnexpectedModelBehavior)


# --- one builder per SDK, which is loaded only here -------------------------------------------------------


def _anthropic(wanted: HostedModel) -> "SdkModel":
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - see above
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - see above

    return AnthropicModel(wanted.model, provider=AnthropicProvider(api_key=_key(wanted), base_url=wanted.url or None))


def _google(wanted: HostedModel) -> "SdkModel":
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - see above
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415 - see above

    return GoogleModel(wanted.model, provider=GoogleProvider(api_key=_key(wanted), base_url=wanted.url or None))


def _openai(wanted: HostedModel) -> "SdkModel":
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - see above
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - see above

    return OpenAIChatModel(
        wanted.model, provider=OpenAIProvider(base_url=wanted.url or OPENAI_URL, api_key=_key(wanted))
    )


def _azure(wanted: HostedModel) -> "SdkModel":
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - see above
    from pydantic_ai.providers.azure import AzureProvider  # noqa: PLC0415 - see above

    azure = AzureProvider(azure_endpoint=wanted.url, api_version=wanted.api_version, api_key=_key(wanted))
    return OpenAIChatModel(wanted.model, provider=azure)


def _key(wanted: HostedModel) -> str:
    return wanted.secret.reveal() or "none"


_BUILDERS: Mapping[str, "Callable[[HostedModel], SdkModel]"] = {
    "openai": _openai,
    "azure": _azure,
    "anthropic": _anthropic,
    "google": _google,
}


def _sdk_settings(settings: Settings, provider: str) -> "ModelSettings":
    # One attempt: `retrying` decides about more, where retries are bounded and visible.
    chosen: OpenAIChatModelSettings = {"max_retries": 0, "timeout": SECONDS_PER_CALL}
    if provider != "google":  # Its SDK knows one number only.
        from openai import Timeout  # noqa: PLC0415 - of whichever HTTP library the SDKs are built on

        timeout: Any = Timeout(SECONDS_PER_CALL, connect=SECONDS_TO_CONNECT)
        chosen["timeout"] = timeout
    if settings.temperature is not None:
        chosen["temperature"] = settings.temperature
    if settings.top_p is not None:
        chosen["top_p"] = settings.top_p
    if settings.max_tokens is not None:
        chosen["max_tokens"] = settings.max_tokens
    if settings.reasoning_effort is not None and provider in ("openai", "azure"):
        # By its own name: the SDK silently drops the common one for models it does not know.
        chosen["openai_reasoning_effort"] = settings.reasoning_effort
    elif settings.reasoning_effort is not None:
        chosen["thinking"] = settings.reasoning_effort
    if settings.seed is not None:
        chosen["seed"] = settings.seed
    if settings.stop:
        chosen["stop_sequences"] = list(settings.stop)
    return chosen


def _translate(
    messages: Sequence[Message], schema: Mapping[str, Any] | None, sdk: "SdkModel"
) -> "tuple[list[ModelMessage], ModelRequestParameters]":
    from pydantic_ai import messages as m  # noqa: PLC0415 - loaded only when a model is called
    from pydantic_ai.models import ModelRequestParameters  # noqa: PLC0415 - see above
    from pydantic_ai.output import OutputObjectDefinition  # noqa: PLC0415 - see above

    parameters = ModelRequestParameters()
    if schema is not None and sdk.profile.get("supports_json_schema_output"):
        wanted = OutputObjectDefinition(json_schema=dict(schema), name=str(schema.get("title", "answer")))
        parameters = ModelRequestParameters(output_mode="native", output_object=wanted)
    elif schema is not None:
        messages = [*messages, Message.user(f"Answer with JSON only, of this schema: {json.dumps(schema)}")]

    def content(part: str | Image) -> "m.UserContent":
        if isinstance(part, str):
            return well_formed(part)
        # Google gives this field another meaning and rejects it.
        detail = {"detail": part.detail} if sdk.system in ("openai", "azure") else None
        return m.BinaryContent(part.data, media_type=part.media_type, vendor_metadata=detail)

    talk: list[m.ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            talk.append(m.ModelResponse(parts=[m.TextPart(well_formed(message.text))]))
            continue
        if not talk or not isinstance(talk[-1], m.ModelRequest):
            talk.append(m.ModelRequest(parts=[]))
        part = (
            m.SystemPromptPart(well_formed(message.text))
            if message.role == "system"
            else m.UserPromptPart([content(part) for part in message.parts])
        )
        talk[-1] = m.ModelRequest(parts=[*talk[-1].parts, part])
    return talk, parameters
