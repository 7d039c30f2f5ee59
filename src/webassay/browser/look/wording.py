"""Whether something has been said already."""

from collections.abc import Iterable


def stands_in(part: str, text: str) -> bool:
    """As whole words: neither 1 nor 2 is said by `Room 12`, and 1 is not said by 1.5."""
    at = text.find(part)
    while at >= 0:
        end = at + len(part)
        if not _goes_on(text, at - 1, at) and not _goes_on(text, end, end - 1):
            return True
        at = text.find(part, at + 1)
    return False


def _goes_on(text: str, outside: int, inside: int) -> bool:
    """Whether a word or number goes on from one place to the other beside it."""
    if not 0 <= outside < len(text) or not 0 <= inside < len(text):
        return False
    if text[outside] in ".," and text[inside].isdigit():
        beyond = 2 * outside - inside
        return 0 <= beyond < len(text) and text[beyond].isdigit()
    return text[outside].isalnum() and text[inside].isalnum()


def made_of(name: str, pieces: Iterable[str]) -> bool:
    """Whether a name is what its content says: `Foobar` may be `Foo` in bold and `bar`."""
    return "".join(name.split()) in "".join("".join(piece.split()) for piece in pieces)
