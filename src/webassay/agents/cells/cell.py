"""A cell: where programs run that are not trusted.

A program in a cell reads this machine as the user does, with exceptions. What evaluates it is hidden (the run
directory, built worlds, templates and sites, temporary folders). It sees no process but its own, and can write nowhere
but into temporary folders that vanish with it and the folders that the user names. It has none of the user's
environment but what every program needs. It ends whole: when the program is over, so is everything that it started.

`bwrap` builds the cell where it is installed; otherwise `cell_init.py` does, with the same namespaces. Where a system
allows neither, there is no cell, and the user decides whether to trust the program.

The network is the user's: a program that calls a model has to reach it. docs/threat-model.md says what that means.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from webassay.core.errors import InputError

PACKAGE = Path(__file__).resolve().parents[2]
OPEN_TO_AGENTS = ("agents", "core", "llm")
"""What an agent may import; the rest of the package computes keys or grades."""
TEMPORARY = ("/tmp", "/var/tmp")
SOCKETS = ("/run/docker.sock", "/run/podman", "/run/containerd", "/run/dbus")
"""Services that do things outside of the cell for whoever asks."""
_KEPT = frozenset(
    ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "VIRTUAL_ENV", "PYTHONPATH")
) | frozenset(("LD_LIBRARY_PATH", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"))
_KEPT_WITHOUT_CASE = frozenset(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE"))
_FOLDERS = {f"XDG_{name.upper()}_HOME": f"/tmp/.{name}" for name in ("cache", "config", "data", "state")}
_INIT = Path(__file__).with_name("cell_init.py")
_PROBE_SECONDS = 20


@dataclass(frozen=True)
class ProgramCell:
    hidden: tuple[Path, ...] = ()
    """Besides what is always hidden: the run directory, the cache."""
    writable: tuple[Path, ...] = ()
    variables: tuple[str, ...] = ()
    """Names of variables of the user's environment that the program gets."""

    def environment(self) -> dict[str, str]:
        """HOME can be read; what programs keep there for themselves goes where they can write."""
        return {**_FOLDERS, **clean(os.environ, self.variables), "TMPDIR": "/tmp"}

    def command(self, program: Sequence[str], shown: Iterable[Path] = ()) -> list[str]:
        """The command line that runs this program in the cell. `shown`: what it needs of that which is hidden."""
        folder = Path.cwd()
        files = [*shown, *_files_of(program), *_python_of(program), *_open_packages()]
        view = self._view([path for path in files if path.exists()])
        return in_bwrap(view, program, folder) if _bwrap_works() else in_our_own(view, program, folder)

    def _view(self, files: Sequence[Path]) -> list[tuple[str, str]]:
        secret = {*(path.resolve() for path in self.hidden), *_secret()}
        around = _around()
        view = dict.fromkeys(secret | around, "hide")
        for path in {*files, *(path.resolve() for path in files)}:
            if _inside(path, around) and not _inside(path, secret) and path not in around:
                view[path] = "show"
        view |= {path.resolve(): "write" for path in self.writable}
        # Parents first, so that what is shown again, or hidden again, lies over them.
        return [(str(path), view[path]) for path in sorted(view, key=lambda path: (len(path.parts), path))]


