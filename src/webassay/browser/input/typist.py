"""Typing as people do: after each key the page gets the time to render and to move the focus, and nothing gets lost
without an error."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from webassay.browser.devtools.cdp import CommandRefused, Params
from webassay.browser.devtools.page import PageFrame, TabPage
from webassay.browser.look.frames import inner_frame
from webassay.core.errors import ActionError

_WARY_KEYS = 8
"""After so many keys to which the page did not react, it is only looked at closely now and then."""
_TRIES = 5
"""How often a key is pressed that came while the page was exchanging the field."""
_SPECIAL = {"\n": "Enter", "\r": "Enter", "\t": "Tab"}

Press = Callable[[str], Awaitable[None]]


class Typist:
    def __init__(self, page: TabPage, press: Press) -> None:
        """`press` sends one key, or a character that no key has."""
        self._page = page
        self._press = press

    async def type(self, text: str) -> None:
        sent = 0
        try:
            for part in _parts(text):
                if part in _SPECIAL:
                    sent += 1
                    await self._press(_SPECIAL[part])
                    continue
                typing = _Typing(await self._focused_frame())
                for n, char in enumerate(part, start=1):
                    sent += 1
                    typing.saw(char, await self._strike(char, typing, last=n == len(part)))
                    if typing.lost and n < len(part):
                        raise ActionError(
                            f"The field lost the focus after {text[:sent]!r:.200} was typed and cannot be found again.",
                            hint="Look at the page, and type the rest into the right field.",
                        )
                await self._page.call(typing.frame, "endTyping")
                typing.check(part)
        except CommandRefused as error:
            if sent < len(text):
                raise ActionError(
                    f"The page changed after {text[:sent]!r:.200} was typed; the rest was not."
                ) from error

    async def _strike(self, char: str, typing: "_Typing", *, last: bool) -> Params:
        closely = last or typing.wary > 0 or typing.count % _WARY_KEYS == 0
        for _ in range(_TRIES):
            await self._press(char)
            seen = dict(await self._page.call(typing.frame, "afterKey", closely, wait=True))
            if seen["lost"] or not seen["again"]:
                return seen
        raise ActionError(
            f"The page took the focus away before {char!r} could be typed, {_TRIES} times.",
            hint="Look at the page, and type the rest into the right field.",
        )

    async def _focused_frame(self) -> PageFrame:
        frame = self._page.main_frame
        while True:
            begun: Params = await self._page.call(frame, "beginTyping")
            if begun["frame"] < 0:
                return frame
            inner = await inner_frame(self._page, frame, begun["frame"])
            if inner is None:
                return frame
            frame = inner


@dataclass
class _Typing:
    """A run of characters without Enter or Tab, after which the focus may rightly be elsewhere."""

    frame: PageFrame
    count: int = 0
    wary: int = _WARY_KEYS
    arrived: str = ""
    """What the field should hold of the text."""
    value: str | None = None
    taken: bool = False
    lost: bool = False

    def saw(self, char: str, seen: Params) -> None:
        self.count += 1
        self.lost = seen["lost"]
        if self.lost:
            # The page has done with it, as a field that is sent off with its last character.
            self.taken, self.value = True, None
            return
        self.wary = _WARY_KEYS if seen["stirred"] else self.wary - 1
        self.taken = self.taken or seen["took"] or not seen["nowhere"]
        self.value = seen["value"]
        # A field that moves on or empties itself (codes, tags, messages) has used what it got.
        used = seen["moved"] or (self.value == "" and seen["took"])
        self.arrived = "" if used else self.arrived + char

    def check(self, part: str) -> None:
        if not self.taken:
            raise ActionError(
                f"Nothing took {part!r:.200}: no text field has the focus, and the page did not react.",
                hint="Click the field first, or use fill.",
            )
        if self.value is not None and not _holds(self.value, self.arrived):
            raise ActionError(
                f"{part!r:.200} was typed, but the field holds {self.value!r:.200}.",
                hint="The page changed or refused some of the keys; use fill, or correct it.",
            )


def _parts(text: str) -> list[str]:
    parts = [""]
    for char in text:
        if char in _SPECIAL:
            parts += [char, ""]
        else:
            parts[-1] += char
    return [part for part in parts if part]


def _holds(value: str, typed: str) -> bool:
    """Whether the letters and digits that were typed stand in the value, in order: masks add and drop the rest."""
    rest = iter(value.casefold())
    return all(char in rest for char in typed.casefold() if char.isalnum())
