"""Writing: replies, submissions and messages that repeat what stands elsewhere."""

from operator import itemgetter
from typing import Self
from urllib.parse import urlsplit

from webassay.arena.forum import facts, pages, queries
from webassay.arena.kit.effort import Effort
from webassay.arena.kit.key import Key, cell
from webassay.arena.kit.template import Mutate, Parts, clear, fair, top
from webassay.arena.kit.walking import choose, click, done, fill, links, submit
from webassay.core.interaction import Observation, Walk
from webassay.sites.kit import Row, World
from webassay.sites.rng import Stream

NEW = {"state": "visible", "removal_reason": ""}


def _is_plain(said: Row) -> bool:
    """Shown as it was written."""
    return said["score"] >= -5 and all(mark not in said["body"] for mark in "\n*_>`[#|")


class ReplyWithBest(Mutate):
    """Reply to somebody with the most loved comment of another thread."""

    name = "forum.reply-with-best"
    chore = "long_term_memory"
    instruction = (
        'Find the comment with the most points in the thread "{source}" in /f/{forum}. Post its text, word for word, '
        'as a reply to the comment of {person} in the thread "{title}" in /f/{there}.'
    )
    levels = ("medium", "hard")
    misread = {"newest-comment": {"sort": "New"}, "not-a-reply": {"direct": False}}
    ways = {"by-permalink": {"permalink": True}}

    user: str
    source: str
    forum: str
    person: str
    title: str
    there: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        source = queries.some_thread(world, stream, 8, 60)
        title = queries.some_thread(world, stream, 6, 60, "NOT s.locked")
        said = queries.visible(queries.thread(world, title))
        authors = [one["author"] for one in said]
        person = stream.choice([name for name in authors if authors.count(name) == 1])
        user = queries.member(world, stream, title["forum"])
        return cls(user, source["title"], source["forum"], person, title["title"], title["forum"])

    def end(self, world: World, *, sort: str = "", direct: bool = True) -> Parts:
        source, target = queries.post(world, self.source), queries.post(world, self.title)
        said, there = queries.thread(world, source), queries.thread(world, target)
        ranked = sorted(queries.visible(said), key=itemgetter("score"), reverse=True)
        newest = [one for one in said if one["depth"] == 0][-1:]
        best = top(newest if sort == "New" else ranked)
        text = best["body"]
        yield fair(source["id"] != target["id"], queries.on_one_page(said), queries.on_one_page(there))
        yield fair(clear(ranked, itemgetter("score")), len(said) == len(ranked), len(text) > 30)
        yield fair(all(_is_plain(one) for one in (best, *newest)), self.user != self.person)
        (above,) = (one for one in queries.visible(there) if one["author"] == self.person)
        yield fair(above["score"] >= -5)
        yield Key.insert(
            "comments", submission_id=target["id"], parent_id=above["id"] if direct else None,
            user_id=queries.user_id(world, self.user), body=text, **NEW,
        )  # fmt: skip
        yield Key.read(cell("comments", best["id"], "body")) & facts.said(said)
        yield Key.checkpoint("the source", queries.post_page(source))
        yield Key.checkpoint("the thread", queries.post_page(target))
        yield Effort(len(said) + len(there), 2, 12, longest=14)

    def solve(self, page: Observation, *, sort: str = "", direct: bool = True, permalink: bool = False) -> Walk:
        page = yield from pages.open_post(page, self.source)
        if sort:
            page = yield from click(page, "link", sort)
        said = pages.comments(page)
        text = said[0].text if sort else max(said, key=lambda one: one.points).text
        page = yield from pages.open_post(page, self.title)
        if not direct:
            return (yield from submit(page, "Post Comment", {"Comment": text}))
        above = next(one for one in pages.comments(page) if one.author == self.person)
        if permalink:
            page = yield from pages.go(page, urlsplit(above.link).path)
            page = yield from links(page, "Reply")
            return (yield from submit(page, "Post Comment", {"Reply": text}))
        page = yield from pages.go(page, f"/c/{above.link.rpartition('/')[2]}/reply")
        return (yield from submit(page, "Post Comment", {"Comment": text}))


