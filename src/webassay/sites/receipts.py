"""Receipts: where the words of an answer come from.

While a request is answered, every value that a query returns knows its row and column. It behaves as the plain value
does, in Python and in templates. Writing it into a page, a file or JSON leaves a *receipt*: this cell was shown. What
the site says by itself (the text of its templates, what `ours` marks) needs none. For everything else, such as what a
visitor typed, nobody vouches, however it was cut or formatted: the record marks it as an echo.

A value forgets where it comes from in an f-string, in `json` and in most of Python's text functions;
`ours("…").format(…)`, `carried` and arithmetic keep it. Who forgets to keep it loses evidence, and never makes any.

For what the visitor has written, nobody vouches either: a value counts if the pristine world has the same in that cell,
or if the column is journal, which only the site fills (the number of a new order). What a query computes counts if it
computes the same row from the pristine world.
"""

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import Any, Protocol

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from markupsafe import Markup, escape

from webassay.core.served import ECHO

Cell = tuple[str, tuple[Any, ...], str]
"""Table, primary key, column."""
Computed = tuple[str, tuple[Any, ...], tuple[Any, ...], int]
"""A query, its parameters, one row of its result, and the place in it."""
Rows = dict[tuple[Any, ...], None]
"""Their primary keys, in the order in which they were shown."""
Ink = tuple[Any, ...]
"""Where a value comes from: a row and the place in it; several of these; or nothing, if the site itself says it."""

_COMPOUND = re.compile(r"\b(?:UNION|INTERSECT|EXCEPT)\b", re.I)


class QuerySource:
    """A query, and which cells its columns are."""

    __slots__ = ("_about", "_keys", "names", "origins", "sql", "tables")

    def __init__(
        self, sql: str, described: Any, keys: Mapping[str, tuple[str, ...]], reads: Mapping[str, frozenset[str]]
    ) -> None:
        self.sql = sql
        self.names = tuple(column[0] for column in described)
        named = reads.keys() & set(re.findall(r"\w+", sql.lower()))
        self.tables = frozenset().union(*(reads[name] for name in named))
        """All that it may read."""
        # The origins of a compound query are those of its first part only.
        unclear = _COMPOUND.search(sql) is not None
        self.origins = tuple((table, name) if table in keys and not unclear else None for *_, table, name in described)
        places = {origin: place for place, origin in reversed(list(enumerate(self.origins)))}
        joined = re.findall(r"\b(?:from|join)\s+(\w+)", sql.lower())
        self._keys = {
            table: tuple(places[table, column] for column in key)
            for table, key in keys.items()
            # Of a table that stands in the query twice, nobody knows which row is meant.
            if all((table, column) in places for column in key) and joined.count(table.lower()) == 1
        }
        self._about = _first_table(sql) if self._keys else ""

    def cell(self, values: tuple[Any, ...], place: int) -> Cell | None:
        """None if it is computed, or if the query does not select the key of a row."""
        origin = self.origins[place]
        key = self._keys.get(origin[0]) if origin else None
        if origin is None or key is None:
            return None
        row = tuple(values[part] for part in key)
        return None if None in row else (origin[0], row, origin[1])

    def shows(self, place: int) -> list[tuple[str, str, tuple[int, ...]]]:
        """What somebody knows who has seen that column: table, column, and the places of the row's key. Where it is of
        another table or computed, it also says something of the row that the query is about, by its name in the
        query."""
        found, origin = [], self.origins[place]
        if origin is not None and origin[0] in self._keys:
            found.append((*origin, self._keys[origin[0]]))
        if self._about in self._keys and (origin is None or origin[0] != self._about):
            found.append((self._about, f"={self.names[place]}", self._keys[self._about]))
        return found


def _first_table(sql: str) -> str:
    """What the rows of a query are rows of; empty if they are groups."""
    outer, inner = "", sql
    while outer != inner:
        outer, inner = inner, re.sub(r"\([^()]*\)", " ", inner)
    found = re.search(r"\bfrom\s+(\w+)", outer, re.I)
    return found[1] if found and not re.search(r"\bgroup\s+by\b", outer, re.I) else ""


