"""Where models come from.

    openai:gpt-5                                 OPENAI_API_KEY
    azure:my-deployment@https://x.openai.azure.com   AZURE_OPENAI_API_KEY
    anthropic:claude-sonnet-4-20250514           ANTHROPIC_API_KEY
    google:gemini-2.5-pro                        GOOGLE_API_KEY
    openai:NAME@http://127.0.0.1:8000/v1         anything that speaks OpenAI's protocol: vLLM, llama.cpp, Ollama
    python:package.module:make_model             your own: a callable without arguments that returns a Model
    recorded:replies.jsonl                       answers from a file that `recording` wrote

The word before the colon names a `Provider`; packages add more through the entry point group `webassay.providers`.

A key goes to its own provider and nowhere else: an address of your own gets `WEBASSAY_MODEL_KEY`, never OpenAI's key.
`WEBASSAY_MODEL_PRICE` is what a model costs that no price list knows: US dollars per million tokens, input/output.
"""

import importlib.util
import os
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from webassay.core.errors import InputError, ModelError, boundary, to_install
from webassay.llm.client import Model, Question, Reply, model_of
from webassay.llm.hosted import HostedModel, Price, Secret
from webassay.llm.replay import RecordedModel

OWN_KEY = "WEBASSAY_MODEL_KEY"
OWN_PRICE = "WEBASSAY_MODEL_PRICE"


@dataclass(frozen=True, slots=True)
class Provider:
    """One source of models."""

    name: str
    """What stands before the colon."""
    summary: str
    connect: Callable[[str, Mapping[str, str], Price | None], Model]
    """Gets what follows the colon, the environment, and the price if the user gave one. Sends nothing; refuses what
    cannot work with an `InputError`."""
    keys: tuple[str, ...] = ()
    """Environment variables that may hold its key, most usual first."""


def connect(
    spec: str,
    *,
    env: Mapping[str, str] | None = None,
    price: Price | None = None,
    find: "Callable[[str], Provider] | None" = None,
) -> Model:
    """The model that `PROVIDER:NAME` means. Nothing is sent before the first question.

    `find` looks up providers by name (a registry's `get`); without it, only the built-in ones are known.
    """
    name, _, rest = spec.partition(":")
    if not rest:
        raise InputError(f"{spec!r} does not name a model.", hint=_HINT)
    provider = (find or _built_in)(name)
    env = os.environ if env is None else env
    return provider.connect(rest, env, price or own_price(env))


def own_price(env: Mapping[str, str] | None = None) -> Price | None:
    given = (os.environ if env is None else env).get(OWN_PRICE, "")
    if not given:
        return None
    found = re.fullmatch(r"\s*(\d+\.?\d*)\s*/\s*(\d+\.?\d*)\s*", given, re.ASCII)
    if found is None:
        raise InputError(
            f"{OWN_PRICE} is {given!r:.40}, which is not a price.",
            hint="Give US dollars per million tokens, input/output, such as 0.5/1.5.",
        )
    return Price(float(found[1]), float(found[2]))


def _built_in(name: str) -> Provider:
    for provider in PROVIDERS:
        if provider.name == name:
            return provider
    raise InputError(f"There is no model provider {name!r}.", hint=_HINT)


# --- hosted models ----------------------------------------------------------------------------------------


def _hosted(name: str, summary: str, keys: tuple[str, ...], *, url_variable: str = "") -> Provider:
    """A provider with an SDK: `MODEL`, or `MODEL@URL` for a server of your own."""

    def connect(rest: str, env: Mapping[str, str], price: Price | None) -> Model:
        _need_packages()
        model, _, url = rest.partition("@")
        # An address in the spec is the user's own server; one from the environment belongs to the key next to it.
        address = url or env.get(url_variable, "")
        if address:
            _check_url(address)
        if not model:
            raise InputError(f"{name}:{rest} does not name a model.", hint=_HINT)
        if url:
            return HostedModel(name, model, address, Secret(env.get(OWN_KEY, "")), price)
        return HostedModel(name, model, address, Secret(_key(name, keys, env)), price)

    return Provider(name, summary, connect, keys)


AZURE_KEYS = ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY")


def _azure(rest: str, env: Mapping[str, str], price: Price | None) -> Model:
    """A deployment is always at an address of the user's, and that is where the key belongs."""
    _need_packages()
    deployment, _, url = rest.partition("@")
    address = url or env.get("AZURE_OPENAI_ENDPOINT", "")
    if not address or not deployment:
        raise InputError(
            "Azure needs a deployment and an address.", hint="Write azure:DEPLOYMENT@https://NAME.openai.azure.com"
        )
    _check_url(address)
    version = env.get("OPENAI_API_VERSION", "2024-10-21")
    return HostedModel("azure", deployment, address, Secret(_key("azure", AZURE_KEYS, env)), price, version)


def _need_packages() -> None:
    if importlib.util.find_spec("pydantic_ai") is None:
        raise InputError("The model packages are not installed.", hint=to_install("models"))


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError:  # such as a bracket that is never closed
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{url.split('@')[-1]!r} is not the address of a model.", hint="Write http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query:
        # The address is recorded with every run; a secret in it would be published.
        raise InputError("The address of a model must not contain a key.", hint=f"Set {OWN_KEY} in the environment.")


def _key(provider: str, names: tuple[str, ...], env: Mapping[str, str]) -> str:
    for name in names:
        if env.get(name):
            return env[name]
    raise InputError(f"There is no key for {provider}.", hint=f"Set {names[0]} in the environment.")


# --- your own, and recordings -----------------------------------------------------------------------------


def _own_model(place: str, env: Mapping[str, str], price: Price | None) -> Model:
    with boundary(InputError, f"python:{place} cannot be loaded"):
        model: Model = pkgutil.resolve_name(place)()
    if not hasattr(model, "ask") or not hasattr(model, "name"):
        raise InputError(f"python:{place} does not return a model.", hint="It needs `name` and `async ask(…)`.")

    async def ask(question: Question) -> Reply:
        # What breaks in the model is not the fault of the agent that asks it.
        with boundary(ModelError, f"asking {model.name}"):
            return await question.put_to(model)

    return model_of(model.name, ask, inner=model)


def _recorded(place: str, env: Mapping[str, str], price: Price | None) -> Model:
    return RecordedModel.load(Path(place))


PROVIDERS = (
    _hosted(
        "openai",
        "OpenAI, or with @URL any server that speaks its protocol.",
        ("OPENAI_API_KEY",),
        url_variable="OPENAI_BASE_URL",
    ),
    Provider("azure", "OpenAI's models as an Azure deployment.", _azure, AZURE_KEYS),
    _hosted("anthropic", "Anthropic.", ("ANTHROPIC_API_KEY",)),
    _hosted("google", "Google's Gemini.", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    Provider("python", "Your own: python:module:function, which returns a model.", _own_model),
    Provider("recorded", "Answers from a file that an earlier run recorded.", _recorded),
)

_HINT = f"Write PROVIDER:NAME or PROVIDER:NAME@URL with one of {', '.join(each.name for each in PROVIDERS)}."