class PostDigest(Mutate):
    """Post the titles of some submissions in another forum."""

    name = "forum.post-digest"
    chore = "long_term_memory"
    instruction = (
        "Which submissions in /f/{forum} are number 1, number {second} and number {third} under Top, over all time? "
        'Post their titles, in this order and one in a line, as a text submission with the title "Best of {forum}". '
        "Post it in the forum that comes right after {forum} when you sort the forums by submissions."
    )
    levels = ("medium", "hard")
    misread = {"hot-instead": {"sort": "hot"}, "forum-before": {"step": -1}}
    ways = {"by-link": {"by_link": True}}

    user: str
    forum: str
    second: int
    third: int

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        forum = queries.forum(world, stream, 80)
        user = queries.member(world, stream, forum)
        return cls(user, forum, stream.between(9, 20), stream.between(26, 70))

    def end(self, world: World, *, sort: str = "top", step: int = 1) -> Parts:
        posts = queries.posts(world, self.forum, sort)
        ranked = sorted(queries.forums(world), key=lambda one: (-one["submissions"], one["name"].lower()))
        names = [one["name"] for one in ranked]
        place = names.index(self.forum)
        yield fair(1 <= place < len(names) - 1, len(posts) > 75)
        chosen = [posts[number - 1] for number in (1, self.second, self.third)]
        number = queries.user_id(world, self.user)
        target = ranked[place + step]
        yield fair(not queries.rows(world, "SELECT 1 AS one FROM bans WHERE user_id = ?", number))
        yield Key.insert(
            "submissions", forum_id=target["id"], user_id=number, kind="text", title=f"Best of {self.forum}", url="",
            body="\n".join(one["title"] for one in chosen), locked=0, pinned=0, **NEW,
        )  # fmt: skip
        yield Key.read_rows("submissions", [one["id"] for one in chosen], "title")
        yield Key.read_rows("forums", [ranked[place]["id"], target["id"]], "name")
        yield queries.forum_list(self.forum, "top") & facts.at("the directory", "/forums")
        yield Effort(self.third, 4, 20)

    def solve(self, page: Observation, *, sort: str = "top", step: int = 1, by_link: bool = False) -> Walk:
        page = yield from pages.open_forum(page, self.forum, sort, address=True)
        cards = yield from pages.read_list(page, self.third)
        titles = [cards[number - 1].title for number in (1, self.second, self.third)]
        page = yield from links(page, "Forums", "By Submissions")
        names = [one.name for one in (yield from pages.places(page))]
        target = names[names.index(self.forum) + step]
        if by_link:
            page = yield from pages.go(page, f"/f/{target}")
        page = yield from links(page, "Submit")
        if not by_link:
            page = yield from choose(page, "Forum", target)
        page = yield from fill(page, "textbox", "Title", f"Best of {self.forum}")
        return (yield from submit(page, "Create Submission", {"Text (optional)": "\n".join(titles)}))


