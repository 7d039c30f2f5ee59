"""Inputs made worse: edits of a good one, and texts that are known to hurt parsers."""

import json
import random
from typing import Any

CHARACTERS = "\x00\x08\x1b\x7f\x85\u00a0\u0301\u200b\u202e\u2028\ufeff\ufffd\ud800\udc00😀"
CHARACTERS += "'\"`\\/()[]{}<>,:;=|#%&*+-_.!? \t\r\n09azAZ"
WORDS = (
    *("null", "true", "NaN", "Infinity", "-0", "1e999", "0x1F", "9" * 400, "1" + "0" * 5000, "\\ud83d", "\\u0000"),
    *("__import__('os').system('x')", "../../etc/passwd", "file:///etc/passwd", "javascript:alert(1)", "%00", "${x}"),
    *("<think>", "</action>", "```json", "```", "Status: success", "SUCCESS", "pass", "[[", "]]", "click('1')", "\n\n"),
    *("a" * 3000, "(" * 3000, "[" * 3000, "{" * 3000, '"' * 3000, "\n" * 3000, " " * 3000, "\\" * 3000, "-" * 3000),
    *("click(" * 1000, '{"a":' * 1000, "Action:\n" * 1000, "* " * 2000, "1. " * 2000, "'''" * 1000, "\t\r\n" * 1000),
)


def worse_text(text: str, draw: random.Random) -> str:
    """A few edits: characters exchanged, parts left out, doubled, moved, or something hostile put in."""
    for _ in range(draw.choice((1, 1, 2, 3, 6))):
        at = draw.randrange(len(text) + 1)
        to = min(len(text), at + draw.choice((1, 2, 5, 30, 200)))
        kind = draw.randrange(7)
        if kind == 0:
            text = text[:at] + draw.choice(CHARACTERS) + text[to:]
        elif kind == 1:
            text = text[:at] + text[to:]
        elif kind == 2:
            text = text[:at] + text[at:to] * draw.choice((2, 3, 50)) + text[to:]
        elif kind == 3:
            text = text[:at] + draw.choice(WORDS) + text[at:]
        elif kind == 4:
            text = text[:at]
        elif kind == 5:
            text = text[:at] + "".join(draw.choices(CHARACTERS, k=draw.randrange(1, 20))) + text[at:]
        else:
            text = text[to:] + text[:at]
    return text


def worse_bytes(data: bytes, draw: random.Random) -> bytes:
    if draw.random() < 0.6:
        return worse_text(data.decode("utf-8", "replace"), draw).encode("utf-8", "surrogatepass")
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 8, 64))):
        if changed:
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed[: draw.randrange(len(changed) + 1)] if draw.random() < 0.1 else changed)


STRANGE = (None, True, False, 0, -1, 1e308, 10**30, "", "x", "\ud800", "\x00", [], {}, [[]], {"": None}, [None] * 50)


def worse_json(value: Any, draw: random.Random) -> Any:
    """The same shape with parts exchanged for others of another type, left out, or nested deeply."""
    if draw.random() < 0.08:
        return draw.choice(STRANGE)
    if isinstance(value, dict) and value:
        name = draw.choice(list(value))
        rest = {key: item for key, item in value.items() if key != name}
        fate = draw.random()
        if fate < 0.15:
            return rest
        if fate < 0.25:
            return {**rest, worse_text(name, draw): value[name]}
        return {**value, name: worse_json(value[name], draw)}
    if isinstance(value, list) and value:
        at = draw.randrange(len(value))
        if draw.random() < 0.15:
            return value[:at] + value[at + 1 :]
        return [*value[:at], worse_json(value[at], draw), *value[at + 1 :]]
    if isinstance(value, str) and draw.random() < 0.7:
        return worse_text(value, draw)
    return draw.choice(STRANGE)


def worse_document(value: Any, draw: random.Random) -> bytes:
    """Well-formed and wrong, or not even well-formed."""
    if draw.random() < 0.5:
        for _ in range(draw.choice((1, 1, 2, 4))):
            value = worse_json(value, draw)
        return json.dumps(value, ensure_ascii=draw.random() < 0.5).encode("utf-8", "surrogatepass")
    return worse_bytes(json.dumps(value).encode(), draw)
