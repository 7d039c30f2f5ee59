"""One registry for each kind of thing that can be named: what is built in, and what installed packages add.

A built-in thing is found by looking: every module below a package is imported, and whatever it holds of the right kind
is registered. So adding one means adding a module, and nothing else. A package adds one by an entry point of the kind's
group (`webassay.judges`, `webassay.importers`, …) that points at the thing and has its name.

Every thing says its own `name` and a `summary` of one line; help, completion and the reference are made of these.

Names that come from files (a run directory of somebody else) go through `get`, which executes nothing but what is
built in or installed. Only `load`, for what the user typed, follows `module:attribute` and `file.py:attribute`.
"""

import difflib
import hashlib
import importlib
import importlib.util
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from webassay.core.errors import InputError, WebassayError, boundary


class Named(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...


T = TypeVar("T", bound=Named)

Finder = Callable[[ModuleType], Iterable[T]]
Adapter = Callable[[Any, str], T | None]


def instances_of(kind: type[T]) -> "Finder[T]":
    """Finds objects of that class in a module, alone or in a tuple."""

    def find(module: ModuleType) -> Iterator[T]:
        for name, value in vars(module).items():
            if not name.startswith("_"):
                yield from (one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, kind))

    return find


class Registry(Generic[T]):
    def __init__(
        self,
        kind: str,
        find: "Finder[T]",
        *,
        modules: Callable[[], Iterable[ModuleType]],
        group: str,
        hint: str = "",
        adapt: "Adapter[T] | None" = None,
    ) -> None:
        """`kind` is the word used in messages; `hint` says how else a thing may be named. `adapt` makes one out of
        something else that an entry point or the user may point at, such as a plain class."""
        self.kind = kind
        self.group = group
        self._find = find
        self._modules = modules
        self._hint = hint
        self._adapt = adapt
        self._installed: dict[str, T] = {}

    @cached_property
    def _built_in(self) -> Mapping[str, T]:
        found: dict[str, T] = {}
        for thing in (thing for module in self._modules() for thing in self._find(module)):
            if found.setdefault(thing.name, thing) is not thing:
                raise ValueError(f"Two built-in things are called {self.kind} {thing.name!r}: {thing!r}.")
        return found

    @cached_property
    def _declared(self) -> tuple[EntryPoint, ...]:
        return tuple(entry_points(group=self.group))

    @cached_property
    def _points(self) -> Mapping[str, EntryPoint]:
        """Where two packages use one name, the first on Python's path has it, as with modules."""
        found: dict[str, EntryPoint] = {}
        for point in self._declared:
            found.setdefault(point.name, point)
        return found

    def names(self) -> tuple[str, ...]:
        """Built-in things first; a package cannot take the name of one."""
        return (*self._built_in, *(name for name in self._points if name not in self._built_in))

    def built_in(self) -> tuple[str, ...]:
        return tuple(self._built_in)

    def __contains__(self, name: str) -> bool:
        return name in self._built_in or name in self._points or name in self._installed

    def __iter__(self) -> Iterator[T]:
        return self.usable(lambda said: None)

    def usable(self, tell: Callable[[str], None]) -> Iterator[T]:
        """Everything, except what cannot be loaded: that is told of, and stops nobody who did not ask for it."""
        for name in self.names():
            try:
                found = self.get(name)
            except InputError as error:
                tell(f"Left out: {error}")
                continue
            yield found

    def get(self, name: str) -> T:
        """A thing that is built in or installed. Safe for names that come from a file."""
        if name in self._built_in:
            return self._built_in[name]
        if name not in self._points and name not in self._installed:
            raise self._unknown(name)
        if name not in self._installed:
            self._installed[name] = self._loaded(self._points[name])
        return self._installed[name]

    def _loaded(self, point: EntryPoint) -> T:
        try:
            with _executing(f"{point.value} could not be loaded"):
                return self._checked(point.load(), point.name, point.value, called=point.name)
        except WebassayError as error:
            said = f"The {self.kind} {point.name} ({_owner(point)}) cannot be used: {error.message}"
            raise InputError(said, hint=error.hint) from error

    def _unknown(self, name: str) -> InputError:
        bare = name.partition("[")[0]
        if name.endswith("]") and bare in self:  # Kinds with options take the brackets off before they ask.
            return InputError(f"The {self.kind} {bare} takes no options.", hint=f"Write {bare} without brackets.")
        return nearest(self.kind, name, self.names(), hint=self._hint)

    def load(self, name: str, files: "Files | None" = None) -> T:
        """As `get`, but also `module:attribute` and `file.py:attribute`: only for what the user typed just now. Files
        that are among `files` are not executed again."""
        if name.endswith(".py"):
            raise InputError(
                f"{name} is a file, and may hold more than one {self.kind}.",
                hint=f"Write {name}:NAME for the one you mean.",
            )
        if ":" not in name or name in self:
            return self.get(name)
        return self._checked(load_attribute(name, files), name, name)

    def adopt(self, name: str) -> str:
        """As `load`, and `get` knows the thing from now on by its own name, which is returned."""
        thing = self.load(name)
        if name != thing.name and thing.name in (*self._built_in, *self._points):
            raise InputError(f"{name} is called {thing.name}, which is taken.", hint="Give it a name of its own.")
        if name != thing.name:
            self._installed[thing.name] = thing
        return thing.name

    def place(self, name: str) -> str:
        """`module:attribute` of a thing, for another process to load it by."""
        thing = self.get(name)
        if name in self._points and name not in self._built_in:
            return self._points[name].value
        for module in self._modules():
            for attribute, value in vars(module).items():
                if value is thing:
                    return f"{module.__name__}:{attribute}"
        raise InputError(f"The {self.kind} {name} has no place of its own.")

    def summaries(self) -> dict[str, str]:
        """Name to summary; a package that cannot be loaded says so instead of breaking the list."""
        said = {}
        for name in self.names():
            try:
                said[name] = self.get(name).summary
            except InputError as error:
                said[name] = error.message
        return said

    def hidden(self) -> dict[str, str]:
        """What packages declare under a name that is taken, and by what: nothing can name these."""
        said = {}
        for point in self._declared:
            first = self._points[point.name]
            if point.name in self._built_in:
                said[f"{point.name} ({_owner(point)})"] = "hidden by the built-in one"
            elif point is not first:
                said[f"{point.name} ({_owner(point)})"] = f"hidden by the one of {_owner(first)}"
        return said

    def _checked(self, thing: Any, name: str, place: str, *, called: str = "") -> T:
        """`called`: how an entry point calls it. What is adapted may have another name, since nothing looks for it."""
        holder = ModuleType("holder")
        holder.thing = thing  # type: ignore[attr-defined]
        found = next(iter(self._find(holder)), None)
        if found is not None and called and found.name != called:
            raise InputError(
                f"its entry point is called {called!r}, and {place} calls itself {found.name!r}.",
                hint="Give both the same name.",
            )
        if found is None and self._adapt is not None:
            found = self._adapt(thing, name)
        if found is None:
            raise InputError(f"{place} is not {'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}.", hint=self._hint)
        return found


