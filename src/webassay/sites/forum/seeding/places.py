"""The forums, and who looks after them."""

from datetime import timedelta

import apsw

from webassay.sites.forum.seeding.people import ADMIN, MODERATOR, OPENED, text_of
from webassay.sites.forum.seeding.posts import Crowd
from webassay.sites.forum.seeding.voicing import Said, Speaker
from webassay.sites.forum.seeding.words import Topic
from webassay.sites.rng import Stream

MODERATED = ("books", "Sourdough", "hiking", "PorchlightMeta")
"""What the regular moderator looks after."""


def fill_forums(db: apsw.Connection, stream: Stream, topics: tuple[Topic, ...], crowd: Crowd, said: Said) -> None:
    named = {person.name: person for person in crowd.people}
    for place, topic in enumerate(topics):
        own = stream.child(topic.name)
        founded = OPENED + timedelta(days=own.below(9), seconds=own.below(40_000))
        voice = Speaker(topic, own, said)
        rules = voice.say_all(own, *["rule"] * own.between(2, 5))
        sidebar = f"**{topic.about}**\n\n" + "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))
        members = crowd.members[place]
        # People who post a lot there, but not the first in the list.
        chosen = [members[own.long_tail(len(members))] for _ in range(own.between(1, 4))]
        if topic.name in MODERATED:
            chosen.insert(0, named[MODERATOR])
        if topic.name == "PorchlightMeta":
            chosen.insert(0, named[ADMIN])
        moderators = list(dict.fromkeys(one.id for one in chosen))
        db.execute(
            "INSERT INTO forums VALUES (?, ?, ?, ?, ?, ?, ?)",
            (place + 1, topic.name, topic.title, topic.about, sidebar, moderators[0], text_of(founded)),
        )
        for number in moderators:
            since = founded + timedelta(days=0 if number == moderators[0] else 20 + own.below(1200))
            db.execute("INSERT INTO moderators VALUES (?, ?, ?)", (place + 1, number, text_of(since)))
