"""How people type who do not look twice before sending."""

import re
from string import ascii_lowercase

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.words import vocabulary, words

NEIGHBORS = dict(zip(ascii_lowercase, "svxfrghjoklknmpowtdrybezux", strict=True))
"""A key next to each."""
WORD = re.compile(r"\b[a-z]{5,}\b")


def as_typed(stream: Stream, text: str) -> str:
    """One in five texts has a slip or a habit of its writer."""
    if not stream.chance(1, 5):
        return text
    kind = stream.below(8)
    if kind < 3:
        text = _known_slip(stream, text)
    elif kind < 6:
        text = _finger_slip(stream, text)
    habit = stream.below(9)
    if habit == 0:
        return text.lower()
    if habit == 1:
        return text.rstrip(".") + stream.choice(("!!", "...", "", " :)", "!", " :(" if "not" in text else ""))
    if habit == 2 and len(text) < 70:
        return text.upper()
    if habit == 3:
        return text.replace("'", "")
    return text


def _known_slip(stream: Stream, text: str) -> str:
    slips = [pair.split("=") for pair in words(vocabulary("voices")["typing"]["slips"])]
    fitting = [(right, wrong) for right, wrong in slips if f" {right} " in text]
    for right, wrong in stream.sample(fitting, min(len(fitting), stream.between(1, 2))):
        text = text.replace(f" {right} ", f" {wrong} ", 1)
    return text


def _finger_slip(stream: Stream, text: str) -> str:
    """A letter left out, typed twice, swapped with the next one, or the key beside it."""
    found = list(WORD.finditer(text))
    if not found:
        return text
    start, end = stream.choice(found).span()
    place = stream.between(start + 1, end - 2)
    letter, after = text[place], text[place + 1]
    wrong = stream.choice((after, letter + letter + after, after + letter, NEIGHBORS[letter] + after))
    return text[:place] + wrong + text[place + 2 :]