def _owner(point: EntryPoint) -> str:
    return point.value if point.dist is None else f"package {point.dist.name}"


@contextmanager
def _executing(doing: str) -> Iterator[None]:
    """Around code of somebody else's that is loaded: what it does to end the process ends only its own loading."""
    with boundary(InputError, doing):
        try:
            yield
        except SystemExit as error:
            raise ImportError(f"it tried to end the process ({error.code})").with_traceback(
                error.__traceback__
            ) from None


def modules_of(package: str) -> Iterator[ModuleType]:
    """The package and every module below it, in order of their names."""
    root = importlib.import_module(package)
    yield root
    for info in sorted(pkgutil.iter_modules(getattr(root, "__path__", ())), key=lambda info: info.name):
        if not info.name.startswith("_"):
            yield from modules_of(f"{package}.{info.name}")


def packages_in(package: str) -> Iterator[ModuleType]:
    """The packages directly inside a package; its plain modules are left alone."""
    root = importlib.import_module(package)
    for info in sorted(pkgutil.iter_modules(root.__path__), key=lambda info: info.name):
        if info.ispkg:
            yield importlib.import_module(f"{package}.{info.name}")


def nearest(kind: str, name: str, known: Iterable[str], *, hint: str = "") -> InputError:
    """An error that says what was probably meant."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    meant = (
        f"Did you mean {' or '.join(close)}?"
        if close
        else f"Known: {', '.join(names[:12])}{'…' if names[12:] else ''}."
    )
    return InputError(f"There is no {kind} {name!r}.", hint=" ".join(part for part in (meant, hint) if part))


Files = dict[Path, ModuleType]
"""Python files that were executed already."""


def load_attribute(name: str, files: Files | None = None) -> Any:
    """`package.module:attribute`, or `path/to/file.py:attribute`. Executes the module."""
    place, _, attribute = name.rpartition(":")
    path, files = Path(place).resolve(), {} if files is None else files
    try:
        with _executing(f"{name} could not be loaded"):
            if not place.endswith(".py"):
                return pkgutil.resolve_name(name)
            if path not in files:
                files[path] = _load_file(path)
    except InputError as error:
        raise InputError(error.message, hint=_line_of(error.__cause__, path)) from error.__cause__
    module = files[path]
    if not hasattr(module, attribute):
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        hint = f"It has {', '.join(own)}." if own else "Nothing is defined in it."
        raise InputError(f"{name} could not be loaded: the file has no {attribute}.", hint=hint)
    return getattr(module, attribute)


def _line_of(error: BaseException | None, path: Path) -> str:
    """Where in that file it went wrong, for whoever wrote it."""
    frames = traceback.extract_tb(error.__traceback__) if error is not None else ()
    own = [frame for frame in frames if frame.filename == str(path)]
    return f"It happened in line {own[-1].lineno}: {own[-1].line}" if own else ""


def _load_file(path: Path) -> ModuleType:
    # Two files may have one name, and whoever looks up a class's annotations finds its module by the module's name.
    name = f"{path.stem}_{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
