"""Names with settings: `generic[memory=table,tools=calculator+scratchpad]`.

Whatever can be named on the command line (an agent, a judge, a benchmark, an environment) declares its settings as a
frozen dataclass with defaults. This module reads the text into that dataclass, and describes it for help and docs.
"""

import ast
import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from webassay.core.errors import InputError, boundary

O = TypeVar("O")  # noqa: E741

_SWITCHES = {"yes": True, "no": False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The smallest value of a number: `rounds: Annotated[int, AtLeast(1)] = 8`."""

    minimum: float


Count = Annotated[int, AtLeast(0)]
Positive = Annotated[int, AtLeast(1)]


@dataclass(frozen=True, slots=True)
class NoOptions:
    """For things without settings."""


NO_OPTIONS = NoOptions()


@dataclass(frozen=True, slots=True)
class Option:
    """One setting, as help and the reference show it."""

    name: str
    form: str
    default: str
    summary: str


def read_spec(spec: str) -> tuple[str, dict[str, str]]:
    """`name[key=value,key=value]` as name and settings; neither is checked yet."""
    name, bracket, rest = spec.partition("[")
    if bracket and not rest.endswith("]"):
        raise InputError(f"{spec!r} cannot be read.", hint="Write NAME or NAME[key=value,key=value].")
    wishes: dict[str, str] = {}
    for part in filter(None, rest.removesuffix("]").split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key or not equals or not value or key in wishes:
            raise InputError(f"{spec!r}: cannot read {part!r}.", hint="Write NAME[key=value,key=value].")
        wishes[key] = value
    return name, wishes


def read_options(owner: str, kind: type[O], wishes: Mapping[str, str]) -> O:
    """An instance of the dataclass `kind`; an unknown name or an unusable value is an `InputError` that says why."""
    hints = _hints(kind)
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for key in wishes:
        if key not in known:
            raise InputError(f"{owner} has no setting {key!r}.", hint=f"It has {', '.join(known) or 'none'}.")
    return kind(**{key: _read(f"{owner}[{key}]", hints[key], text) for key, text in wishes.items()})


def describe_options(kind: type) -> Iterator[Option]:
    """The text under each field of the dataclass becomes its summary."""
    hints, notes = _hints(kind), _notes(kind)
    for field in fields(kind):
        if field.default is not MISSING:
            default = field.default
        else:
            default = field.default_factory() if field.default_factory is not MISSING else ""
        yield Option(field.name, _form(hints[field.name]), _write(default), notes.get(field.name, ""))


def _hints(kind: type) -> dict[str, Any]:
    """Annotations may be text, whose names have to be found where the class was written."""
    with boundary(InputError, f"The types of {kind.__name__}'s fields cannot be read"):
        return get_type_hints(kind, include_extras=True)


def _read(owner: str, kind: Any, text: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        value = _read(owner, inner[0], text)
        lowest = max((one.minimum for one in inner[1:] if isinstance(one, AtLeast)), default=None)
        if lowest is not None and not value >= lowest:
            raise InputError(f"{owner} must be at least {lowest:g}, not {text!r}.")
        return value
    if origin in (Union, UnionType):
        if type(None) in inner and text == "none":
            return None
        return _read(owner, next(one for one in inner if one is not type(None)), text)
    if origin is Literal:
        if text in inner:
            return text
        raise InputError(f"{owner} cannot be {text!r}.", hint=f"Choose one of {', '.join(map(str, inner))}.")
    if origin is tuple:
        return tuple(_read(owner, inner[0], part) for part in text.split("+"))
    if kind is bool:
        if text in _SWITCHES:
            return _SWITCHES[text]
        raise InputError(f"{owner} must be yes or no, not {text!r}.")
    if kind is int:
        if text.removeprefix("-").isdecimal() and len(text) < 10:
            return int(text)
        raise InputError(f"{owner} must be a whole number, not {text!r}.")
    if kind is float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isfinite(value):
            return value
        raise InputError(f"{owner} must be a number, not {text!r}.")
    return text


def _form(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _form(inner[0])
    if origin in (Union, UnionType):
        return "|".join("none" if one is type(None) else _form(one) for one in inner)
    if origin is Literal:
        return "|".join(map(str, inner))
    if origin is tuple:
        return f"{_form(inner[0])}+…"
    return {bool: "yes|no", int: "number", float: "number"}.get(kind, "text")


def _write(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "+".join(map(_write, value))
    return "none" if value is None else str(value)


def _notes(kind: type) -> dict[str, str]:
    """What stands under each field, also of the classes this one inherits from."""
    notes: dict[str, str] = {}
    for owner in reversed(kind.__mro__[:-1]):
        notes |= _own_notes(owner)
    return notes


def _own_notes(kind: type) -> dict[str, str]:
    try:
        body = ast.parse(inspect.cleandoc("\n" + inspect.getsource(kind))).body[0]
    except (OSError, SyntaxError, TypeError):  # made in a notebook or at a prompt: no source to read
        return {}
    notes, last = {}, ""
    for statement in body.body if isinstance(body, ast.ClassDef) else ():
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            last = statement.target.id
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and last:
            notes[last] = " ".join(str(statement.value.value).split())
    return notes
