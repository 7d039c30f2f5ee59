"""Kills the runner at a random moment: nothing that it started may be left after five seconds."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scripts.armor.report import Report

ROUNDS = 20
_GRACE = 5.0


def left_of(mark: str) -> list[str]:
    """Processes that carry the mark in their environment or on their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        except OSError:
            continue
        if any(mark.encode() in text for text in told) and int(folder.name) != os.getpid():
            found.append(told[0].replace(b"\0", b" ").decode("utf-8", "replace")[:100])
    return found


def _round(dice: random.Random) -> list[str]:
    with tempfile.TemporaryDirectory(prefix=f"webassay-killed-{dice.randrange(1 << 32):08x}-") as folder:
        command = [sys.executable, "-m", "webassay", "run", "-a", "oracle", "--workers", "2", "--out", f"{folder}/run"]
        runner = subprocess.Popen(
            command,
            env={**os.environ, "TMPDIR": folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(dice.uniform(0.5, 12))
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        until = time.monotonic() + _GRACE
        while (left := left_of(folder)) and time.monotonic() < until:
            time.sleep(0.1)
        return left


def run(report: Report) -> None:
    dice = random.Random(report.seed)
    left = [name for _ in range(report.cases(ROUNDS)) for name in _round(dice)]
    report.must(f"processes left by {report.cases(ROUNDS)} killed runners", len(left), 0, left)
