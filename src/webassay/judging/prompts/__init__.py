"""What judges say to a model: one file for each prompt, and in `reasons.toml` why each rule is there.

`Prompts` is a value: a folder of other prompts makes another judge. Prompts are text; nothing in them is executed.
"""

import hashlib
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from webassay.core.errors import InputError
from webassay.core.files import read_regular
from webassay.core.registry import nearest

Reasons = Mapping[str, Mapping[str, str]]
"""By prompt: the words with which a rule begins, and why the rule is there."""

REASONS = "reasons.toml"
FENCE = "fence"
"""What fences mean. Every prompt ends with it, so no judge can forget it."""
LARGEST = 1 << 20
"""Bytes of one file."""
_PART = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    """Its key in the fingerprint."""
    raw: str
    """As written, with the names of the parts it shares with others."""
    words: str
    text: str
    """What the model reads: the words and the fence."""

    @property
    def hash(self) -> str:
        return "sha256:" + hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Prompts:
    """The built-in prompts, with `own` in their place or beside them. `{{name}}` in a prompt stands for another one."""

    own: Mapping[str, str] = field(default_factory=dict, hash=False)
    own_reasons: Reasons = field(default_factory=dict, hash=False)

    def __getitem__(self, name: str) -> Prompt:
        words = self._words(name)
        return Prompt(name, self._raw(name), words, f"{words}\n\n{self._words(FENCE)}")

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*_BUILT_IN, *self.own))

    @property
    def reasons(self) -> Reasons:
        return {**_BUILT_IN_REASONS, **self.own_reasons}

    def hashes(self, names: Iterable[str]) -> dict[str, str]:
        return {name: self[name].hash for name in names}

    def with_folder(self, folder: Path, asked: Collection[str]) -> "Prompts":
        """These prompts, with the files of `folder` in place of those with the same name.

        Refused: a file that is no prompt of ours, and a folder that changes nothing for a judge who asks with `asked`.
        """
        own = {name: read_regular(path, LARGEST) for name, path in self._files(folder).items()}
        reasons = own.pop(REASONS, b"")
        words = {name: _text(data, folder / f"{name}.md") for name, data in own.items()}
        changed = Prompts({**self.own, **words}, {**self.own_reasons, **_reasons(reasons, folder / REASONS)})
        used = {part for name in (*asked, FENCE) for part in changed._parts(name)}
        if not used & words.keys():
            raise InputError(
                f"{folder} holds no prompt that this judge uses.",
                hint=f"It uses {', '.join(f'{name}.md' for name in sorted(used))}.",
            )
        for name in words:
            changed._parts(name)
        return changed

    def _files(self, folder: Path) -> dict[str, Path]:
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder of prompts.")
        paths = {path.name: path for path in sorted(folder.iterdir()) if not path.name.startswith((".", "__"))}
        known = {f"{name}.md": name for name in self.names} | {REASONS: REASONS}
        for name in paths:
            if name not in known:
                raise nearest("prompt", name, known, hint=f"{folder} may hold prompts of this judge only.")
        return {known[name]: path for name, path in paths.items()}

    def _raw(self, name: str) -> str:
        raw = self.own.get(name, _BUILT_IN.get(name))
        if raw is None:
            raise nearest("prompt", name, self.names)
        return raw.strip()

    def _words(self, name: str) -> str:
        return _PART.sub(lambda part: self._words(part[1]), self._raw(name))

    def _parts(self, name: str, within: tuple[str, ...] = ()) -> frozenset[str]:
        """A prompt and all that is part of it. Refuses a part that does not exist, or that contains itself."""
        if name in within:
            raise InputError(f"The prompt {name!r} contains itself: {' > '.join((*within, name))}.")
        inner = (self._parts(part, (*within, name)) for part in _PART.findall(self._raw(name)))
        return frozenset((name,)).union(*inner)


def _text(data: bytes, path: Path) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error.reason}.") from None
    if not text.strip():
        raise InputError(f"{path} is empty.", hint="Remove the file to ask with the built-in prompt.")
    return text


def _reasons(data: bytes, path: Path) -> Reasons:
    try:
        reasons = tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    if not all(isinstance(rules, dict) for rules in reasons.values()):
        raise InputError(f"{path} cannot be read: it needs one table for each prompt.")
    return reasons


def _built_in(folder: Traversable) -> dict[str, str]:
    paths = (path for path in folder.iterdir() if path.name.endswith(".md"))
    return {path.name.removesuffix(".md"): path.read_text(encoding="utf-8") for path in paths}


_FOLDER = resources.files(__name__)
_BUILT_IN = _built_in(_FOLDER)
_BUILT_IN_REASONS: Reasons = tomllib.loads((_FOLDER / REASONS).read_text(encoding="utf-8"))
