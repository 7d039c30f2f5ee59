"""All rows of a fresh forum, from one integer."""

import apsw

from webassay.sites.forum.ranking import hot
from webassay.sites.forum.seeding.people import fill_people, text_of
from webassay.sites.forum.seeding.places import fill_forums
from webassay.sites.forum.seeding.posts import Post, crowd_of, plan_posts, write_posts
from webassay.sites.forum.seeding.scale import SCALES
from webassay.sites.forum.seeding.sides import fill_sides
from webassay.sites.forum.seeding.threads import REASONS, Remark, write_threads
from webassay.sites.forum.seeding.voicing import Said, slug_of
from webassay.sites.forum.seeding.words import topics
from webassay.sites.rng import Stream


def seed(db: apsw.Connection, number: int, scale: str = "default") -> None:
    size = SCALES[scale]
    stream = Stream(number, "forum")
    said, known = Said(), topics()
    people = fill_people(db, stream.child("people"), known, size.users, said)
    crowd = crowd_of(stream.child("crowd"), people, known)
    fill_forums(db, stream.child("forums"), known, crowd, said)
    posts = plan_posts(stream.child("plan"), known, crowd, size.submissions)
    write_posts(stream.child("posts"), posts, known, crowd, said)
    remarks = write_threads(stream.child("threads"), posts, known, crowd, size.comments, said)
    _add_posts(db, stream.child("fates"), posts, remarks)
    _add_remarks(db, remarks)
    fill_sides(db, stream.child("sides"), people, known, said)


def _add_posts(db: apsw.Connection, stream: Stream, posts: list[Post], remarks: list[Remark]) -> None:
    counts, active = [0] * len(posts), [post.created for post in posts]
    for remark in remarks:
        counts[remark.post] += remark.state == "visible"
        active[remark.post] = max(active[remark.post], remark.created)
    for number, post in enumerate(posts, 1):
        own = stream.child(number)
        if post.picture:
            picture = db.execute(
                "INSERT INTO pictures (kind, heading, facts) VALUES (?, ?, ?) RETURNING id", post.picture
            ).fetchone()
            post.url = f"/pictures/{picture[0] if picture else 0}.svg"
        elif post.source and post.kind != "text":
            post.url = post.source.url
        fate = own.below(150)
        state = "removed" if fate == 0 else "deleted" if fate == 1 and counts[number - 1] < 20 else "visible"
        created, score = text_of(post.created), post.ups - post.downs
        db.execute(
            "INSERT INTO submissions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number, post.place + 1, post.author.id, post.kind, post.title, slug_of(post.title), post.url, post.body,
                state, own.choice(REASONS) if state == "removed" else "", int(own.chance(1, 90)), 0, post.ups,
                post.downs, score, hot(score, created), counts[number - 1], text_of(active[number - 1]), created,
                text_of(post.edited) if post.edited else None,
            ),
        )  # fmt: skip


def _add_remarks(db: apsw.Connection, remarks: list[Remark]) -> None:
    db.executemany(
        "INSERT INTO comments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                one.id, one.post + 1, one.parent.id if one.parent else None, one.author.id, one.body, one.state,
                one.reason, one.ups, one.downs, one.ups - one.downs, text_of(one.created),
                text_of(one.edited) if one.edited else None,
            )
            for one in remarks
        ),
    )  # fmt: skip
