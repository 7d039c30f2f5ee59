"""What a program from outside does to its pages, in words: trusted clicks, keys and inputs."""

import secrets
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pydantic import JsonValue

from webassay.browser.devtools.cdp import Channel, Params, decoded
from webassay.browser.devtools.page import WORLD

MAX_EFFECTS = 2_000
MAX_TEXT = 300
_SCRIPT = (files("webassay.browser") / "scripts" / "effects.js").read_text(encoding="utf-8").partition("(binding)")


@dataclass(frozen=True)
class Effect:
    kind: str
    """`click`, `press` or `input`."""
    role: str
    name: str
    text: str = ""
    """The key, what stands in the field now, or the other mouse button."""
    element: int = 0

    @property
    def as_json(self) -> dict[str, JsonValue]:
        return {"kind": self.kind, "role": self.role, "name": self.name, "text": self.text}

    @property
    def in_words(self) -> str:
        what = f"{self.role or 'element'} {self.name!r}"
        if self.kind == "input":
            return f"input {self.text!r} into {what}"
        return f"{self.kind} {self.text} on {what}" if self.text else f"{self.kind} {what}"


class Effects:
    """Collects what is done in the pages that it is attached to."""

    def __init__(self) -> None:
        self._binding = f"webassay{secrets.token_hex(8)}"
        self._done: list[Effect] = []
        self._count = 0

    def watch(self, channel: Channel) -> None:
        """Pages that are already there, and those that come."""
        channel.on("Runtime.bindingCalled", self._called)
        source = f'({_SCRIPT[1]}{_SCRIPT[2].rstrip().removesuffix(";")})("{self._binding}")'
        channel.post("Runtime.addBinding", {"name": self._binding, "executionContextName": WORLD})
        channel.post(
            "Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": WORLD, "runImmediately": True}
        )

    def take(self) -> list[Effect]:
        done, self._done = self._done, []
        return done

    def _called(self, params: Params) -> None:
        if params.get("name") != self._binding or self._count >= MAX_EFFECTS:
            return
        try:
            told: Any = decoded(params["payload"])
        except ValueError:
            return
        if not isinstance(told, dict):
            return
        kind, role, name, text = (str(told.get(key, ""))[:MAX_TEXT] for key in ("kind", "role", "name", "text"))
        number = told.get("element")
        effect = Effect(kind, role, name, text, number if isinstance(number, int) else 0)
        before = self._done[-1] if self._done else None
        if effect.kind == "input" and before is not None and (before.kind, before.element) == ("input", effect.element):
            self._done[-1] = effect  # One text, typed key by key.
            return
        self._count += 1
        self._done.append(effect)
