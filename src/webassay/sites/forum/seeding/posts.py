"""Submissions: who posts what, when, and how it does."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from webassay.sites.forum.seeding.people import NOW, OPENED, POSTER, Person
from webassay.sites.forum.seeding.picturing import picture_of
from webassay.sites.forum.seeding.voicing import Said, Speaker, as_typed, misremembered, slug_of
from webassay.sites.forum.seeding.words import Topic, slot_words
from webassay.sites.rng import Stream

HEAT = 400
"""How much more the most popular post gets than one that nobody cares for."""
_KINDS = (
    ("pictures", (("image", 92), ("text", 8))),
    ("people", (("text", 90), ("link", 7), ("image", 3))),
    ("talk", (("text", 92), ("link", 6), ("image", 2))),
    ("news", (("link", 72), ("text", 23), ("image", 5))),
    ("science", (("link", 60), ("text", 32), ("image", 8))),
    ("art", (("image", 52), ("text", 40), ("link", 8))),
    ("living", (("image", 36), ("text", 55), ("link", 9))),
    ("tech", (("text", 55), ("link", 36), ("image", 9))),
    ("", (("text", 58), ("link", 18), ("image", 24))),
)
_HOURS = ((0, 2), (4, 1), (8, 4), (12, 5), (16, 6), (20, 5))
"""When people are awake, in four hours each."""


@dataclass
class Post:
    place: int
    """The place of its forum."""
    author: Person
    created: datetime
    heat: int
    """From 1 to HEAT: few posts are popular."""
    kind: str = "text"
    title: str = ""
    url: str = ""
    body: str = ""
    edited: datetime | None = None
    picture: tuple[str, str, str] | None = None
    """Kind, heading and facts of a picture that is new."""
    source: "Post | None" = None
    """Whose picture or link it posts again."""
    said: list[str] = field(default_factory=list)
    """What others can quote."""
    voice: Speaker | None = None
    ups: int = 1
    downs: int = 0


@dataclass(frozen=True)
class Crowd:
    """Who is in which forum."""

    people: list[Person]
    members: list[list[Person]]
    """For each forum, the most active first."""

    def somebody(self, stream: Stream, place: int, before: datetime) -> Person:
        members = self.members[place]
        for _ in range(8):
            person = members[stream.long_tail(len(members))]
            if person.joined < before:
                return person
        return min(members, key=lambda person: (person.joined, person.id))


def crowd_of(stream: Stream, people: list[Person], topics: tuple[Topic, ...]) -> Crowd:
    members: list[list[Person]] = [[] for _ in topics]
    for person in people:
        for place in person.homes:
            members[place].append(person)
    for place, found in enumerate(members):
        own = stream.child(place)
        # Somebody was there from the start.
        members[place] = own.shuffled([*found, *people[:2]])
    return Crowd(people, members)


def plan_posts(stream: Stream, topics: tuple[Topic, ...], crowd: Crowd, count: int) -> list[Post]:
    """Where and when, oldest first."""
    # A forum of twice the size has three times the posts.
    weights = [(place, topic.size * topic.size * (20 + topic.size)) for place, topic in enumerate(topics)]
    total = sum(weight for _, weight in weights)
    posts = []
    for place, weight in weights:
        own = stream.child("forum", place)
        for _ in range(5 + own.below(7) + count * weight // total):
            posts.append(_planned(own, place, crowd))
    return sorted(posts, key=lambda post: (post.created, post.place))


def _planned(stream: Stream, place: int, crowd: Crowd) -> Post:
    days = (NOW - OPENED).days - 12
    day = 10 + max(stream.below(days), stream.below(days))  # More now than then.
    created = OPENED.replace(hour=0) + timedelta(
        days=day + stream.below(3), seconds=stream.weighted(_HOURS) * 3600 + stream.below(4 * 3600)
    )
    created = min(created, NOW - timedelta(seconds=600 + stream.below(40_000)))
    poster = next(person for person in crowd.people if person.name == POSTER)
    faithful = place in poster.homes and stream.chance(1, 9)
    author = poster if faithful and poster.joined < created else crowd.somebody(stream, place, created)
    return Post(place, author, created, 1 + stream.long_tail(HEAT))


def write_posts(stream: Stream, posts: list[Post], topics: tuple[Topic, ...], crowd: Crowd, said: Said) -> None:
    shared: dict[str, list[Post]] = {"link": [], "image": [], "text": []}
    for number, post in enumerate(posts, 1):
        own = stream.child(number)
        topic = topics[post.place]
        post.voice = Speaker(topic, own, said)
        post.kind = own.weighted(next(kinds for tag, kinds in _KINDS if not tag or tag in topic.tags))
        earlier = shared[post.kind]
        if not (earlier and own.chance(1, 18) and _repeat(own, post, own.choice(earlier), said)):
            _fresh(own, post, topic)
        earlier.append(post)
        _vote(own, post, len(crowd.members[post.place]), len(crowd.people))


def _repeat(stream: Stream, post: Post, other: Post, said: Said) -> bool:
    """The same thing again, or nearly."""
    if post.kind == "text" and post.place != other.place:
        return False
    form = stream.below(6)
    title = other.title
    if form == 0:
        title = misremembered(stream, title)
    elif form == 1:
        title = title.removesuffix("?") + (" (update)" if post.kind == "text" else " [repost]")
    elif form == 2:
        title = title.removesuffix("?") + stream.choice(("...", " :)", ", part two"))
    elif form == 3 and post.kind != "text":
        title = f"{title.removesuffix('?')} (from /f/{stream.choice(('pics', 'news', 'goodnews', 'halfbakedideas'))})"
    if said.count(title) > 1 or len(title) > 200 or (title == other.title and post.kind == "text"):
        return False
    said.note(title)
    post.title = title
    post.source = other
    if post.kind == "text":
        _write_body(stream, post)
    return True


def _fresh(stream: Stream, post: Post, topic: Topic) -> None:
    assert post.voice is not None
    titles = stream.weighted((("titles.ask", 4), ("titles.share", 3), ("titles.story", 1)))
    if post.kind == "link":
        titles = "headlines"
    elif post.kind == "image":
        post.picture = picture_of(stream.child("picture"), topic)
        titles = "titles.image" if post.picture[0] == "scene" else f"titles.{post.picture[0]}"
    said = post.voice.say(stream, titles) or post.voice.say(stream, "open") or post.voice.say(stream, "tell")
    post.title = said.removesuffix(".")
    if post.kind == "link":
        outlet = stream.choice(slot_words("outlets"))
        post.url = f"https://{outlet}.example/{post.created:%Y/%m}/{slug_of(post.title)}"
    elif post.kind == "text":
        _write_body(stream, post)
    elif stream.chance(1, 3):
        post.said = post.voice.say_all(stream, "tell")
        post.body = " ".join(post.said)


def _write_body(stream: Stream, post: Post) -> None:
    assert post.voice is not None
    voice = post.voice
    first = voice.say_all(stream, "open", *["tell"] * stream.between(0, 2))
    middle = voice.say_all(stream, *["tell"] * stream.weighted(((0, 4), (2, 4), (3, 2), (4, 1))))
    last = voice.say_all(stream, "want") if stream.chance(4, 5) else []
    post.said = [*first, *middle]
    inside = "\n".join(f"- {said}" for said in middle) if stream.chance(1, 6) else " ".join(middle)
    if last and stream.chance(1, 9):
        last[0] = f"**{last[0]}**"
    text = "\n\n".join(part for part in (" ".join(first), inside, " ".join(last)) if part)
    post.body = as_typed(stream, text)
    if stream.chance(1, 11) and (note := voice.say(stream, "edit")):
        post.body += f"\n\n{note}"
        post.edited = min(post.created + timedelta(minutes=10 + stream.below(3000)), NOW - timedelta(seconds=60))


def _vote(stream: Stream, post: Post, members: int, people: int) -> None:
    most = min(members * 3 // 2, people * 2 // 3)
    post.ups = 1 + post.heat * most // HEAT + stream.below(4)
    percent = stream.weighted(((3, 20), (8, 24), (15, 18), (28, 12), (60, 4), (90, 3), (130, 1)))
    post.downs = post.ups * (percent * 3 // 4 + stream.below(percent // 2)) // 100
    if post.ups + post.downs > people:
        post.downs = people - post.ups
    if stream.chance(1, 12):
        post.downs += stream.below(5)
