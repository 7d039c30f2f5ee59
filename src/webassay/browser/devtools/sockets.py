"""Which web sockets of a tab owe the page an answer that is worth waiting for.

A socket says neither what is a question nor what answers it. So the first message that comes after the page has
written, or after the socket was opened, is taken for the answer, and it is waited for only if an action caused the
question. What a page sends while nothing is done to it, it sends by itself: such messages are known by their form from
then on.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

PATIENCE = 1.0
"""Seconds until an answer is no longer expected, counted from the first question of an action."""
_LESS = 0.25
"""The share of the patience that is left for the next time if no answer came."""
_LEAST = 0.1
_CHATTER = 4
"""If so many questions were asked and one is still open, the page and its server talk for themselves."""
_CHANGING = re.compile(r"[0-9a-fA-F-]{8,}|[0-9]+")
_FORM_LENGTH = 200
_MAX_FORMS = 1000
_TEXT = 1

Key = tuple[str, str]
Kind = Literal["opened", "written to"]


@dataclass
class _Socket:
    address: str
    first: dict[Kind, float] = field(default_factory=dict)
    """When it was first asked since the action."""
    last: dict[Kind, float] = field(default_factory=dict)
    unanswered: set[Kind] = field(default_factory=set)
    questions: int = 0
    """Since the action."""
    form: str = ""
    """The form of the last one."""


class Sockets:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sockets: dict[Key, _Socket] = {}
        self._patience: dict[tuple[str, Kind], float] = {}
        self._by_itself: set[tuple[str, str]] = set()
        """Address and form of what the page sends unasked."""
        self._acting = True

    def action_begins(self) -> None:
        self._acting = True
        self.give_up()

    def action_ends(self) -> None:
        self._acting = False

    def give_up(self) -> None:
        for socket in self._sockets.values():
            socket.first, socket.unanswered, socket.questions = {}, set(), 0

    def new_document(self) -> None:
        self._sockets.clear()

    def opened(self, key: Key, url: str) -> None:
        socket = self._sockets[key] = _Socket(url.partition("?")[0])
        if self._acting:
            self._ask(socket, "opened")

    def closed(self, key: Key) -> None:
        self._sockets.pop(key, None)

    def sent(self, key: Key, opcode: int, data: str) -> None:
        socket = self._sockets.get(key)
        if socket is None:
            return
        form = _CHANGING.sub("#", data[:_FORM_LENGTH]) if opcode == _TEXT else f"{len(data)} bytes"
        if not self._acting:
            self._ignore(socket, form)
        elif (socket.address, form) not in self._by_itself:
            socket.questions, socket.form = socket.questions + 1, form
            self._ask(socket, "written to")

    def received(self, key: Key) -> bool:
        """Whether an answer had been waited for."""
        socket = self._sockets.get(key)
        if socket is None:
            return False
        for kind, asked in socket.last.items():
            if self._clock() - asked < PATIENCE:
                self._patience[socket.address, kind] = PATIENCE
        waited = bool(socket.unanswered)
        socket.unanswered.clear()
        return waited

    def seconds_left(self) -> float:
        """How long to wait for answers; 0 if none is due."""
        now = self._clock()
        longest = 0.0
        for socket in self._sockets.values():
            for kind in list(socket.unanswered):
                left = socket.first[kind] + self._patience_with(socket, kind) - now
                longest = max(longest, left)
                if left <= 0:
                    self._expect_less(socket, kind)
        return longest

    def _ignore(self, socket: _Socket, form: str) -> None:
        if len(self._by_itself) < _MAX_FORMS:
            self._by_itself.add((socket.address, form))

    def _patience_with(self, socket: _Socket, kind: Kind) -> float:
        return self._patience.get((socket.address, kind), PATIENCE)

    def _ask(self, socket: _Socket, kind: Kind) -> None:
        socket.last[kind] = self._clock()
        socket.first.setdefault(kind, socket.last[kind])
        if self._patience_with(socket, kind) >= _LEAST:
            socket.unanswered.add(kind)

    def _expect_less(self, socket: _Socket, kind: Kind) -> None:
        socket.unanswered.discard(kind)
        if socket.questions >= _CHATTER:
            self._ignore(socket, socket.form)
        else:
            self._patience[socket.address, kind] = self._patience_with(socket, kind) * _LESS
