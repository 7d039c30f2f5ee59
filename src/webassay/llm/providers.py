"""Where models come from, and the only place that knows providers, their SDKs and their keys.

    openai:gpt-5                                 OPENAI_API_KEY
    azure:my-deployment@https://x.openai.azure.com   AZURE_OPENAI_API_KEY
    anthropic:claude-sonnet-4-20250514           ANTHROPIC_API_KEY
    google:gemini-2.5-pro                        GOOGLE_API_KEY
    openai:NAME@http://127.0.0.1:8000/v1         anything that speaks OpenAI's protocol: vLLM, llama.cpp, Ollama
    python:package.module:make_model             your own: a callable without arguments that returns a Model
    recorded:replies.jsonl                       answers from a file that `recording` wrote

A key goes to its own provider and nowhere else: an address of yours gets `WEBASSAY_MODEL_KEY`, never the
key of OpenAI. No key is ever part of a name, a reply or an error: what a provider says is searched for it first,
and its exceptions are not passed on.
"""

import asyncio
import importlib
import importlib.util
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from webassay.core.errors import InputError, ModelError, boundary
from webassay.core.interaction import Usage
from webassay.llm.client import PROVIDERS_CHOICE, Image, Message, Model, Reply, Settings, Unavailable
from webassay.llm.replay import Recorded

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as SdkModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModelSettings
    from pydantic_ai.settings import ModelSettings

KEY_NAMES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
OWN_KEY = "WEBASSAY_MODEL_KEY"
OPENAI_URL = "https://api.openai.com/v1"
SECONDS_PER_CALL = 600.0
SHORTEST_SECRET = 4
"""A key shorter than this is a dummy; hiding it would only garble texts."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, for models that no price list knows."""

    input: float
    output: float


def connect(spec: str, *, env: Mapping[str, str] | None = None, price: Price | None = None) -> Model:
    """Nothing is imported or sent before the first question; what cannot work is refused now."""
    env = os.environ if env is None else env
    provider, _, rest = spec.partition(":")
    if provider == "python":
        return _own_model(rest)
    if provider == "recorded":
        return Recorded.load(Path(rest))
    if provider not in KEY_NAMES or not rest:
        raise InputError(
            f"Cannot tell which model {spec!r} is.",
            hint=f"Write PROVIDER:NAME or PROVIDER:NAME@URL with one of {', '.join(KEY_NAMES)}, python, recorded.",
        )
    if importlib.util.find_spec("pydantic_ai") is None:
        raise InputError("The packages for models are not installed.", hint="Run: pip install 'webassay[models]'")
    name, _, url = rest.partition("@")
    given_url = url or (env.get("OPENAI_BASE_URL", "") if provider == "openai" else "")
    if provider == "azure" and not given_url:
        given_url = env.get("AZURE_OPENAI_ENDPOINT", "")
        if not given_url:
            raise InputError("Azure needs an address.", hint="Write azure:DEPLOYMENT@https://NAME.openai.azure.com")
    if given_url:
        _check_url(given_url)
    # An address in the spec is the user's own server; one from the environment belongs to the key beside it.
    keys = (OWN_KEY,) if url and provider != "azure" else KEY_NAMES[provider]
    key = next((env[k] for k in keys if env.get(k)), "")
    if not key and not (url and provider != "azure"):
        raise InputError(f"There is no key for {provider}.", hint=f"Set {keys[0]} in the environment.")
    version = env.get("OPENAI_API_VERSION", "2024-10-21")
    return _Provided(provider, name, given_url, _Secret(key), price, version)


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{url.split('@')[-1]!r} is not an address of a model.", hint="Write http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query:
        # The address is recorded with every run; a secret in it would be published.
        raise InputError("The address of a model must not hold a key.", hint=f"Set {OWN_KEY} in the environment.")


def _own_model(place: str) -> Model:
    module_name, _, attribute = place.partition(":")
    with boundary(InputError, f"loading the model python:{place}"):
        model: Model = getattr(importlib.import_module(module_name), attribute)()
    if not hasattr(model, "ask") or not hasattr(model, "name"):
        raise InputError(f"python:{place} does not return a model.", hint="It needs `name` and `async ask(…)`.")
    return model


class _Secret:
    """A key that does not show itself in a repr, a traceback or a log."""

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "_Secret(…)"

    def reveal(self) -> str:
        return self._value

    def hide_in(self, text: str) -> str:
        text = _whole(text)
        return text.replace(self._value, "[key]") if len(self._value) >= SHORTEST_SECRET else text