class QueryRow:
    """One row of a query's result."""

    __slots__ = ("params", "source", "values")

    def __init__(self, source: QuerySource, params: tuple[Any, ...], values: tuple[Any, ...]) -> None:
        self.source, self.params, self.values = source, params, values


# --- values that know where they come from ----------------------------------------------------------------


class InkedText(str):
    __slots__ = ("ink",)
    ink: Ink


class InkedNumber(int):
    ink: Ink


class InkedReal(float):
    ink: Ink


_MAKE: dict[type, Any] = {str: InkedText, int: InkedNumber, float: InkedReal}
_INKED = frozenset((InkedText, InkedNumber, InkedReal))


def _made(value: Any, ink: Ink) -> Any:
    make = _MAKE.get(type(value))
    if make is None:
        return value
    made = make.__new__(make, value)
    made.ink = ink
    return made


def ours(text: str) -> str:
    """What the site says by itself. Nothing that a visitor sent may be in it."""
    made: str = _made(text, ())
    return made


def ours_all(value: Any) -> Any:
    """The texts and numbers in a constant of the site: `{"FL": "Florida"}`, a tuple."""
    if isinstance(value, dict):
        return {ours_all(key): ours_all(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return getattr(type(value), "_make", tuple)(map(ours_all, value))
    return _made(value, ())


def carried(result: Any, *sources: Any) -> Any:
    """The result of a calculation whose words and digits are all from these; plain if one of them is."""
    if len(sources) == 1 and type(sources[0]) in _INKED and type(result) is str:  # The most frequent case.
        made: InkedText = InkedText.__new__(InkedText, result)
        made.ink = sources[0].ink
        return made
    if type(result) is list:
        return [carried(one, *sources) for one in result]
    if not sources or not all(type(one) in _INKED for one in sources):
        return result
    inks = tuple(one.ink for one in sources if one.ink)
    plain = type(result).__mro__[1](result) if type(result) in _INKED else result  # A label that a value has chosen.
    return _made(plain, inks[0] if len(inks) == 1 else inks)


def carrying(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result says nothing but its arguments."""

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        found, given = function(*args, **named), (*args, *named.values())
        if isinstance(found, Markup):
            receipts = collected()
            return found if receipts is None or all(map(receipts.vouches, given)) else _unvouched(found)
        return carried(found, *given)

    return called


def _keep(kind: type, method: str, adds: bool) -> None:
    """`adds`: the arguments become part of the result."""
    plain = getattr(kind.__mro__[1], method)

    def kept(self: Any, *args: Any) -> Any:
        found = plain(self, *args)
        return carried(found, self, *args) if adds else carried(found, self)

    setattr(kind, method, kept)


def _calculate(kind: type, method: str) -> None:
    """A plain number beside a row's is a constant of the site's arithmetic, such as a hundred."""
    plain = getattr(kind.__mro__[1], method)

    def calculated(self: Any, *others: Any) -> Any:
        found = plain(self, *others)
        inks = [one.ink for one in (self, *others) if type(one) in _INKED and one.ink]
        return _made(found, inks[0] if len(inks) == 1 else tuple(inks)) if inks else found

    setattr(kind, method, calculated)


for _name in ("capitalize", "lower", "upper", "title", "strip", "removeprefix", "removesuffix", "split", "__getitem__"):
    _keep(InkedText, _name, adds=False)
for _name in ("format", "replace", "__add__"):
    _keep(InkedText, _name, adds=True)
for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "mod", "truediv", "neg", "abs"):
    _calculate(InkedNumber, f"__{_name}__")
    _calculate(InkedReal, f"__{_name}__")


def inked(source: QuerySource, params: tuple[Any, ...], found: Iterable[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """A query's rows, with values that know them."""
    names = source.names
    for values in found:
        line, row = QueryRow(source, params, values), {}
        for place, value in enumerate(values):
            make = _MAKE.get(type(value))
            if make is not None:
                value = make.__new__(make, value)
                value.ink = (line, place)
            row[names[place]] = value
        yield row


# --- what one answer says -----------------------------------------------------------------------------------


class PristineWorld(Protocol):
    """A world, as far as receipts ask it."""

    @property
    def touched(self) -> set[str]: ...

    def row_before(self, table: str, key: tuple[Any, ...]) -> Mapping[str, Any] | None: ...

    def computed_before(self, sql: str, params: tuple[Any, ...]) -> set[tuple[Any, ...]]: ...

    def is_journal(self, table: str, column: str) -> bool: ...


class Receipts:
    """What was written into one answer, and the answer without what nobody vouches for."""

    def __init__(self, world: PristineWorld) -> None:
        self._world = world
        self._shown: list[Ink] = []
        self._untouched: dict[QuerySource, bool] = {}
        self._again: dict[tuple[str, tuple[Any, ...]], set[tuple[Any, ...]]] = {}
        self.vouched: str | None = None
        """None: the site was not made with this kit, so nobody knows."""

    def note(self, value: Any) -> bool:
        """It was written. Whether somebody vouches for it."""
        if type(value) not in _INKED:
            return False
        ink = value.ink
        if ink and type(ink[0]) is QueryRow:
            if not (self._untouched.get(ink[0].source) or self._vouches(ink)):
                return False
            self._shown.append(ink)
            return True
        if not self.vouches(value):
            return False
        leaves = [*_leaves(ink)]
        if len({id(line) for line, _ in leaves}) == 1:  # What is made of one row shows what it is made of.
            self._shown += leaves
        return True

    def vouches(self, value: Any) -> bool:
        if type(value) not in _INKED:
            return False
        ink = value.ink
        if not ink:
            return True
        return self._vouches(ink) if type(ink[0]) is QueryRow else all(map(self._vouches, _leaves(ink)))

    def _vouches(self, leaf: Ink) -> bool:
        source = leaf[0].source
        known = self._untouched.get(source)
        if known is None:
            known = self._untouched[source] = source.tables.isdisjoint(self._world.touched)
        return known or self._is_pristine(*leaf)

    def _is_pristine(self, line: QueryRow, place: int) -> bool:
        origin = line.source.origins[place]
        if origin and origin[0] not in self._world.touched:
            return True
        cell = line.source.cell(line.values, place)
        if cell is None:
            query = line.source.sql, line.params
            if query not in self._again:
                self._again[query] = self._world.computed_before(*query)
            return line.values in self._again[query]
        table, key, column = cell
        before = self._world.row_before(table, key)
        if before is not None and before[column] == line.values[place]:
            return True
        return self._world.is_journal(table, column)

    def cells(self) -> dict[tuple[str, str], Rows]:
        """By table and column, the keys of the rows of which it was shown."""
        found: dict[tuple[str, str], Rows] = {}
        known: dict[tuple[int, int], list[tuple[Rows, tuple[int, ...]]]] = {}
        for line, place in self._shown:
            at = (id(line.source), place)
            if at not in known:
                shows = line.source.shows(place)
                known[at] = [(found.setdefault((table, column), {}), key) for table, column, key in shows]
            for rows, key in known[at]:
                row = tuple([line.values[part] for part in key])
                if None not in row:
                    rows[row] = None
        return found

    def computed(self) -> set[Computed]:
        return {
            (line.source.sql, line.params, line.values, place)
            for line, place in self._shown
            if line.source.origins[place] is None
        }


def _leaves(ink: Ink) -> Iterator[Ink]:
    waiting = [ink]
    while waiting:
        one = waiting.pop()
        if one and type(one[0]) is QueryRow:
            yield one
        else:
            waiting += one


_RECEIPTS: ContextVar[Receipts | None] = ContextVar("receipts", default=None)
collect, stop, collected = _RECEIPTS.set, _RECEIPTS.reset, _RECEIPTS.get

# No visitor can know these, so none can send them.
_OPEN, _CLOSE = ("".join(chr(0xE100 + secrets.randbelow(0x1700)) for _ in range(8)) for _ in range(2))
_UNVOUCHED = re.compile(f"{_OPEN}(.*?){_CLOSE}", re.S)


def _is_vouched(value: Any) -> bool:
    receipts = collected()
    return receipts is None or receipts.note(value)


def _unvouched(text: str) -> Markup:
    return Markup(f"{_OPEN}{text}{_CLOSE}") if text else Markup("")


def written(value: Any) -> Any:
    """For JSON, or a field of a file, which is written. Returns what is recorded of it."""
    if isinstance(value, dict):
        return {name: written(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [written(one) for one in value]
    if value is None or type(value) is bool:
        return value
    text = _clean(str(value))
    return text if _is_vouched(value) else _echo(text)


def finished(page: str) -> str:
    """The page as the visitor gets it, from what a template made."""
    receipts = collected()
    if receipts is not None:
        receipts.vouched = _UNVOUCHED.sub(lambda found: _echo(found[1]), _clean(page))
        page = page.replace(_OPEN, "").replace(_CLOSE, "")
    return page


def _clean(text: str) -> str:
    """Without the signs of an echo, which a visitor can type."""
    return text.replace(ECHO[0], "").replace(ECHO[1], "")


def _echo(text: str) -> str:
    return "" if "<" in text else f"{ECHO[0]}{text}{ECHO[1]}"


# --- templates --------------------------------------------------------------------------------------------


def _written_into_page(value: Any) -> Any:
    """For every expression of a template, before it is escaped."""
    kind = type(value)
    if kind is Markup or value is None or kind is bool:
        return value  # Markup is made of templates, which have been through this.
    receipts = collected()
    if receipts is None:
        return value
    text = escape(value)
    return text if kind in _INKED and receipts.note(value) else _unvouched(text)


class _Generator(CodeGenerator):
    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        value = node.as_const(frame.eval_ctx)
        if type(value) is str:
            self.write(f"environment.ours[{self.environment.ours_text(value)}]")  # type: ignore[attr-defined]
        else:
            super().visit_Const(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


_READ = re.compile(
    r"""<input\b[^>]*\bvalue\s*=\s*["'][^"']*$|\b(?:aria-label|alt|title|placeholder)\s*=\s*["'][^"']*$"""
)
"""A tag up to where an attribute is written that people can read."""


class TemplateEnvironment(jinja2.Environment):
    """Notes what every expression writes where people can read it."""

    code_generator_class = _Generator

    def __init__(self, **options: Any) -> None:
        super().__init__(finalize=_written_into_page, **options)
        self.ours: list[str] = []
        self.filters |= {"unread": lambda value: Markup(escape(value)), "length": _length, "count": _length}
        self.filters["chosen"] = _chosen

    def ours_text(self, text: str) -> int:
        """Where it stands among the texts that templates hold."""
        self.ours.append(ours(text))
        return len(self.ours) - 1

    def joined(self, parts: tuple[Any, ...]) -> Any:
        if any(isinstance(part, Markup) for part in parts):
            return Markup("").join(parts)
        return carried("".join(map(str, parts)), *parts)

    def getitem(self, obj: Any, argument: Any) -> Any:
        found = super().getitem(obj, argument)
        # The name of a status, chosen by the status.
        return carried(found, found, argument) if type(argument) in _INKED and type(found) in _INKED else found

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        template = super()._parse(source, name, filename)
        tag = ""
        for output in template.find_all(nodes.Output):
            for place, part in enumerate(output.nodes):
                if isinstance(part, nodes.TemplateData):
                    tag += part.data
                    tag = tag[tag.rfind("<") :] if tag.rfind("<") > tag.rfind(">") else ""
                elif tag and ('type="hidden"' in tag or not _READ.search(tag)):
                    output.nodes[place] = nodes.Filter(part, "unread", [], [], None, None)
        return template


def _chosen(label: Any, value: Any) -> Any:
    """The label of what a form has chosen, which shows the value."""
    receipts = collected()
    if receipts is not None:
        receipts.note(value)
    return label


def _length(value: Any) -> Any:
    """How many rows there are, the rows know. That there are none, the site says."""
    if not value:
        return _made(0, ())
    firsts = [next(iter(one.values()), None) if isinstance(one, dict) else one for one in value]
    return carried(len(firsts), *firsts)
