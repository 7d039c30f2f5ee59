"""How people type: what they contract, and what they do not look at twice before sending."""

import re
from string import ascii_lowercase

from webassay.sites.rng import Stream
from webassay.sites.shop.seeding.words import vocabulary, words

NEIGHBORS = dict(zip(ascii_lowercase, "svxfrghjoklknmpowtdrybezux", strict=True))
"""A key next to each."""
WORD = re.compile(r"\b[a-z]{5,}\b")
LONG_FORM = re.compile(
    r"\b(?:cannot"
    r"|(?:[Dd]o|[Dd]oes|[Dd]id|[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Hh]ave|[Hh]as|[Hh]ad|[Ww]ould|[Cc]ould|[Ss]hould|[Ww]ill)"
    r" not\b"
    # Not "as good as it is now", and not at the end: "yes it is."
    r"|(?<!as )(?<!than )(?<!what )(?<!how )(?:(?:I am|(?:[Yy]ou|[Ww]e|[Tt]hey) are"
    r"|(?:[Ii]t|[Hh]e|[Ss]he|[Tt]hat|[Tt]here|[Hh]ere|[Ww]ho|[Ww]hat) is)(?= [a-z])"
    r"|(?:I|[Yy]ou|[Ww]e|[Tt]hey|[Ii]t|[Hh]e|[Ss]he) will(?= (?!not\b)[a-z])"
    r"|(?:I|[Yy]ou|[Ww]e|[Tt]hey) would(?= (?!not\b)[a-z]))"
    # Not "I have two dogs" and not "I had to".
    r"|(?:(?:I|[Yy]ou|[Ww]e|[Tt]hey) ha(?:ve|d)|(?:[Ii]t|[Hh]e|[Ss]he) has)(?= (?:been|used|tried|bought|washed|worn|"
    r"ordered|owned|never|already|recommended|told|paid|given|gotten|become|stopped|started|seen|found|made|held|had|"
    r"asked|survived|thrown|killed|spent|written|heard|gone|put|changed|compared|looked|finished|noticed)\b))"
)
"""What most people shorten."""
SHORT = {
    "am": "'m", "are": "'re", "is": "'s", "has": "'s", "have": "'ve", "had": "'d", "would": "'d", "will": "'ll",
    "not": "n't",
}  # fmt: skip
LOUD = re.compile(r"\b(very|love|not|never|really|best|great|perfect|worst|always|must|loves|hate)\b")
"""What people shout."""
BETWEEN = re.compile(r"(?<=[a-z])\. (?=[A-Z])")
SAD = re.compile(
    r"\b(not|never|broke|broken|sick|rash|refund|back|waste|bad|worse|poor|cheap|too|stale|leak\w*|useless|dead|worst|"
    r"terrible|awful|wore|disappoint\w*)\b|n't",
    re.IGNORECASE,
)
"""Whoever writes this does not laugh."""


def contracted(text: str) -> str:
    return LONG_FORM.sub(_shorter, text)


def _shorter(found: re.Match[str]) -> str:
    whole = found[0]
    if whole == "cannot":
        return "can't"
    first, _, last = whole.rpartition(" ")
    if last == "not" and first.lower() == "will":
        return first[0] + "on't"
    return first + SHORT[last]


def as_typed(stream: Stream, text: str) -> str:
    """One in three texts has a slip or a habit of its writer, and some have two."""
    stream = stream.child("typed", stream.below(1 << 60))
    if not stream.chance(4, 9):
        return text
    for _ in range(stream.weighted(((1, 4), (2, 1)))):
        kind = stream.below(24)
        if kind < 4:
            text = text.replace("'", "")
        elif kind < 7:
            text = _known_slip(stream, text)
        elif kind < 8:
            text = finger_slip(stream, text)
        elif kind < 10:
            text = text[0].lower() + text[1:]
        elif kind < 11:
            text = text.lower()
        elif kind < 14:
            text = text.removesuffix(".")
        elif kind < 17:
            text = text.removesuffix(".") + stream.choice(("!", "!!", "!!!", "!"))
        elif kind < 19:
            text = BETWEEN.sub("... ", text, count=1)
        elif kind < 22:
            text = LOUD.sub(lambda found: found[0].upper(), text, count=1)
        else:
            text = _habit(stream, text)
    return text


def _habit(stream: Stream, text: str) -> str:
    """What comes at the end or goes on and on."""
    kind = stream.below(5)
    if kind == 0:
        return text if SAD.search(text) else text.removesuffix(".") + stream.choice((" lol", " :)", " haha"))
    if kind == 1:
        return BETWEEN.sub("! ", text, count=2)
    if kind == 2:
        return text.replace(" so ", " sooo ", 1)
    if kind == 3:
        return text.upper() if len(text) < 60 else BETWEEN.sub(", ", text, count=1)
    return text.replace(" I ", " i ").replace(" I'", " i'")


def _known_slip(stream: Stream, text: str) -> str:
    slips = [pair.split("=") for pair in words(vocabulary("voices")["typing"]["slips"])]
    fitting = [(right, wrong) for right, wrong in slips if f" {right} " in text]
    for right, wrong in stream.sample(fitting, min(len(fitting), stream.between(1, 2))):
        text = text.replace(f" {right} ", f" {wrong} ", 1)
    return text


def finger_slip(stream: Stream, text: str) -> str:
    """A letter left out, typed twice, swapped with the next one, or the key beside it."""
    found = list(WORD.finditer(text))
    if not found:
        return text
    start, end = stream.choice(found).span()
    place = stream.between(start + 1, end - 2)
    letter, after = text[place], text[place + 1]
    wrong = stream.choice((after, letter + letter + after, after + letter, NEIGHBORS[letter] + after))
    return text[:place] + wrong + text[place + 2 :]
