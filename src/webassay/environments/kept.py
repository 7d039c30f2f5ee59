"""A program of somebody else's, from this side: started, listened to, and gone when we say so or when we are gone."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from webassay.environments.keeper import GRACE_SECONDS

TAIL = 2_000
"""Characters of what it said that error messages end with."""


class KeptProcess:
    def __init__(self, process: Process) -> None:
        self._process = process
        self._said = ""
        self._hearing = asyncio.create_task(self._hear())

    @classmethod
    async def start(cls, command: Sequence[str], folder: Path) -> Self:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "webassay.environments.keeper", str(folder), *command),
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,  # Ctrl-C is for us.
        )
        return cls(process)

    @property
    def ended(self) -> int | None:
        """The code it ended with; None: it runs."""
        return self._process.returncode

    @property
    def last_words(self) -> str:
        return f" It said: {self._said.strip()}" if self._said.strip() else " It said nothing."

    async def wait(self) -> int:
        """Until it ends by itself; what it says until then is heard."""
        code = await self._process.wait()
        await asyncio.wait([self._hearing], timeout=1.0)
        return code

    async def stop(self) -> None:
        """The end of its input ends the keeper, and the keeper ends everything else."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(2 * GRACE_SECONDS + 5):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()
        self._hearing.cancel()
        await asyncio.wait([self._hearing])
        self._process._transport.close()  # type: ignore[attr-defined]

    async def _hear(self) -> None:
        assert self._process.stdout is not None
        while said := (await self._process.stdout.read(1 << 16)).decode(errors="replace"):
            self._said = (self._said + said)[-TAIL:]
