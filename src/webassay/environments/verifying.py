"""Somebody's verifier: a program that is asked, once the agent has stopped, whether the application is as it should be.

It runs in a process of its own and has so many seconds. One that hangs, crashes or answers anything but yes or no has
found nothing out: that is a `ProbeError`, never a failure of the agent.
"""

import asyncio
import json
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webassay.core.application import is_python
from webassay.core.errors import ProbeError
from webassay.core.files import own_prefix
from webassay.core.record import Json
from webassay.environments.kept import KeptProcess

MAX_MESSAGE = 2_000
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


@dataclass(frozen=True)
class VerifierResult:
    passed: bool
    message: str
    seconds: float
    without: tuple[bool, ...] | None = None
    """Whether it passes on each of the other states that it was asked about; None: it was not."""


@dataclass(frozen=True)
class Verifier:
    program: str
    """A Python file in the folder that has `verify(server_url)`, or a command with `{url}`."""
    folder: Path
    seconds: float
    python: str = ""
    """The interpreter for Python files; empty: ours."""

    async def ask(self, url: str, path: str, states: Sequence[Json] = ()) -> VerifierResult:
        """`states`: the state as it is and then variants of it, which are served at `path` one after the other."""
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=own_prefix("verify")) as scratch:
            order, result = Path(scratch) / "order.json", Path(scratch) / "result.json"
            order.write_text(json.dumps({"url": url, "path": path, "states": list(states)}), encoding="utf-8")
            code, said = await self._run(self._command(url, order, result), result)
            if not is_python(self.program):
                return self._judged(code, said, time.monotonic() - started)
            return self._told(result, code, said, time.monotonic() - started)

    def _command(self, url: str, order: Path, result: Path) -> list[str]:
        if not is_python(self.program):
            return [part.replace("{url}", url) for part in shlex.split(self.program)]
        runner = Path(__file__).with_name("verifier_main.py")
        return [self.python or sys.executable, str(runner), str(order), str(self.folder / self.program), str(result)]

    async def _run(self, command: Sequence[str], result: Path) -> tuple[int, str]:
        kept = await KeptProcess.start(command, self.folder)
        try:
            async with asyncio.timeout(self.seconds):
                code = await kept.wait()
        except TimeoutError:
            code = 0
            if not result.exists():
                raise ProbeError(
                    f"The verifier {self.program} took longer than {self.seconds:g} seconds.{kept.last_words}"
                ) from None
        finally:
            await kept.stop()
        return code, kept.last_words

    def _judged(self, code: int, said: str, seconds: float) -> VerifierResult:
        if code not in (0, 1):
            raise ProbeError(f"The verifier {self.program} ended with {code}, which is neither 0 nor 1.{said}")
        return VerifierResult(code == 0, said.removeprefix(" It said: ")[:MAX_MESSAGE], round(seconds, 3))

    def _told(self, result: Path, code: int, said: str, seconds: float) -> VerifierResult:
        try:
            told: dict[str, Any] = json.loads(result.read_bytes())
        except (OSError, ValueError):
            missing = _MISSING.search(said)
            hint = (
                f"Install {missing[1]} for {self.python or sys.executable}, or name another Python." if missing else ""
            )
            raise ProbeError(
                f"The verifier {self.program} ended with {code} and told nothing.{said}", hint=hint
            ) from None
        passed, message = told["verdict"]
        without = told.get("without")
        return VerifierResult(
            passed, str(message)[:MAX_MESSAGE], round(seconds, 3), None if without is None else tuple(without)
        )