def _inside(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def clean(environment: Mapping[str, str], named: Iterable[str]) -> dict[str, str]:
    """No key, no token: what every program needs, and what the user names."""
    missing = [name for name in named if name not in environment]
    if missing:
        hint = f"Set it: export {missing[0]}=…"
        raise InputError(f"The environment variable {missing[0]} for the agent is not set.", hint=hint)
    wanted = _KEPT.union(named)
    return {
        name: value
        for name, value in environment.items()
        if name in wanted or name.startswith("LC_") or name.upper() in _KEPT_WITHOUT_CASE
    }


def _secret() -> set[Path]:
    """What computes keys, and sockets behind which others act for whoever asks."""
    parts = {path for path in PACKAGE.iterdir() if path.is_dir() and path.name not in OPEN_TO_AGENTS}
    services = (Path(place) for place in (*SOCKETS, f"/run/user/{os.getuid()}"))
    return parts | _history(PACKAGE.parents[1]) | {path.resolve() for path in services if path.exists()}


def _around() -> set[Path]:
    """Folders of which only the program's own files are shown: temporary ones, and the checkout that we run from, whose
    tests tell what the templates tell."""
    folders = {Path(place) for place in (*TEMPORARY, tempfile.gettempdir())}
    checkout = PACKAGE.parents[1]
    if (checkout / "pyproject.toml").is_file():
        folders.add(checkout)
    return {path.resolve() for path in folders if path.is_dir()}


def _history(checkout: Path) -> set[Path]:
    link = checkout / ".git"
    if link.is_dir():
        return {link}
    if not link.is_file():
        return set()
    # A work tree has its history elsewhere.
    place = Path(link.read_text(encoding="utf-8").partition("gitdir:")[2].strip())
    return {path for path in (place, *place.parents) if path.name == ".git" and path.is_dir()}


def _open_packages() -> list[Path]:
    """What agents may import, where the whole checkout is hidden."""
    return [path for path in PACKAGE.iterdir() if path.name in OPEN_TO_AGENTS or path.suffix == ".py"]


def _files_of(program: Sequence[str]) -> list[Path]:
    """The folders of the files that a command names. A folder that holds everything else is never shown: then it is
    the file alone."""
    found = [Path(shutil.which(program[0]) or program[0])]
    found += [Path(word) for word in program[1:] if not word.startswith("-") and len(word) < 4096 and "\0" not in word]
    shown: list[Path] = []
    roots = {Path("/"), Path.home(), PACKAGE.parents[1], *map(Path, TEMPORARY), Path(tempfile.gettempdir())}
    for path in (word.absolute() for word in found if _exists(word)):
        shown.append(path if path.is_dir() or path.parent in roots else path.parent)
    return [path for path in shown if path not in roots]


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # A sentence is no file name.
        return False


def _python_of(program: Sequence[str]) -> list[Path]:
    """The environment that a program's interpreter belongs to, ours if it is ours."""
    found = shutil.which(program[0])
    folders = [Path(found).absolute().parent.parent] if found and Path(found).parent.name == "bin" else []
    return [
        *(path for path in folders if path not in (Path("/"), Path("/usr"))),
        Path(sys.prefix),
        Path(sys.base_prefix),
    ]


# --- how it is built --------------------------------------------------------------------------------------


def in_our_own(view: Sequence[tuple[str, str]], program: Sequence[str], folder: Path) -> list[str]:
    plan = {"view": view, "folder": str(folder), "parent": os.getpid()}
    return [sys.executable, "-IS", str(_INIT), json.dumps(plan), *program]


def in_bwrap(view: Sequence[tuple[str, str]], program: Sequence[str], folder: Path) -> list[str]:
    words = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"]
    words += ["--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    for path, what in view:
        if what == "hide" and Path(path).exists():
            words += ["--tmpfs", path] if Path(path).is_dir() else ["--ro-bind", "/dev/null", path]
        elif what != "hide":
            words += ["--bind" if what == "write" else "--ro-bind", path, path]
    return [*words, "--chdir", str(folder), "--", *program]


@cache
def why_not() -> str:
    """Why no cell can be built here; empty if one can."""
    return "" if _bwrap_works() else _tried(in_our_own([], ["true"], Path("/")))


@cache
def _bwrap_works() -> bool:
    return shutil.which("bwrap") is not None and not _tried(in_bwrap([], ["true"], Path("/")))


def _tried(command: Sequence[str]) -> str:
    if sys.platform != "linux":
        return "cells need Linux"
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.decode("utf-8", "replace").strip().removeprefix("The cell cannot be built: ")
    return "" if done.returncode == 0 else said or f"it ended with {done.returncode}"


def need_cell(agent: str) -> None:
    """Refuses to go on where the agent would have to be trusted, and is not."""
    if reason := why_not():
        raise InputError(
            f"{agent} is not trusted, and this system cannot build a cell to run it in: {reason}.",
            hint="Install bubblewrap or allow user namespaces. If you trust it with your keys, give --trust-agent.",
        )
