"""What an agent is made of: the content of its files, so that a run notices when one of them is edited."""

import ast
import shlex
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from webassay.agents.cells.external import COMMAND, read_command

MOST_FILES = 500
LARGEST = 1_000_000
"""Bytes; nobody writes a longer file."""
OUR_OWN = Path(__file__).parents[1]


def files_of(spec: str) -> dict[str, str]:
    """File to the hash of its content: of a Python agent the file and whatever it imports that is not installed, of a
    program the files that its command names. Nothing is executed. Built-in and installed agents have none."""
    if spec.startswith(COMMAND):
        with suppress(ValueError):
            return _hashes({Path(word): word for word in shlex.split(read_command(spec.removeprefix(COMMAND))[1])})
        return {}
    place = spec.rpartition("[")[0] if spec.endswith("]") else spec
    place, _, _ = place.rpartition(":")
    if place.endswith(".py"):
        file = Path(place)
        return _hashes({file: file.name}, [file.parent, *_own_folders()])
    folders = _own_folders()
    return _hashes(dict(_files(place, folders)), folders)


def _hashes(start: Mapping[Path, str], folders: Sequence[Path] = ()) -> dict[str, str]:
    found: dict[str, str] = {}
    seen: set[Path] = set()
    waiting = list(start.items())
    while waiting and len(seen) < MOST_FILES:
        file, name = waiting.pop()
        if file.resolve() in seen:
            continue
        seen.add(file.resolve())
        try:
            content = file.read_bytes() if file.stat().st_size <= LARGEST else b""
        except OSError:
            continue  # No file, but an option or the name of a program; or whoever needs it will say so.
        if not content or b"\0" in content[:1024]:
            continue  # An interpreter.
        found[name] = f"sha256:{sha256(content).hexdigest()}"
        if file.suffix == ".py":
            here = [file.parent, *folders]
            waiting += [one for module in _imported(content) for one in _files(module, here)]
    return found


def _imported(content: bytes) -> Iterator[str]:
    """Names of modules; a relative one is looked for beside the file."""
    with suppress(SyntaxError, ValueError, RecursionError):
        for node in ast.walk(ast.parse(content)):
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ([node.module] if node.module else [])
                yield from (f"{node.module}.{one.name}" if node.module else one.name for one in node.names)


def _files(module: str, folders: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The module and the packages around it, in the first folder that has them."""
    parts = module.split(".")
    for folder in folders:
        names = [str(Path(*parts[:count])) for count in range(1, len(parts) + 1)] if module else []
        both = [(folder / end, end) for name in names for end in (f"{name}.py", f"{name}/__init__.py")]
        if found := [(file, name) for file, name in both if file.is_file()]:
            yield from found
            return


def _own_folders() -> list[Path]:
    """Where Python looks for modules that are not installed: packages change with their version, not by an edit."""
    installed = {Path(place).resolve() for place in sysconfig.get_paths().values()} | {OUR_OWN.parent}
    folders = [Path(entry).resolve() for entry in sys.path]
    return [
        one for one in folders if one.is_dir() and not any(one == each or each in one.parents for each in installed)
    ]
