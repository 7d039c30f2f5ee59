"""Ends renderers that take more memory than a page may have, before they take the machine's."""

import asyncio
import os
import signal
import time
from pathlib import Path

MAX_BYTES = 1 << 30
_LOOK_SECONDS = 0.5
_RECENTLY = 10.0
"""Seconds in which a crash is put down to the renderer that was ended."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


class MemoryGuard:
    """Watches the processes of one Chromium. Only where the system says what a process holds, as Linux does."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._ended_at = float("-inf")

    async def watch(self) -> None:
        if not Path("/proc/self/statm").exists():
            return
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for process in renderers(self._group):
                if held_by(process) > MAX_BYTES:
                    self._end(process)

    def _end(self, process: int) -> None:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            return
        self._ended_at = time.monotonic()

    @property
    def was_busy(self) -> bool:
        return time.monotonic() - self._ended_at < _RECENTLY


def renderers(group: int) -> list[int]:
    """Chromium is the leader of its own process group, so its processes are those of the group."""
    with os.scandir("/proc") as entries:
        found = [int(entry.name) for entry in entries if entry.name.isdigit()]
    return [process for process in found if _is_renderer(process, group)]


def _is_renderer(process: int, group: int) -> bool:
    try:
        return os.getpgid(process) == group and b"--type=renderer" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False  # it has ended


def held_by(process: int) -> int:
    """Bytes of its own: what it shares with others, such as the program itself, is not its doing."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * _PAGE