class RepostBestPicture(Mutate):
    """Post somebody's best picture again in another forum."""

    name = "forum.repost-best-picture"
    chore = "massive_memory"
    instruction = (
        "Look at the pictures that {person} has submitted to /f/{forum}. Post the one with the most points again in "
        '/f/{there}. Give it the title "{title}".'
    )
    levels = ("medium", "hard")
    misread = {"newest-picture": {"newest": True}, "best-submission-of-all": {"forum": ""}}
    may_agree = ("best-submission-of-all",)
    ways = {"by-form": {"by_form": True}}

    user: str
    person: str
    forum: str
    there: str
    title: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        person = queries.poster(world, stream, 12, 100)
        forum = stream.choice([one["forum"] for one in queries.posts_by(world, person) if one["kind"] == "image"])
        there = queries.forum(world, stream, 1)
        title = stream.choice(("Worth another look", "This one again", "Still my favorite", "Look what I found"))
        return cls(queries.member(world, stream, there), person, forum, there, f"{title} (from /f/{forum})")

    def end(self, world: World, *, newest: bool = False) -> Parts:
        every = queries.posts_by(world, self.person)
        found = [one for one in every if one["kind"] == "image" and self.forum in ("", one["forum"])]
        ranked = found if newest else sorted(found, key=itemgetter("score"), reverse=True)
        yield fair(len(found) >= 3, clear(ranked, itemgetter("score")), self.there != self.forum)
        number, target = queries.user_id(world, self.user), _forum(world, self.there)
        yield fair(number != top(ranked)["user_id"])
        yield Key.insert(
            "submissions", forum_id=target["id"], user_id=number, kind="image", title=self.title,
            url=top(ranked)["url"], body="", locked=0, pinned=0, **NEW,
        )  # fmt: skip
        yield facts.listed(found, "score") & Key.read(cell("submissions", top(ranked)["id"], "url"))
        yield facts.at("their submissions", f"/u/{self.person}/submissions")
        on_pages = -(-len(every) // pages.ON_A_PAGE)
        yield Effort(len(every), on_pages, on_pages + 9, longest=on_pages + 12)

    def solve(self, page: Observation, *, newest: bool = False, by_form: bool = False) -> Walk:
        page = yield from pages.open_person(page, self.person, "submissions")
        cards = yield from pages.read_list(page)
        found = [card for card in cards if card.is_picture and card.forum == self.forum]
        best = found[0] if newest else max(found, key=lambda card: card.points)
        page = yield from pages.go(page, best.path)
        if by_form:
            address = next(node.name for node in page.nodes if node.name.startswith("/pictures/"))
            page = yield from links(page, "Submit")
            page = yield from click(page, "radio", "Picture")
            page = yield from fill(page, "textbox", "Address (optional)", address)
        else:
            page = yield from links(page, "Repost")
        page = yield from choose(page, "Forum", self.there)
        return (yield from submit(page, "Create Submission", {"Title": self.title}))


def _forum(world: World, name: str) -> Row:
    return next(one for one in queries.forums(world) if one["name"] == name)


class WriteToBestReply(Mutate):
    """Write to whoever gave the best reply to somebody."""

    name = "forum.write-to-best-reply"
    chore = "long_term_memory"
    instruction = (
        'Who wrote the direct reply with the most points to the comment of {person} in the thread "{title}" in '
        '/f/{forum}? Send this person a message with the subject "{subject}" and the text "{text}".'
    )
    levels = ("medium", "hard")
    misread = {"oldest-reply": {"oldest": True}, "person-themselves": {"person_itself": True}}
    ways = {"by-profile": {"profile": True}}

    user: str
    person: str
    title: str
    forum: str
    subject: str
    text: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        found = queries.some_thread(world, stream, 15, 120)
        said = queries.visible(queries.thread(world, found))
        authors = [one["author"] for one in said]
        replies = [one["above"] for one in said if one["above"] and one["above_state"] == "visible"]
        person = stream.choice([name for name in authors if authors.count(name) == 1 and replies.count(name) >= 2])
        subject = stream.choice(("A good point", "Your reply", "Thank you"))
        text = stream.choice(("That made my day.", "May I quote you on this?", "I had not thought of that."))
        user = queries.member(world, stream, found["forum"])
        return cls(user, person, found["title"], found["forum"], subject, text)

    def end(self, world: World, *, oldest: bool = False, person_itself: bool = False) -> Parts:
        post = queries.post(world, self.title)
        said = queries.thread(world, post)
        replies = [one for one in queries.visible(said) if one["above"] == self.person]
        ranked = sorted(replies, key=itemgetter("id" if oldest else "score"), reverse=not oldest)
        best = top(ranked)
        blocked = queries.rows(world, "SELECT 1 AS one FROM blocks WHERE user_id = ?", best["user_id"])
        yield fair(queries.on_one_page(said), clear(ranked, itemgetter("score")), not blocked)
        yield fair(best["author"] not in (self.person, self.user), self.person != self.user)
        receiver = queries.user_id(world, self.person) if person_itself else best["user_id"]
        number = queries.user_id(world, self.user)
        yield Key.insert("conversations", sender_id=number, receiver_id=receiver, subject=self.subject) & Key.insert(
            "messages", sender_id=number, body=self.text
        )
        yield facts.said(replies)
        yield Key.checkpoint("the thread", queries.post_page(post))
        yield Effort(len(said), 1, 8, longest=9)

    def solve(
        self, page: Observation, *, oldest: bool = False, person_itself: bool = False, profile: bool = False
    ) -> Walk:
        page = yield from pages.open_post(page, self.title)
        if oldest:
            page = yield from click(page, "link", "Old")
        said = pages.comments(page)
        replies = [one for one in said if one.above >= 0 and said[one.above].author == self.person]
        best = replies[0] if oldest else max(replies, key=lambda one: one.points)
        name = self.person if person_itself else best.author
        if profile:
            page = yield from links(page, name, "Send Message")
        else:
            page = yield from pages.open_person(page, name, "message")
        return (yield from submit(page, "Send Message", {"Subject": self.subject, "Message": self.text}))


class AddNote(Mutate):
    """Add a line to one's own most discussed text."""

    name = "forum.add-note"
    chore = "massive_memory"
    instruction = (
        'Change the title of my most commented submission in /f/{forum}: add " {note}" at its end. '
        "Leave its text as it is."
    )
    levels = ("medium", "hard")
    misread = {"most-points": {"measure": "points"}, "all-forums": {"forum": ""}}
    may_agree = ("all-forums",)
    ways = {"by-overview": {"overview": True}}

    user: str
    forum: str
    note: str

    @classmethod
    def draw(cls, world: World, stream: Stream) -> Self:
        user = queries.poster(world, stream, 15, 100)
        forum = stream.choice(sorted({one["forum"] for one in queries.posts_by(world, user)}))
        return cls(user, forum, stream.choice(("[solved]", "(closed)", "[answered]", "(thank you all)")))

    def end(self, world: World, *, measure: str = "comments") -> Parts:
        every = queries.posts_by(world, self.user)
        column = "score" if measure == "points" else "comment_count"
        found = [one for one in every if self.forum in ("", one["forum"])]
        ranked = sorted(found, key=itemgetter(column), reverse=True)
        number = queries.user_id(world, self.user)
        yield fair(len(found) >= 3, clear(ranked, itemgetter(column)), "\r" not in top(ranked)["body"])
        yield fair(not queries.rows(world, "SELECT 1 AS one FROM bans WHERE user_id = ?", number))
        best = top(ranked)
        yield Key.update("submissions", where={"id": best["id"]}, title=f"{best['title']} {self.note}")
        yield facts.listed(found, "comment_count")
        yield facts.at("mine", f"/u/{self.user}/submissions")
        on_pages = -(-len(every) // pages.ON_A_PAGE)
        yield Effort(len(every), on_pages, on_pages + 7, longest=on_pages + 8)

    def solve(self, page: Observation, *, measure: str = "comments", overview: bool = False) -> Walk:
        if overview:
            page = yield from links(page, self.user, "Submissions")
        else:
            page = yield from pages.open_person(page, self.user, "submissions")
        cards = [card for card in (yield from pages.read_list(page)) if self.forum in ("", card.forum)]
        best = max(cards, key=lambda card: card.points if measure == "points" else card.comments)
        page = yield from pages.go(page, best.path)
        page = yield from links(page, "Edit")
        yield from submit(page, "Save Changes", {"Title": f"{best.title} {self.note}"})
        return done("mutate")
