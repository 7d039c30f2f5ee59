"""The rows of a fresh forum: the same on every machine, coherent, and never said three times."""

import re
from collections import Counter

import pytest

from tests.support.worlds import CACHE
from webassay.sites.forum import SITE
from webassay.sites.forum.ranking import hot
from webassay.sites.forum.seeding.words import is_plural, plural_of, pool, topics, vocabulary, with_article
from webassay.sites.kit import World, snapshot

CHECKSUM = "03bb3f536dd9f36c16a59454afc9192a79d79efc72dfbd5d190de3641ca7dd56"
"""Of the canonical dump of the small world for seed 0."""
STORIES = ("open", "tell", "want", "agree", "disagree", "advice", "story", "ask", "fact")


@pytest.fixture(scope="module")
def small():
    world = World(SITE, 0, snapshot(SITE, 0, CACHE, "small"))
    yield world
    world.close()


def test_the_data_is_pinned(small):
    assert small.checksum() == CHECKSUM


def test_the_forum_is_of_the_size_of_a_forum(opened):
    def count(table: str) -> int:
        return int(opened.scalar(f"SELECT count(*) FROM {table}"))

    assert count("forums") >= 61
    assert count("submissions") >= 9_000
    assert count("comments") >= 60_000
    assert count("users") >= 3_000
    assert len(opened.snapshot.pages.shared) < 24_000_000


NEVER = {
    "a score that does not follow from the votes": "SELECT id FROM submissions WHERE score <> ups - downs",
    "a comment's score that does not": "SELECT id FROM comments WHERE score <> ups - downs",
    "fewer votes than are known": (
        "SELECT s.id FROM submissions AS s JOIN submission_votes AS v ON v.submission_id = s.id GROUP BY s.id"
        " HAVING sum(v.value = 1) > s.ups OR sum(v.value = -1) > s.downs"
    ),
    "more votes than people": "SELECT id FROM submissions WHERE ups + downs > (SELECT count(*) FROM users)",
    "a count of comments that is wrong": (
        "SELECT s.id FROM submissions AS s LEFT JOIN comments AS c ON c.submission_id = s.id AND c.state = 'visible'"
        " GROUP BY s.id HAVING s.comment_count <> count(c.id)"
    ),
    "a comment before what it answers": (
        "SELECT c.id FROM comments AS c JOIN comments AS p ON p.id = c.parent_id WHERE c.created_at < p.created_at"
        " OR c.submission_id <> p.submission_id OR c.id <= p.id"
    ),
    "a comment before its submission": (
        "SELECT c.id FROM comments AS c JOIN submissions AS s ON s.id = c.submission_id"
        " WHERE c.created_at <= s.created_at"
    ),
    "numbers that do not follow the time": (
        "SELECT a.id FROM submissions AS a JOIN submissions AS b ON b.id = a.id + 1 WHERE a.created_at > b.created_at"
    ),
    "a post by somebody who had not joined": (
        "SELECT s.id FROM submissions AS s JOIN users AS u ON u.id = s.user_id WHERE s.created_at < u.created_at"
    ),
    "anything of today or later": (
        "SELECT id FROM submissions WHERE max(created_at, active_at, ifnull(edited_at, '')) >= '2026-03-01 09:00:00'"
    ),
    "a comment of today or later": (
        "SELECT id FROM comments WHERE max(created_at, ifnull(edited_at, '')) >= '2026-03-01 09:00:00'"
    ),
    "an edit before the post": "SELECT id FROM submissions WHERE edited_at < created_at",
    "a picture that is not there": (
        "SELECT id FROM submissions WHERE kind = 'image'"
        " AND url NOT IN (SELECT '/pictures/' || id || '.svg' FROM pictures)"
    ),
    "a link to nowhere": "SELECT id FROM submissions WHERE kind = 'link' AND url NOT LIKE 'https://%.example/%'",
    "a forum without a moderator": "SELECT id FROM forums WHERE id NOT IN (SELECT forum_id FROM moderators)",
    "a banned moderator": (
        "SELECT b.user_id FROM bans AS b JOIN moderators AS m ON m.user_id = b.user_id AND m.forum_id = b.forum_id"
    ),
    "a report of one's own post": (
        "SELECT r.id FROM reports AS r JOIN submissions AS s ON s.id = r.submission_id WHERE s.user_id = r.reporter_id"
    ),
    "a row too long for its page": "SELECT id FROM comments WHERE length(body) > 3500",
    "a submission too long for its page": "SELECT id FROM submissions WHERE length(body) + length(title) > 3500",
}


@pytest.mark.parametrize("what", NEVER)
def test_it_never_happens(opened, what):
    assert opened.rows(f"{NEVER[what]} LIMIT 3") == []


