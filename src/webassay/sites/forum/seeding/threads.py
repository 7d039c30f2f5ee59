"""Comments: who answers whom, and what about."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from webassay.sites.forum.seeding.people import NOW, TALKER, Person
from webassay.sites.forum.seeding.posts import HEAT, Crowd, Post
from webassay.sites.forum.seeding.voicing import Said, Speaker, as_typed, misremembered
from webassay.sites.forum.seeding.words import Topic
from webassay.sites.rng import Stream

DEEPEST = 14
_FIRST = (
    ("agree", 5),
    ("disagree", 4),
    ("advice", 5),
    ("story", 5),
    ("ask", 4),
    ("fact", 4),
    ("joke", 3),
    ("gripe", 1),
)
_ANSWER = (("fact", 4), ("story", 3), ("advice", 3), ("joke", 1))
_REPLY = (("agree", 5), ("disagree", 6), ("story", 4), ("fact", 3), ("ask", 3), ("joke", 2), ("gripe", 1))
_MORE = {
    "agree": ("story", "fact", "advice"), "disagree": ("fact", "story", "advice"),
    "advice": ("story", "fact", "advice"),
    "story": ("story", "fact", "ask"), "fact": ("story", "agree", "fact"), "ask": ("story", "ask", "fact"),
    "thanks": ("story", "ask", "agree"), "gripe": ("disagree", "fact", "story"), "joke": ("story", "joke", "fact"),
}  # fmt: skip
REASONS = ("Spam", "Off topic", "Harassment", "Breaks the forum's rules", "Misleading")


@dataclass
class Remark:
    post: int
    """Its place among the posts."""
    parent: "Remark | None"
    author: Person
    created: datetime
    depth: int
    kind: str = ""
    body: str = ""
    said: list[str] = field(default_factory=list)
    edited: datetime | None = None
    state: str = "visible"
    reason: str = ""
    ups: int = 1
    downs: int = 0
    id: int = 0


def write_threads(
    stream: Stream, posts: list[Post], topics: tuple[Topic, ...], crowd: Crowd, count: int, said: Said
) -> list[Remark]:
    """All comments, oldest first, with their numbers."""
    weights = []
    for number, post in enumerate(posts):
        own = stream.child("weight", number)
        size = topics[post.place].size
        factor = 3 if post.kind == "text" else 2 if post.kind == "link" else 1
        hit = 7 if post.heat > HEAT // 3 and own.chance(1, 40) else 1
        weights.append((post.heat * post.heat * hit // 8 + own.long_tail(HEAT) * 12 + 30) * (size + 25) * factor)
    total = sum(weights)
    remarks = []
    talker = next(person for person in crowd.people if person.name == TALKER)
    for number, (post, weight) in enumerate(zip(posts, weights, strict=True)):
        own = stream.child("thread", number)
        # What is left after the division goes to some by chance, in proportion.
        share = count * weight
        amount = share // total + own.chance(share % total, total)
        remarks += _thread(own, number, post, amount, (crowd, talker, said))
    remarks.sort(key=lambda remark: (remark.created, remark.post, remark.depth))
    for place, remark in enumerate(remarks, 1):
        remark.id = place
    return remarks


def _thread(stream: Stream, number: int, post: Post, amount: int, others: tuple[Crowd, Person, Said]) -> list[Remark]:
    found: list[Remark] = []
    crowd, talker, said = others
    for _ in range(amount):
        parent = None
        if found and stream.chance(3, 5):
            parent = found[len(found) - 1 - stream.long_tail(len(found))]
            parent = parent if parent.depth < DEEPEST else None
        created = _moment(stream, parent.created if parent else post.created)
        author = _author(stream, post, parent, crowd, created)
        if post.place in talker.homes and stream.chance(1, 40):
            author = talker
        remark = Remark(number, parent, author, created, parent.depth + 1 if parent else 0)
        _write(stream, remark, post, said)
        if not remark.body:
            continue
        _judge(stream, remark, post)
        found.append(remark)
    return found


def _moment(stream: Stream, base: datetime) -> datetime:
    moment = base + timedelta(minutes=stream.long_tail(6000), seconds=20 + stream.below(600))
    if moment >= NOW - timedelta(seconds=30):
        left = (NOW - base) // timedelta(seconds=1)
        moment = base + timedelta(seconds=1 + left * stream.between(1, 60) // 64)
    return moment


def _author(stream: Stream, post: Post, parent: Remark | None, crowd: Crowd, created: datetime) -> Person:
    before = parent.author if parent else None
    kind = stream.below(10)
    if kind < 2 and parent and before is not post.author:
        return post.author
    if kind < 5 and parent and parent.parent and parent.parent.author is not before:
        return parent.parent.author
    person = crowd.somebody(stream, post.place, created)
    return crowd.somebody(stream, post.place, created) if person is before else person


def _write(stream: Stream, remark: Remark, post: Post, said: Said) -> None:
    voice, parent = post.voice, remark.parent
    assert voice is not None
    quotable = [one for one in (parent.said if parent else post.said) if said.count(one) == 1]
    if quotable and stream.chance(1, 6 if parent else 12):
        _quote(stream, remark, voice, stream.choice(quotable), said)
    else:
        if parent is None:
            kind = stream.weighted(_FIRST)
        elif remark.author is post.author and stream.chance(2, 5):
            kind = "thanks"
        else:
            kind = stream.weighted(_ANSWER if parent.kind == "ask" else _REPLY)
        remark.kind = kind
        more = stream.weighted(((0, 9), (1, 6), (2, 3), (4, 1))) if kind not in ("joke", "gripe") else 0
        kinds = [kind, *(stream.choice(_MORE[kind]) for _ in range(more))]
        remark.said = voice.say_all(stream, *kinds)
        text = " ".join(remark.said[:3])
        if remark.said[3:]:
            text += "\n\n" + " ".join(remark.said[3:])
        remark.body = as_typed(stream, text)
    if remark.body and stream.chance(1, 24):
        remark.edited = min(remark.created + timedelta(seconds=90 + stream.below(90_000)), NOW - timedelta(seconds=20))
        if stream.chance(1, 2) and (note := voice.say(stream, "edit")):
            remark.body += f"\n\n{note}"


def _quote(stream: Stream, remark: Remark, voice: Speaker, quoted: str, said: Said) -> None:
    """Word for word, or with a number that nobody has said."""
    remark.kind = "no" if stream.chance(3, 5) else "yes"
    if remark.kind == "no" and stream.chance(2, 5):
        other = misremembered(stream, quoted)
        quoted = other if said.count(other) < 2 else quoted
    reply = voice.say_all(stream, remark.kind, *["fact", "story"][: stream.below(3)])
    if reply:
        said.note(quoted)
        remark.said = reply
        remark.body = f"> {quoted}\n\n{as_typed(stream, ' '.join(reply))}"


def _judge(stream: Stream, remark: Remark, post: Post) -> None:
    remark.ups = 1 + stream.long_tail(max(2, post.ups // 2 // (remark.depth + 1)))
    percent = 300 if remark.kind == "gripe" else stream.weighted(((0, 16), (10, 12), (25, 6), (60, 2), (140, 1)))
    remark.downs = remark.ups * percent // 100 + (stream.below(4) if percent else 0)
    fate = stream.below(140)
    if fate == 0:
        remark.state, remark.body = "deleted", ""
    elif fate == 1:
        remark.state, remark.reason = "removed", stream.choice(REASONS)
