"""The people: three thousand and a few, some of whom differ in one letter only."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import apsw

from webassay.sites.forum.seeding.voicing import Said, Speaker
from webassay.sites.forum.seeding.words import Topic, slot_words
from webassay.sites.rng import Stream

OPENED = datetime(2021, 4, 1, 8)
NOW = datetime(2026, 3, 1, 9)
"""When the world starts."""
PASSWORD = "swing-by-anytime"

POSTER, TALKER, LURKER, MODERATOR, ADMIN = (
    "juniper_hale", "ines_okafor", "tobias_wren", "dell_pruitt", "porchkeeper",
)  # fmt: skip
REGULARS = (POSTER, TALKER, LURKER, MODERATOR, ADMIN)
"""Those whom one can log in as: one who posts, one who talks, one who does little, who moderates, who runs it all."""
_HOMES = (30, 20, 6, 9, 4)
"""In about how many forums each of them is at home."""
_LOOKALIKES = (
    ("l", "1"),
    ("o", "0"),
    ("i", "l"),
    ("rn", "m"),
    ("e", "3"),
    ("_", ""),
    ("s", "5"),
    ("a", "e"),
    ("u", "v"),
)


@dataclass
class Person:
    id: int
    name: str
    joined: datetime
    homes: list[int] = field(default_factory=list)
    """The forums they are usually in, the favorite first."""


def password_hash(user_id: int, password: str) -> str:
    return hashlib.sha256(f"{user_id}:{password}".encode()).hexdigest()


def text_of(moment: datetime) -> str:
    return moment.isoformat(" ", "seconds")


def fill_people(db: apsw.Connection, stream: Stream, topics: tuple[Topic, ...], count: int, said: Said) -> list[Person]:
    names = _names(stream.child("names"), count)
    days = (NOW - OPENED).days - 2
    people = []
    for number, name in enumerate(names, 1):
        own = stream.child("person", number)
        # More came later than at first, and the regulars were there from the start.
        day = (
            number * 3 if number <= len(REGULARS) else min(own.below(days), own.below(days) + own.below(200), days - 1)
        )
        joined = OPENED + timedelta(days=day, seconds=own.below(86_400))
        weights = [(place, topic.size) for place, topic in enumerate(topics)]
        often = _HOMES[number - 1] if number <= len(_HOMES) else 1 + own.long_tail(9)
        homes = dict.fromkeys(own.weighted(weights) for _ in range(often))
        person = Person(number, name, joined, list(homes))
        people.append(person)
        voice = Speaker(topics[person.homes[0]], own, said)
        bio = " ".join(voice.say_all(own, *["bio"] * own.weighted(((0, 5), (1, 3), (2, 1)))))
        role = "admin" if name == ADMIN else "member"
        db.execute(
            "INSERT INTO users VALUES (?, ?, ?, ?, ?, ?)",
            (number, name, role, bio, password_hash(number, PASSWORD), text_of(joined)),
        )
    return people


def _names(stream: Stream, count: int) -> list[str]:
    taken = {name.lower() for name in REGULARS}
    names = list(REGULARS)
    while len(names) < count:
        name = _lookalike(stream, names) if len(names) > 40 and stream.chance(1, 12) else _name(stream)
        if 3 <= len(name) <= 24 and name.lower() not in taken:
            taken.add(name.lower())
            names.append(name)
    return names


def _name(stream: Stream) -> str:
    first, second, given = (stream.choice(slot_words(pool)) for pool in ("first", "second", "given"))
    form = stream.below(12)
    number = str(stream.between(2, 99)) if stream.chance(4, 5) else str(stream.between(1958, 2009))
    if form < 3:
        return f"{first}_{second}"
    if form < 5:
        return f"{first.capitalize()}{second.capitalize()}"
    if form < 7:
        return f"{first}{second}{number}"
    if form < 9:
        return f"{given}_{second}"
    if form == 9:
        return f"{given.capitalize()}{number}"
    return f"{second}_{given}" if form == 10 else f"the_{first}_{second}"


def _lookalike(stream: Stream, names: list[str]) -> str:
    """The name of somebody else, but for one letter."""
    name = names[stream.between(len(REGULARS) if stream.chance(9, 10) else 0, len(names) - 1)]
    if name[-1].isdigit():
        return name[:-1] + str((int(name[-1]) + stream.between(1, 9)) % 10)
    for right, wrong in stream.shuffled(_LOOKALIKES):
        if right in name[1:]:
            return name[0] + name[1:].replace(right, wrong, 1)
    return name + name[-1]
