"""What stands beside the posts: subscriptions, votes, blocks, reports, messages, and what moderators did."""

from datetime import datetime, timedelta
from typing import Any

import apsw

from webassay.sites.forum.seeding.people import ADMIN, NOW, REGULARS, Person, text_of
from webassay.sites.forum.seeding.places import MODERATED
from webassay.sites.forum.seeding.threads import REASONS
from webassay.sites.forum.seeding.voicing import Said, Speaker, as_typed
from webassay.sites.forum.seeding.words import Topic, capital, topics
from webassay.sites.rng import Stream


def fill_sides(db: apsw.Connection, stream: Stream, people: list[Person], known: tuple[Topic, ...], said: Said) -> None:
    _subscribe(db, stream.child("subscriptions"), people, known)
    _log_removals(db)
    _pin(db, stream.child("pins"))
    _report(db, stream.child("reports"), len(people), known, said)
    _ban(db, stream.child("bans"), people)
    for person in people[: len(REGULARS)]:
        own = stream.child("regular", person.id)
        _vote(db, own.child("votes"), person)
        _avoid(db, own.child("avoided"), person, len(people))
        _write_to_each_other(db, own.child("messages"), person, people, said)


def _subscribe(db: apsw.Connection, stream: Stream, people: list[Person], known: tuple[Topic, ...]) -> None:
    sizes = [(place, topic.size) for place, topic in enumerate(known)]
    for person in people:
        own = stream.child(person.id)
        chosen = dict.fromkeys([*person.homes, *(own.weighted(sizes) for _ in range(own.long_tail(16)))])
        left = max(1, (NOW - person.joined).days - 1)
        for place in chosen:
            since = person.joined + timedelta(days=own.below(left), seconds=own.below(80_000))
            db.execute("INSERT INTO subscriptions VALUES (?, ?, ?)", (person.id, place + 1, text_of(min(since, NOW))))


# --- moderation -------------------------------------------------------------------------------------------


def _log(db: apsw.Connection, forum: int, moderator: int, action: str, what: tuple[str, str, str, datetime]) -> None:
    subject, path, reason, moment = what
    db.execute(
        "INSERT INTO moderation_log (forum_id, moderator_id, action, subject, path, reason, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (forum, moderator, action, subject, path, reason, text_of(min(moment, NOW - timedelta(seconds=5)))),
    )


def _rows(db: apsw.Connection, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
    return db.execute(sql, values).fetchall()


def _moderator(db: apsw.Connection, forum: int, number: int) -> int:
    found = _rows(db, "SELECT user_id FROM moderators WHERE forum_id = ? ORDER BY user_id", (forum,))
    return int(found[number % len(found)][0])


def _log_removals(db: apsw.Connection) -> None:
    for number, forum, title, reason, created in _rows(
        db,
        "SELECT id, forum_id, title, removal_reason, created_at FROM submissions WHERE state = 'removed' ORDER BY id",
    ):
        moment = datetime.fromisoformat(str(created)) + timedelta(minutes=7 + int(number) % 600)
        what = (str(title), f"/s/{number}", str(reason), moment)
        _log(db, int(forum), _moderator(db, int(forum), int(number)), "removed a submission", what)


def _pin(db: apsw.Connection, stream: Stream) -> None:
    for (forum,) in _rows(db, "SELECT id FROM forums ORDER BY id"):
        if stream.chance(2, 5):
            found = db.execute(
                "SELECT id FROM submissions WHERE forum_id = ? AND kind = 'text' AND state = 'visible' AND NOT locked"
                " ORDER BY comment_count DESC, id LIMIT 1 OFFSET ?",
                (forum, stream.below(3)),
            ).fetchone()
            if found:
                db.execute("UPDATE submissions SET pinned = 1 WHERE id = ?", found)


def _report(db: apsw.Connection, stream: Stream, users: int, known: tuple[Topic, ...], said: Said) -> None:
    """Most are old and decided; the regular moderator has some to decide."""
    busy = [place + 1 for place, topic in enumerate(known) if topic.name in MODERATED]
    for kind, table, chances in (("submission", "submissions", 90), ("comment", "comments", 420)):
        join = "" if kind == "submission" else "JOIN submissions AS s ON s.id = p.submission_id"
        forum_of = "p.forum_id" if kind == "submission" else "s.forum_id"
        found = _rows(
            db,
            f"SELECT p.id, {forum_of}, p.user_id, p.state, p.created_at, p.downs > p.ups FROM {table} AS p {join}"
            " ORDER BY p.id",
        )
        for number, forum, author, state, created, disliked in found:
            own = stream.child(kind, int(number))
            waiting = int(forum) in busy and str(created) > "2025-07"
            likely = 12 if state == "removed" else 1 + 8 * int(disliked) + 14 * waiting
            if state == "deleted" or not own.chance(likely, chances):
                continue
            # Two people may report the same thing.
            for _ in range(1 + own.chance(1, 6)):
                reporter = 1 + own.below(users)
                if reporter == author:
                    continue
                moment = datetime.fromisoformat(str(created)) + timedelta(minutes=3 + own.long_tail(3000))
                open_still = waiting and state == "visible" and own.chance(4, 5)
                status = "open" if open_still else "upheld" if state == "removed" else "dismissed"
                topic = known[int(forum) - 1]
                note = Speaker(topic, own, said).say(own, "gripe") if own.chance(1, 3) else ""
                db.execute(
                    "INSERT INTO reports (forum_id, submission_id, comment_id, reporter_id, reason, note, status,"
                    " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        forum, number if kind == "submission" else None, number if kind == "comment" else None,
                        reporter, own.choice(REASONS), note, status,
                        text_of(min(moment, NOW - timedelta(seconds=10))),
                    ),
                )  # fmt: skip


