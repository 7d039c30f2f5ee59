"""Models, put together once for agents and judges alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from webassay.compose.registries import PROVIDERS
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
    preset,
)
from webassay.llm.providers import connect


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

    async def close(self) -> None:
        for model in self._open.values():
            await close(model)
