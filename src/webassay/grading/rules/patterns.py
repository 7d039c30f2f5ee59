"""Patterns of keys, kept from running for ever.

Python cannot stop a pattern that has begun. Most cannot run long on the short texts that they meet. One that could (a
repeat inside a repeat, alternatives inside a repeat, many repeats) is matched by a process of its own, which can be
stopped. Keys come from files too, and a file may be anybody's.
"""

import json
import os
import re
import select
import subprocess
import sys
import threading
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Literal

from webassay.core.errors import GradingError

LONGEST_SECONDS = 2.0
"""For one text; what is needed is below a millisecond."""
MOST_REPEATS = 2
"""Without a limit, one after the other: with more, a text of some thousand characters takes minutes."""
_UNLIMITED = 16
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)


@lru_cache(maxsize=4096)
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern of the key. An invalid one is the key's fault, never the agent's."""
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise GradingError(f"The key's pattern {pattern!r} is invalid: {error}.") from None


How = Literal["fullmatch", "match", "search"]


def matches(pattern: str, text: str, flags: int = 0, how: How = "fullmatch") -> bool:
    known = compiled(pattern, flags)
    if not may_run_long(pattern):
        return getattr(known, how)(text) is not None
    found = _HELPER.matches(pattern, flags, how, text)
    if found is None:
        raise GradingError(
            f"The key's pattern {pattern[:200]!r} takes more than {LONGEST_SECONDS:g} seconds on a text of"
            f" {len(text):,} characters. Write it without repeats inside repeats."
        )
    return found


@lru_cache(maxsize=4096)
def may_run_long(pattern: str) -> bool:
    """Whether it repeats something that can be matched in several ways."""
    open_ended = 0

    def look(parts: Any, repeated: bool) -> bool:
        nonlocal open_ended
        for kind, value in parts:
            if kind in _REPEATS:
                least, most, inner = value
                many = most >= _UNLIMITED
                open_ended += many
                if (repeated and least != most) or look(inner, repeated or many):
                    return True
            elif kind is _constants.BRANCH:
                if repeated or any(look(branch, repeated) for branch in value[1]):
                    return True
            elif kind is _constants.GROUPREF or (
                isinstance(value, tuple | list) and any(look(one, repeated) for one in _inside(value))
            ):
                return True
        return open_ended > MOST_REPEATS

    return look(_parser.parse(pattern), False)


def _inside(value: Any) -> list[Any]:
    return [one for one in value if isinstance(one, _parser.SubPattern)]


_PROGRAM = """
import json, re, sys
for line in sys.stdin:
    pattern, flags, how, text = json.loads(line)
    print(int(getattr(re.compile(pattern, flags), how)(text) is not None), flush=True)
"""


class _Helper:
    """One process for as long as nothing takes too long. A fork gets its own."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0
        self._turn = threading.Lock()

    def matches(self, pattern: str, flags: int, how: How, text: str) -> bool | None:
        """None: it took too long."""
        with self._turn:
            process = self._running()
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps([pattern, flags, how, text]) + "\n")
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], LONGEST_SECONDS)
            answer = process.stdout.readline().strip() if ready else ""
            if answer not in ("0", "1"):
                self._stop(process)
                return None
            return answer == "1"

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            command = [sys.executable, "-ISc", _PROGRAM]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
            self._owner = os.getpid()
        return self._process

    def _stop(self, process: "subprocess.Popen[str]") -> None:
        self._process = None
        process.kill()
        process.communicate()


_HELPER = _Helper()
