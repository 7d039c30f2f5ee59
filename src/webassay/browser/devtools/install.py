"""Installs a Chromium where there is none: Playwright's build first, then the distribution's package."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from webassay.browser.devtools.chromium import find_chromium
from webassay.core.errors import BrowserError

Attempt = list[str]

MINUTES = 10


def ensure_chromium(explicit: str | None = None, *, tell: Callable[[str], None] = lambda _: None) -> Path:
    """Finds a Chromium or installs one; if nothing works, one message lists everything that was tried."""
    try:
        return find_chromium(explicit)
    except BrowserError as error:
        if explicit:
            raise
        tried = [error.message]
    for attempt in _attempts():
        command = " ".join(attempt)
        tell(command)
        problem = _run(attempt)
        if problem:
            tried.append(f"`{command}`: {problem}")
            continue
        try:
            return find_chromium()
        except BrowserError as error:
            tried.append(f"`{command}` worked, but then: {error.message}")
    raise BrowserError(
        "No Chromium could be found or installed.\n  - " + "\n  - ".join(tried),
        hint="Install Chromium, Chrome or Edge by hand, or set WEBASSAY_CHROMIUM to its executable.",
    )


def _attempts() -> list[Attempt]:
    attempts = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"] if shutil.which("sudo") else None
    if as_root is not None and shutil.which("apt-get"):
        attempts += [[*as_root, "apt-get", "update", "-qq"]]
        quietly = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
        attempts += [[*quietly, name] for name in ("chromium", "chromium-browser")]
    elif as_root is not None and shutil.which("dnf"):
        attempts.append([*as_root, "dnf", "install", "-y", "chromium"])
    elif as_root is not None and shutil.which("pacman"):
        attempts.append([*as_root, "pacman", "-S", "--noconfirm", "chromium"])
    elif shutil.which("brew"):
        attempts.append(["brew", "install", "--cask", "chromium"])
    return attempts


def _run(command: Attempt) -> str:
    """Empty on success, else the last line of output."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=MINUTES * 60, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = (done.stderr or done.stdout).strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else f"exit code {done.returncode}")
