"""What a process and everything it has started use, read from /proc."""

import time
from collections.abc import Iterable
from pathlib import Path


def pids(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue += children.get(pid, [])
    return found


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def has_ended(pid: int) -> bool:
    """A zombie that nobody has collected yet is dead enough."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_until_ended(pids: Iterable[int], seconds: float = 20) -> None:
    left, end = set(pids), time.monotonic() + seconds
    while left and time.monotonic() < end:
        left = {pid for pid in left if not has_ended(pid)}
        time.sleep(0.05)
    assert not left, {pid: command(pid)[:120] for pid in left}


def cpu_seconds(root: int) -> float:
    """Of all threads, to the nanosecond: the clock ticks of `stat` are too coarse for one step."""
    spent = 0
    for pid in pids(root):
        try:
            spent += sum(int((thread / "schedstat").read_text().split()[0]) for thread in _threads(pid))
        except OSError:
            continue
    return spent / 1e9


def _threads(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def megabytes(root: int) -> float:
    """Memory that is shared is divided among those who share it."""
    total = 0
    for pid in pids(root):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024