def test_ranks_follow_from_points_and_time(opened):
    for row in opened.rows("SELECT score, created_at, hot FROM submissions WHERE id % 7 = 0"):
        assert row["hot"] == hot(row["score"], row["created_at"])


def test_counts_have_long_tails(opened):
    assert opened.scalar("SELECT max(comment_count) FROM submissions") > 250
    assert opened.scalar("SELECT count(*) FROM submissions WHERE comment_count = 0") > 1_000
    assert opened.scalar("SELECT count(*) FROM submissions WHERE score < 0") > 80
    sizes = opened.rows("SELECT count(*) AS n FROM submissions GROUP BY forum_id ORDER BY n")
    assert sizes[0]["n"] < 20 and sizes[-1]["n"] > 600


def test_somebody_differs_from_somebody_in_one_character(opened):
    names = [row["name"] for row in opened.rows("SELECT name FROM users")]
    masked = Counter(f"{name[:place]}*{name[place + 1 :]}".lower() for name in names for place in range(len(name)))
    assert sum(count > 1 for count in masked.values()) > 60


def sentences(text: str) -> list[str]:
    lines = [re.sub(r"^(?:> |- |[0-9]+\. )+", "", line).strip("* ") for line in text.split("\n")]
    return [
        re.sub(r"[^a-z0-9$% ]", "", part.lower()).strip()
        for line in lines
        for part in re.split(r"(?<=[.!?])\s+(?!lol|:\))", line)
    ]


def test_no_sentence_stands_there_more_than_twice(small):
    assert _said_too_often(small, at_least=30_000) == []


@pytest.mark.long
def test_no_sentence_of_a_world_of_the_usual_size_does(opened):
    assert _said_too_often(opened, at_least=120_000) == []


def _said_too_often(world: World, at_least: int) -> list[tuple[str, int]]:
    count: Counter[str] = Counter()
    for sql in (
        "SELECT title AS text FROM submissions", "SELECT body AS text FROM submissions",
        "SELECT body AS text FROM comments", "SELECT body AS text FROM messages", "SELECT bio AS text FROM users",
        "SELECT sidebar AS text FROM forums", "SELECT note AS text FROM reports",
    ):  # fmt: skip
        for row in world.rows(sql):
            count.update(sentence for sentence in sentences(row["text"]) if sentence)
    assert len(count) > at_least
    return [(sentence, times) for sentence, times in count.items() if times > 2]


def test_some_quotes_are_not_what_was_said(opened):
    quoting = opened.rows(
        "SELECT c.body, p.body AS before FROM comments AS c JOIN comments AS p ON p.id = c.parent_id"
        " WHERE c.body LIKE '> %' AND p.state = 'visible' AND c.state = 'visible'"
    )
    wrong = [row for row in quoting if sentences(row["body"].split("\n")[0])[0] not in sentences(row["before"])]
    assert len(quoting) > 500 and 100 < len(wrong) < len(quoting) / 2


# --- the vocabulary ---------------------------------------------------------------------------------------

SLOTS = set(
    re.findall(
        r"\w+",
        "thing a_thing a_thing2 things thing2 part act act2 act_on issue brand brand2 here"
        " who span ago money n n2 n3 good bad where month day",
    )
)


def test_every_slot_is_known_and_no_sentence_is_always_the_same():
    for name, table in vocabulary("voices").items():
        if name == "slots":
            continue
        groups = table.values() if name == "titles" else [table]
        for sentence in (one for group in groups for found in group.values() for one in found):
            slots = re.findall(r"{(\w+)}", sentence)
            assert set(map(str.lower, slots)) <= SLOTS, sentence
            assert len(slots) > 1 or name in ("titles", "headlines"), sentence


def test_every_forum_has_something_to_say():
    for topic in topics():
        assert min(map(len, (topic.things, topic.parts, topic.acts, topic.issues, topic.brands))) >= 5, topic.name
        assert all(len(pool(kind, topic.tags)) >= 8 for kind in STORIES), topic.name


@pytest.mark.parametrize(
    ("noun", "said"),
    [("oolong", "an oolong"), ("eyepiece", "an eyepiece"), ("union rep", "a union rep"), ("R-value", "an R-value"),
     ("DAC", "a DAC"), ("IV start", "an IV start"), ("one-pot meal", "a one-pot meal"), ("hour", "an hour")],
)  # fmt: skip
def test_articles(noun, said):
    assert with_article(noun) == said


def test_plurals():
    assert [plural_of(noun) for noun in ("knife", "box", "library", "pair of boots", "waders", "bass")] == [
        "knives", "boxes", "libraries", "pairs of boots", "waders", "basses",
    ]  # fmt: skip
    assert is_plural("false fits") and not is_plural("a leak at the clinic") and is_plural("apps that need my contacts")
