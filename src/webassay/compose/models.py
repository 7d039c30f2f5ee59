"""Models, put together once for agents and judges alike."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from webassay.compose.registries import PROVIDERS
from webassay.core.errors import BudgetError, InputError, ModelError
from webassay.core.options import read_options
from webassay.llm.client import (
    HALF_AN_HOUR,
    PROVIDERS_CHOICE,
    Budget,
    Model,
    Patience,
    Settings,
    assemble,
    close,
    for_trial,
    knock,
    preset,
)
from webassay.llm.providers import connect
from webassay.llm.replay import RecordedModel

SLOW_SECONDS = 6.0
MUTE_SECONDS = 60.0
"""A model on this machine may have to be loaded first."""
_HINT = "Check its name, its address and its key. --keep-going plays without asking first."


@dataclass(frozen=True)
class ModelOptions:
    """Which model to ask, and within which bounds."""

    model: str
    """Such as openai:NAME, anthropic:NAME, or openai:NAME@URL."""
    preset: str | None = None
    max_usd: float | None = None
    cache: bool = True
    own_settings: Mapping[str, str] = field(default_factory=dict)
    """Such as temperature or reasoning_effort; they outrank the preset."""

    @property
    def settings(self) -> Settings:
        base = preset(self.preset) if self.preset else PROVIDERS_CHOICE
        return read_options("model", Settings, self.own_settings).over(base)


@dataclass
class OpenModels:
    """Models under way in one piece of work: one budget, one limit on calls, each connected once."""

    folder: Path
    """Where replies are kept."""
    budget: Budget = field(default_factory=Budget)
    concurrency: int = 8
    patience: Patience = HALF_AN_HOUR
    cache: bool = True
    _open: dict[str, Model] = field(default_factory=dict)

    def get(self, spec: str, *, trial: int = 0) -> Model:
        """Each trial has replies of its own, so that repeating a task really asks again."""
        if spec not in self._open:
            self._open[spec] = assemble(
                connect(spec, find=PROVIDERS.get),
                folder=self.folder if self.cache else None,
                budget=self.budget,
                concurrency=self.concurrency,
                patience=self.patience,
            )
        return for_trial(self._open[spec], trial)

    async def check(self, spec: str, settings: Settings, waiting: Callable[[str], None]) -> None:
        """Whether the model answers, as it is called: an `InputError` says why not. A recording is not asked."""
        model = connect(spec, find=PROVIDERS.get)
        if isinstance(model, RecordedModel):
            return
        asking = asyncio.ensure_future(knock(model, settings))
        try:
            done, _ = await asyncio.wait([asking], timeout=SLOW_SECONDS)
            if not done:
                waiting(f"{model.name} has not answered yet; waiting for up to {MUTE_SECONDS:g} s.")
            async with asyncio.timeout(MUTE_SECONDS):
                reply = await asking
        except TimeoutError:
            raise InputError(f"{model.name} did not answer within {MUTE_SECONDS:g} s.", hint=_HINT) from None
        except ModelError as error:
            raise InputError(
                f"{model.name} cannot be used: {error.message.removeprefix(f'asking {model.name}: ')}",
                hint=error.hint or _HINT,
            ) from None
        finally:
            asking.cancel()
            await close(model)
        if self.budget.usd is not None:
            try:
                # Not as a call: the first one of the run still goes alone.
                self.budget.charge(reply.usage.model_copy(update={"calls": 0}))
            except BudgetError as error:
                raise InputError(error.message, hint=error.hint) from None

    async def close(self) -> None:
        for model in self._open.values():
            await close(model)