@dataclass(slots=True)
class _Provided:
    provider: str
    model: str
    url: str
    secret: _Secret
    price: Price | None
    api_version: str
    _sdk: "SdkModel | None" = field(default=None, repr=False)
    _building: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}" + (f"@{self.url}" if self.url else "")

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        settings: Settings = PROVIDERS_CHOICE,
        purpose: str = "",
    ) -> Reply:
        started = time.perf_counter()
        failure: ModelError
        try:
            with boundary(ModelError, f"asking {self.name}"):
                sdk = await self._built()
                talk, parameters = _translate(messages, schema, sdk)
                response = await sdk.request(talk, _sdk_settings(settings, self.provider), parameters)
                return self._reply(response, time.perf_counter() - started)
        except ModelError as error:
            failure = self._without_secrets(error)
        # Raised outside of the handler, so that the provider's own exception is not even its context.
        raise failure

    async def _built(self) -> "SdkModel":
        # In a thread, because the SDKs take seconds to load and other episodes are under way.
        async with self._building:
            if self._sdk is None:
                self._sdk = await asyncio.to_thread(_build, self)
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
        message = self.secret.hide_in(error.message)[:2000]
        if cause is not None and _may_pass(cause):
            return Unavailable(message, retry_after=getattr(cause, "retry_after", None))
        hint = "Check the key and its rights." if getattr(cause, "status_code", None) in (401, 403) else ""
        return ModelError(message, hint=hint)

    async def close(self) -> None:
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            async with sdk:  # leaving is what closes its connections
                pass


def _whole(text: str) -> str:
    """Without halves of characters: pages and models produce them, but neither HTTP nor a store takes them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _may_pass(cause: BaseException) -> bool:
    from pydantic_ai import exceptions  # noqa: PLC0415 - the SDKs are loaded only when a model is called

    if isinstance(cause, exceptions.ModelQuotaExceededError | exceptions.ContentFilterError):
        return False
    if isinstance(cause, exceptions.ModelHTTPError):
        return cause.status_code in (408, 409, 425, 429) or cause.status_code >= 500
    if isinstance(cause, exceptions.ModelRequestRejectedError):
        return False
    # No connection, a connection that died, half a body, a gateway's error page instead of a reply.
    return isinstance(cause, exceptions.ModelAPIError | exceptions.UnexpectedModelBehavior)


def _build(wanted: "_Provided") -> "SdkModel":
    # The SDKs are an extra: they are loaded only when a model is called.
    key = wanted.secret.reveal() or "none"
    url = wanted.url or None
    if wanted.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - see above
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - see above

        return AnthropicModel(wanted.model, provider=AnthropicProvider(api_key=key, base_url=url))
    if wanted.provider == "google":
        from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415 - see above
        from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415 - see above

        return GoogleModel(wanted.model, provider=GoogleProvider(api_key=key, base_url=url))
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - see above
    from pydantic_ai.providers.azure import AzureProvider  # noqa: PLC0415 - see above
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - see above

    if wanted.provider == "azure":
        azure = AzureProvider(azure_endpoint=wanted.url, api_version=wanted.api_version, api_key=key)
        return OpenAIChatModel(wanted.model, provider=azure)
    return OpenAIChatModel(wanted.model, provider=OpenAIProvider(base_url=url or OPENAI_URL, api_key=key))


def _sdk_settings(settings: Settings, provider: str) -> "ModelSettings":
    # One attempt: how often to ask again is decided by `retrying`, where it is bounded and seen.
    chosen: OpenAIChatModelSettings = {"max_retries": 0, "timeout": SECONDS_PER_CALL}
    if settings.temperature is not None:
        chosen["temperature"] = settings.temperature
    if settings.top_p is not None:
        chosen["top_p"] = settings.top_p
    if settings.max_tokens is not None:
        chosen["max_tokens"] = settings.max_tokens
    if settings.reasoning_effort is not None and provider in ("openai", "azure"):
        # By its own name: the common one is dropped in silence for models that the SDK does not know.
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
    from pydantic_ai import messages as m  # noqa: PLC0415 - the SDKs are loaded only when a model is called
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
            return _whole(part)
        # Google reads this field as something else and refuses it.
        detail = {"detail": part.detail} if sdk.system in ("openai", "azure") else None
        return m.BinaryContent(part.data, media_type=part.media_type, vendor_metadata=detail)

    talk: list[m.ModelMessage] = []
    for message in messages:
        if message.role == "assistant":
            talk.append(m.ModelResponse(parts=[m.TextPart(_whole(message.text))]))
            continue
        if not talk or not isinstance(talk[-1], m.ModelRequest):
            talk.append(m.ModelRequest(parts=[]))
        part = (
            m.SystemPromptPart(_whole(message.text))
            if message.role == "system"
            else m.UserPromptPart([content(part) for part in message.parts])
        )
        talk[-1] = m.ModelRequest(parts=[*talk[-1].parts, part])
    return talk, parameters
