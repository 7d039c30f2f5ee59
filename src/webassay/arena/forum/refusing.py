"""What cannot be done on the forum: locked, banned, somebody else's, not there."""

from typing import Self

from webassay.arena.forum import facts, pages, queries
from webassay.arena.forum.writing import NEW
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, cell, shown
from webassay.arena.kit.template import Parts, Refuse, fair, top
from webassay.arena.kit.walking import choose, click, fill, links, refused, send
from webassay.core.interaction import Observation, Walk
from webassay.core.task import PagePattern
from webassay.sites.kit import World
from webassay.sites.rng import Stream

EFFORT = Effort(rows=1, pages=2, steps=8, longest=12)
LOCKED = "This submission is locked: nobody can comment on it."
BANNED = "You are banned from this forum."
NOBODY = "There is nobody of this name here."
PROTECTED = "Moderators and administrators cannot be banned."


def _says(page: Observation, text: str) -> bool:
    return any(text in node.name for node in page.nodes)


class CommentOnLocked(Refuse):
    """Ask for a comment on a submission that is locked."""

    name = "forum.comment-on-locked"
    instruction = 'Comment on the submission "{title}" in /f/{forum}: "{text}"'
    misread = {"another-submission": {"instead": True}}
    ways = {"by-forum": {"by_forum": True}}

    user: str
    title: str
    forum: str
    text: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        found = queries.some_post(world, stream, "s.locked AND s.kind <> 'link'")
        text = stream.choice(("Thank you for this.", "I would like to hear more about it.", "Same here."))
        return cls(queries.member(world, stream, found["forum"]), found["title"], found["forum"], text)

    def end(self, world: World, *, instead: bool = False) -> Parts:
        post = queries.post(world, self.title)
        if instead:
            other = top([one for one in queries.posts(world, self.forum) if not one["locked"]])
            number = queries.user_id(world, self.user)
            yield Key.insert(
                "comments", submission_id=other["id"], parent_id=None, user_id=number, body=self.text, **NEW
            )
        page = shown(self.title, LOCKED, together="page")
        yield Key.refusal("ACTION_NOT_ALLOWED_ERROR", facts=Key.seen_any(page, shown(self.title, "Locked")))
        yield Key.checkpoint("the submission", queries.post_page(post))
        yield EFFORT

    def solve(self, page: Observation, *, by_forum: bool = False) -> Walk:
        page = yield from pages.open_post(page, self.title)
        if by_forum:
            page = yield from links(page, self.forum)
            page = yield from pages.open_post(page, self.title)
        possible = page.find("button", "Post Comment") is not None
        return refused(page, possible, "mutate", "ACTION_NOT_ALLOWED_ERROR", LOCKED)


class WriteToNobody(Refuse):
    """Ask for a message to somebody who does not exist, though a name is very much like it."""

    name = "forum.write-to-nobody"
    instruction = 'Send {person} a message with the subject "{subject}" and the text "{text}".'
    misread = {"similar-name": {"instead": True}}
    ways = {"by-search": {"search": True}}

    user: str
    person: str
    subject: str
    text: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        known = {str(one["name"]).lower() for one in queries.rows(world, "SELECT name FROM users")}
        real = queries.talker(world, stream, 20, 400)
        near = [
            real.replace(right, wrong, 1)
            for right, wrong in (("e", "a"), ("a", "o"), ("i", "y"), ("o", "u"), ("r", "l"), ("t", "d"))
            if right in real and real.replace(right, wrong, 1).lower() not in known
        ]
        subject, text = stream.choice(
            (("Your comment", "Where can I read more about it?"), ("Hello", "Nice to meet you here."))
        )
        user = queries.person(world, stream, "u.id > 5 AND u.name <> ?", real)
        return cls(user, stream.choice(near), subject, text)

    def end(self, world: World, *, instead: bool = False) -> Parts:
        if instead:
            number = queries.user_id(world, self.user)
            other = queries.rows(world, "SELECT id FROM users WHERE id > 5 AND name <> ? ORDER BY id", self.user)[0]
            yield Key.insert(
                "conversations", sender_id=number, receiver_id=other["id"], subject=self.subject
            ) & Key.insert("messages", sender_id=number, body=self.text)
        yield Key.refusal("NOT_FOUND_ERROR", facts=Key.seen_any(shown(NOBODY, together="page")))
        nowhere = [(f"/u/{self.person}/message", 404), (f"/u/{self.person}", 404), ("/search", 422)]
        yield Key.checkpoint("nobody", *(PagePattern(site="forum", path=path, status=code) for path, code in nowhere))
        yield EFFORT

    def solve(self, page: Observation, *, search: bool = False) -> Walk:
        if search:
            page = yield from pages.search(page, self.text)
            page = yield from send(page, "Apply", {"Posted by": self.person})
        else:
            page = yield from pages.open_person(page, self.person, "message")
        return refused(page, not _says(page, NOBODY), "mutate", "NOT_FOUND_ERROR", NOBODY)


