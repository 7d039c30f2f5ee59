"""Key names and characters as Chromium expects them, in the US layout."""

import sys
from dataclasses import dataclass

from webassay.core.errors import ActionError

MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}


@dataclass(frozen=True)
class KeyStroke:
    key: str
    code: str
    number: int
    """The virtual key code, for old pages."""
    text: str = ""
    location: int = 0


_NAMED: dict[str, KeyStroke] = {
    key.key: key
    for key in (
        KeyStroke("Backspace", "Backspace", 8),
        KeyStroke("Tab", "Tab", 9),
        KeyStroke("Enter", "Enter", 13, "\r"),
        KeyStroke("Escape", "Escape", 27),
        KeyStroke("PageUp", "PageUp", 33),
        KeyStroke("PageDown", "PageDown", 34),
        KeyStroke("End", "End", 35),
        KeyStroke("Home", "Home", 36),
        KeyStroke("ArrowLeft", "ArrowLeft", 37),
        KeyStroke("ArrowUp", "ArrowUp", 38),
        KeyStroke("ArrowRight", "ArrowRight", 39),
        KeyStroke("ArrowDown", "ArrowDown", 40),
        KeyStroke("Insert", "Insert", 45),
        KeyStroke("Delete", "Delete", 46),
        KeyStroke("Shift", "ShiftLeft", 16, location=1),
        KeyStroke("Control", "ControlLeft", 17, location=1),
        KeyStroke("Alt", "AltLeft", 18, location=1),
        KeyStroke("Meta", "MetaLeft", 91, location=1),
        KeyStroke("CapsLock", "CapsLock", 20),
        KeyStroke("ContextMenu", "ContextMenu", 93),
        *(KeyStroke(f"F{n}", f"F{n}", 111 + n) for n in range(1, 13)),
    )
}
WRITTEN = KeyStroke("Process", "", 229)
"""What pages hear if an input method takes the key and writes the text itself."""
_ALIASES = {
    "esc": "Escape",
    "return": "Enter",
    "del": "Delete",
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "super": "Meta",
    "option": "Alt",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "page_up": "PageUp",
    "page_down": "PageDown",
    "space": " ",
    "controlormeta": "Meta" if sys.platform == "darwin" else "Control",
    **{name.lower(): name for name in _NAMED},
}
_PLAIN = {
    " ": ("Space", 32),
    "`": ("Backquote", 192),
    "-": ("Minus", 189),
    "=": ("Equal", 187),
    "[": ("BracketLeft", 219),
    "]": ("BracketRight", 221),
    "\\": ("Backslash", 220),
    ";": ("Semicolon", 186),
    "'": ("Quote", 222),
    ",": ("Comma", 188),
    ".": ("Period", 190),
    "/": ("Slash", 191),
}
_ALIASES |= {code.lower(): char for char, (code, _) in _PLAIN.items()}
_ALIASES |= {f"{name.lower()}{side}": name for name in MODIFIERS for side in ("left", "right")}
_ALIASES |= {f"numpad{digit}": digit for digit in "0123456789"} | {"numpadenter": "Enter"}
_SHIFTED = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))
_WITH_SHIFT = {plain: char for char, plain in _SHIFTED.items()}


def key_named(name: str) -> KeyStroke:
    """A named key or a single character."""
    if len(name) == 1:
        return character(name) or KeyStroke(name, "", 0, name)
    known = _ALIASES.get(name.lower())
    if known is None and len(name) == 4 and name.startswith("Key"):
        known = name[3].lower()
    if known is None and len(name) == 6 and name.startswith("Digit"):
        known = name[5]
    if known is None:
        raise ActionError(f"There is no key {name!r}.", hint="Use names such as Enter, Tab, ArrowDown, Control+a.")
    return _NAMED.get(known) or key_named(known)


def character(char: str) -> KeyStroke | None:
    """The key that types a character; None if the layout has none."""
    if char in "\r\n":
        return _NAMED["Enter"]
    if char == "\t":
        return _NAMED["Tab"]
    base = _SHIFTED.get(char, char)
    if base.isascii() and base.isalpha():
        return KeyStroke(char, f"Key{base.upper()}", ord(base.upper()), char)
    if base.isascii() and base.isdigit():
        return KeyStroke(char, f"Digit{base}", ord(base), char)
    if base in _PLAIN:
        code, number = _PLAIN[base]
        return KeyStroke(char, code, number, char)
    return None


def needs_shift(char: str) -> bool:
    return char in _SHIFTED or (char.isascii() and char.isupper())


def with_shift(key: KeyStroke) -> KeyStroke:
    """What a key is while Shift is held: `A` for `a`, `!` for `1`, and otherwise itself."""
    shifted = _WITH_SHIFT.get(key.key, key.key.upper())
    return key_named(shifted) if len(key.key) == len(shifted) == 1 else key


def combination(text: str) -> list[str]:
    """Splits `Control+Shift+a` into its keys; a plus sign alone, or at the end, is the key `+`."""
    if text == "+":
        return ["+"]
    if text.endswith("++"):
        return [*text[:-2].split("+"), "+"]
    parts = text.split("+")
    if not all(parts):
        raise ActionError(f"{text!r} is not a key or key combination.", hint="Write Enter or Control+a, for example.")
    return parts