def _ban(db: apsw.Connection, stream: Stream, people: list[Person]) -> None:
    for (forum,) in _rows(db, "SELECT id FROM forums ORDER BY id"):
        own = stream.child(int(forum))
        for _ in range(own.long_tail(7)):
            person = people[own.between(len(REGULARS), len(people) - 1)]
            moment = NOW - timedelta(days=1 + own.below(400), seconds=own.below(80_000))
            moderator = _moderator(db, int(forum), own.below(9))
            moderates = db.execute("SELECT 1 FROM moderators WHERE user_id = ?", (person.id,)).fetchone()
            if moment < person.joined or moderates:
                continue
            reason = own.choice(REASONS)
            db.execute(
                "INSERT OR IGNORE INTO bans VALUES (?, ?, ?, ?, ?)",
                (forum, person.id, reason, moderator, text_of(moment)),
            )
            _log(db, int(forum), moderator, "banned a user", (person.name, f"/u/{person.name}", reason, moment))


# --- the regulars -----------------------------------------------------------------------------------------


def _vote(db: apsw.Connection, stream: Stream, person: Person) -> None:
    """They voted on some of what they have seen; the counts include it."""
    marks = ", ".join(str(place + 1) for place in person.homes)
    for table, column, condition, most in (
        ("submission_votes", "submissions", f"forum_id IN ({marks})", 240),
        (
            "comment_votes",
            "comments",
            f"submission_id IN (SELECT id FROM submissions WHERE forum_id IN ({marks}))",
            320,
        ),
    ):
        found = _rows(
            db,
            f"SELECT id, ups, downs FROM {column} WHERE state = 'visible' AND user_id <> ? AND {condition}"
            " AND created_at > ? ORDER BY id DESC LIMIT 2000",
            (person.id, text_of(person.joined)),
        )
        for number, ups, downs in sorted(stream.sample(found, min(most, len(found) // 2))):
            up = int(downs) == 0 or (int(ups) > 0 and stream.chance(5, 6))
            db.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (person.id, number, 1 if up else -1))


def _avoid(db: apsw.Connection, stream: Stream, person: Person, users: int) -> None:
    if person.name == ADMIN:
        return
    for number in dict.fromkeys(stream.between(len(REGULARS) + 1, users) for _ in range(stream.between(1, 4))):
        since = NOW - timedelta(days=1 + stream.below(300), seconds=stream.below(80_000))
        db.execute("INSERT INTO blocks VALUES (?, ?, ?)", (person.id, number, text_of(since)))
    found = _rows(db, "SELECT id FROM submissions WHERE user_id <> ? ORDER BY id DESC LIMIT 400", (person.id,))
    for (number,) in sorted(stream.sample(found, stream.between(3, 9))):
        db.execute("INSERT INTO hidden_submissions VALUES (?, ?)", (person.id, number))


def _write_to_each_other(db: apsw.Connection, stream: Stream, person: Person, people: list[Person], said: Said) -> None:
    partners = stream.sample(people[len(REGULARS) :], stream.between(14, 34))
    for partner in partners:
        own = stream.child(partner.id)
        topic = topics()[own.choice(person.homes)]
        voice = Speaker(topic, own, said)
        first = own.chance(1, 2)
        pair = (person.id, partner.id) if first else (partner.id, person.id)
        subject = own.choice((f"About {own.choice(topic.acts)}", capital(own.choice(topic.things)), f"/f/{topic.name}"))
        conversation = db.execute(
            "INSERT INTO conversations (sender_id, receiver_id, subject) VALUES (?, ?, ?) RETURNING id",
            (*pair, subject),
        ).fetchone()
        moment = max(person.joined, partner.joined) + timedelta(days=1)
        moment = moment + (NOW - moment) * own.between(1, 100) // 104
        for turn in range(own.weighted(((1, 4), (2, 4), (3, 3), (5, 2), (8, 1)))):
            sender = pair[turn % 2]
            body = " ".join(voice.say_all(own, *["message"] * own.between(1, 3)))
            if not body or conversation is None:
                break
            unread = sender != person.id and own.chance(1, 7)
            db.execute(
                "INSERT INTO messages (conversation_id, sender_id, body, created_at, read_at) VALUES (?, ?, ?, ?, ?)",
                (conversation[0], sender, as_typed(own, body), text_of(min(moment, NOW - timedelta(seconds=3))),
                 None if unread else text_of(moment)),
            )  # fmt: skip
            moment += timedelta(minutes=4 + own.long_tail(4000))
