"""Reading calls such as `click('12')` out of what a model wrote. The text is parsed, never executed."""

import ast
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webassay.core.errors import ActionError
from webassay.core.text import well_formed

MAX_ACTION_TEXT = 100_000
MAX_CALLS_IN_PROSE = 300
"""Finding the end of each takes time, so that many in one long text could stop the clock."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was written, not yet validated."""

    name: str
    args: tuple[Any, ...]
    named: Mapping[str, Any]


def read_calls(text: str, known: Collection[str]) -> tuple[Call, ...]:
    """Calls with literal arguments.

    Calls may be separated by new lines, semicolons, commas, blanks and comments. As in BrowserGym they may also be
    fenced in Markdown or, if they are `known`, appear in the middle of a sentence. If Python can parse the text it is
    code, and then anything but a call is an error: a loop must not be mistaken for a sentence. Unlike in Python, a text
    in quotes may run over several lines, as models write it.
    """
    if len(text) > MAX_ACTION_TEXT:
        raise ActionError(f"The action text is longer than {MAX_ACTION_TEXT} characters.")
    text = well_formed(text)
    try:
        calls: Sequence[Call] = _code(text)
    except _NotCode:
        calls = _calls_over_lines(text, known) or _calls_in_prose(text, known)
    if not calls:
        raise ActionError("No action was given.", hint=_EXAMPLE)
    return tuple(calls)


_EXAMPLE = "Write calls such as click('12')."
_ANSWER = "An answer is sent with send_msg_to_user('…')."
_QUOTING = "A quote inside a text needs a backslash before it, or three quotes around the text."
_FENCE = re.compile(r"```(?:[A-Za-z]*[ \t]*\n)?(.*?)```", re.DOTALL)
_CALL_OR_COMMENT = re.compile(r"^[ \t]*#.*$|(?<=\))[ \t]*#.*$|\b([A-Za-z_]\w*)\s*\(", re.MULTILINE)
_COMMENT = re.compile(r"#.*")
_SHORT_CALL = re.compile(r"\b[A-Za-z_]\w*\s*\([^()]*\)")
_LIKE_A_CALL = re.compile(r"\b([A-Za-z_]\w*)\((?=['\"\d)])")
_TRIPLE = r"\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''"
_ON_A_LINE = re.compile(_TRIPLE + r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[()]", re.DOTALL)
_OVER_LINES = re.compile(_TRIPLE + r"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[()]", re.DOTALL)
_ESCAPE_OR_BREAK = re.compile(r"\\.|[\r\n]", re.DOTALL)
_BREAKS = {"\n": "\\n", "\r": "\\r"}


class _NotCode(Exception):
    """Python cannot parse it."""


def _code(text: str) -> list[Call]:
    try:
        # Python would warn about an odd escape, in a text that is not ours to fix.
        with warnings.catch_warnings(action="ignore"):
            module = ast.parse(text.strip(), mode="exec")
    except SyntaxError as error:
        # Without the name of a file that does not exist, and its lines.
        raise _NotCode(re.sub(r" \(detected at.*", "", error.msg).rstrip(".?")) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise _NotCode(str(error)) from None
    calls = []
    for statement in module.body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        calls += [_read_call(item) for item in (value.elts if isinstance(value, ast.Tuple) else [value])]
    return calls


def _escaped_breaks(text: str) -> str:
    """The same code with line breaks inside of single quotes as escapes."""

    def mend(found: re.Match[str]) -> str:
        if len(found[0]) < 2 or found[0].startswith(('"""', "'''")):
            return found[0]
        return _ESCAPE_OR_BREAK.sub(lambda part: _BREAKS.get(part[0], part[0]), found[0])

    return _OVER_LINES.sub(mend, text)


def _calls_over_lines(text: str, known: Collection[str]) -> list[Call]:
    """The calls of a text that is code but for its line breaks; none if it is something else."""
    try:
        calls = _code(_escaped_breaks(text))
    except (_NotCode, ActionError):
        return []
    return calls if all(call.name in known for call in calls) else []


def _calls_in_prose(text: str, known: Collection[str]) -> Sequence[Call]:
    fenced = "\n".join(_FENCE.findall(text))
    if any(f"{name}(" in fenced for name in known):
        return read_calls(fenced, known)
    calls: list[Call] = []
    others, at = text, 0
    while match := _CALL_OR_COMMENT.search(text, at):
        at = match.end()
        if match[1] in known:
            if len(calls) >= MAX_CALLS_IN_PROSE:
                raise ActionError(f"There are more than {MAX_CALLS_IN_PROSE} actions in this text.")
            at, found = _call_at(text, match.start(), at)
            others = others.replace(text[match.start() : at], " ", 1)
            calls += found
    # If there is nothing but calls, the unknown ones are mistakes too, and not words of a sentence.
    others = _COMMENT.sub("", others)
    if not re.search(r"\w", _SHORT_CALL.sub("", others)):
        calls += [call for piece in _SHORT_CALL.findall(others) for call in _piece(piece)]
    if not calls:
        raise _no_call(text, known)
    return calls


def _no_call(text: str, known: Collection[str]) -> ActionError:
    unknown = next((name for name in _LIKE_A_CALL.findall(text) if name not in known), "")
    if unknown:
        return ActionError(f"There is no action {unknown!r}.", hint=f"Known actions: {', '.join(known)}.")
    return ActionError(f"There is no action in “{_shortened(text)}”.", hint=_EXAMPLE)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:99]}…"


def _call_at(text: str, start: int, inside: int) -> tuple[int, list[Call]]:
    """Where the call that starts there ends, and the call. One that never closes is an error, not a sentence: nothing
    in its argument may be mistaken for an action."""
    problem = ActionError(f"{text[start:inside]} was never closed.", hint=_EXAMPLE)
    for tokens in (_OVER_LINES, _ON_A_LINE):
        end = _end_of_call(text, inside, tokens)
        if end is None:
            continue
        try:
            return end, _piece(text[start:end])
        except ActionError as error:
            problem = error
    raise problem


def _end_of_call(text: str, inside: int, tokens: re.Pattern[str]) -> int | None:
    depth = 1
    for token in tokens.finditer(text, inside):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return None


def _piece(text: str) -> list[Call]:
    """One call out of a sentence."""
    try:
        return _code(_escaped_breaks(text))
    except _NotCode as problem:
        raise ActionError(f"{_shortened(text)} cannot be read: {problem}.", hint=_QUOTING) from None


def _read_call(call: ast.expr | None) -> Call:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ActionError("Only calls such as click('12') are allowed.", hint=_ANSWER)
    try:
        args = tuple(_literal(argument) for argument in call.args)
        named = {str(k.arg): _literal(k.value) for k in call.keywords if k.arg is not None}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise ActionError(f"{call.func.id}: arguments must be plain strings, numbers or lists of them.") from None
    if len(named) != len(call.keywords):
        raise ActionError(f"{call.func.id}: an argument is given twice, or with **.")
    return Call(call.func.id, args, named)


def _literal(node: ast.expr) -> Any:
    """The value of a literal. Two escapes that form a surrogate pair become the one character they stand for."""
    value = ast.literal_eval(node)
    if isinstance(value, str):
        return well_formed(value)
    return [well_formed(one) if isinstance(one, str) else one for one in value] if isinstance(value, list) else value