class EditSomebodyElses(Refuse):
    """Ask for a change of a submission that is somebody else's."""

    name = "forum.edit-somebody-elses"
    instruction = 'Change the title of my submission "{title}" in /f/{forum}: add "[solved]" at its end.'
    misread = {"one-of-mine": {"instead": True}}
    ways = {"by-own-list": {"mine": True}}

    user: str
    title: str
    forum: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        found = queries.some_post(world, stream, "s.kind = 'text' AND s.comment_count > 5")
        own = [one["author"] for one in queries.posts(world, found["forum"]) if one["user_id"] > queries.REGULARS]
        return cls(stream.choice([name for name in own if name != found["author"]]), found["title"], found["forum"])

    def end(self, world: World, *, instead: bool = False) -> Parts:
        post = queries.post(world, self.title)
        mine = queries.posts_by(world, self.user)
        if instead:
            own = top([one for one in mine if one["forum"] == self.forum])
            yield Key.update("submissions", where={"id": own["id"]}, title=f"{own['title']} [solved]")
        yield fair(post["author"] != self.user, len(mine) <= pages.ON_A_PAGE)
        yield Key.refusal(
            "PERMISSION_DENIED_ERROR", "NOT_FOUND_ERROR", "ACTION_NOT_ALLOWED_ERROR",
            facts=Key.read(cell("submissions", post["id"], "title")),
        )  # fmt: skip
        yield Key.checkpoint("the submission", queries.post_page(post))
        yield EFFORT

    def solve(self, page: Observation, *, mine: bool = False) -> Walk:
        if mine:
            page = yield from links(page, self.user, "Submissions")
            own = [card.title for card in (yield from pages.read_list(page))]
            page = yield from pages.open_post(page, self.title)
            possible = self.title in own or page.find("link", "Edit") is not None
        else:
            page = yield from pages.open_post(page, self.title)
            possible = page.find("link", "Edit") is not None
        return refused(page, possible, "mutate", "PERMISSION_DENIED_ERROR", "This submission is somebody else's.")


class PostWhereBanned(Refuse):
    """Ask for a submission to a forum that one is banned from."""

    name = "forum.post-where-banned"
    instruction = 'Post a text submission with the title "{title}" in /f/{forum}. It needs no text.'
    misread = {"another-forum": {"instead": True}}
    ways = {"by-a-thread": {"thread": True}}

    user: str
    title: str
    forum: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        found = stream.choice(
            queries.rows(
                world,
                "SELECT u.name AS user, f.name AS forum FROM bans AS b JOIN users AS u ON u.id = b.user_id"
                " JOIN forums AS f ON f.id = b.forum_id ORDER BY f.id, u.id",
            )
        )
        title = stream.choice(("Hello again", "What did I miss?", "A question for everybody"))
        return cls(found["user"], title, found["forum"])

    def end(self, world: World, *, instead: bool = False) -> Parts:
        if instead:
            number = queries.user_id(world, self.user)
            other = next(one for one in queries.forums(world) if one["name"] not in (self.forum, "PorchlightMeta"))
            yield Key.insert(
                "submissions", forum_id=other["id"], user_id=number, kind="text", title=self.title, url="", body="",
                locked=0, pinned=0, **NEW,
            )  # fmt: skip
        facts_of_it = Key.seen_any(shown(BANNED, together="page"))
        yield Key.refusal("PERMISSION_DENIED_ERROR", "ACTION_NOT_ALLOWED_ERROR", facts=facts_of_it)
        yield facts.at("the forum", f"/f/{self.forum}", "/submit")
        yield EFFORT

    def solve(self, page: Observation, *, thread: bool = False) -> Walk:
        if thread:
            page = yield from pages.open_forum(page, self.forum)
            card = pages.cards(page)[0]
            page = yield from pages.go(page, card.path)
        else:
            page = yield from links(page, "Submit")
            page = yield from choose(page, "Forum", self.forum)
            page = yield from send(page, "Create Submission", {"Title": self.title})
        return refused(page, not _says(page, BANNED), "mutate", "PERMISSION_DENIED_ERROR", BANNED)


class BanModerator(Refuse):
    """Ask for a ban of somebody who moderates the forum as well."""

    name = "forum.ban-moderator"
    instruction = 'Ban {person} from /f/{forum}. The reason is "{reason}".'
    misread = {"somebody-else": {"instead": True}}
    ways = {"by-side": {"side": True}}

    user: str
    person: str
    forum: str
    reason: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        found = stream.choice(
            queries.rows(
                world,
                "SELECT u.name AS user, v.name AS person, f.name AS forum FROM moderators AS m JOIN moderators AS n"
                " ON n.forum_id = m.forum_id AND n.user_id <> m.user_id JOIN users AS u ON u.id = m.user_id"
                " JOIN users AS v ON v.id = n.user_id JOIN forums AS f ON f.id = m.forum_id ORDER BY f.id, u.id, v.id",
            )
        )
        return cls(found["user"], found["person"], found["forum"], stream.choice(("Spam", "Harassment", "Off topic")))

    def end(self, world: World, *, instead: bool = False) -> Parts:
        forum = next(one for one in queries.forums(world) if one["name"] == self.forum)
        if instead:
            other = queries.rows(world, "SELECT max(id) AS id FROM users")[0]
            yield Key.insert("bans", forum_id=forum["id"], user_id=other["id"], reason=self.reason)
        member = queries.user_id(world, self.person)
        yield Key.refusal(
            "ACTION_NOT_ALLOWED_ERROR", "PERMISSION_DENIED_ERROR",
            facts=Key.seen_any(shown(PROTECTED, together="page"), cell("users", member, "name")),
        )  # fmt: skip
        yield facts.at("the bans", f"/f/{self.forum}/bans")
        yield EFFORT

    def solve(self, page: Observation, *, side: bool = False) -> Walk:
        page = yield from pages.open_forum(page, self.forum, address=side)
        moderates = page.find("link", self.person) is not None
        page = yield from click(page, "link", "Bans")
        if side:
            return refused(page, not moderates, "mutate", "ACTION_NOT_ALLOWED_ERROR", PROTECTED)
        page = yield from fill(page, "textbox", "Username", self.person)
        page = yield from send(page, "Ban", {}, {"Reason": self.reason})
        return refused(page, not _says(page, PROTECTED), "mutate", "ACTION_NOT_ALLOWED_ERROR", PROTECTED)
