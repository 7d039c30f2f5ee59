"""What the record says that somebody has seen: the rows that pages are made of, and not what the visitor wrote."""

from tests.sites.forum.visits import JUNIPER, one, path_of
from tests.sites.hosted import HostedVisitor, lines_of
from webassay.sites.forum import SITE
from webassay.sites.kit import World


async def seen(world: World, *paths: str, user: str = JUNIPER) -> tuple[list[list[str]], set[tuple[str, str, object]]]:
    """The lines of each page, and table, column and key of every cell."""
    visitor = HostedVisitor(SITE, user, world)
    for path in paths:
        await visitor.get(path)
    record = visitor.record()
    assert record.evidence == "receipts"
    cells = {(one.table, one.column, key[0]) for one in record.cells for key in one.rows}
    return [lines_of(record, served) for served in record.served], cells


async def test_a_list_shows_the_rows_it_is_made_of(world):
    [lines], cells = await seen(world, "/all/new")
    newest = world.rows("SELECT * FROM submissions WHERE state = 'visible' ORDER BY created_at DESC LIMIT 25")
    text = " ".join(lines)
    for row in newest:
        assert {("submissions", name, row["id"]) for name in ("title", "score", "comment_count")} <= cells
        assert row["title"] in text


async def test_a_thread_shows_comments_and_their_votes(world):
    post = one(world, "s.comment_count BETWEEN 10 AND 20 AND s.kind = 'text'")
    [lines], cells = await seen(world, path_of(post))
    assert {("submissions", "body", post["id"]), ("submissions", "ups", post["id"])} <= cells
    for row in world.rows(
        "SELECT id, score FROM comments WHERE submission_id = ? AND state = 'visible' AND user_id NOT IN (SELECT"
        " blocked_id FROM blocks WHERE user_id = 1)",
        post["id"],
    ):
        assert {("comments", "body", row["id"]), ("comments", "score", row["id"])} <= cells
    assert any("points" in line for line in lines)


async def test_search_directory_and_people_show_rows(world):
    paths = ("/search?q=winter&in=comments", "/search?q=knife", "/forums?sort=submissions", "/u/ines_okafor/votes")
    pages, cells = await seen(world, *paths)
    assert all(pages)
    assert {"comments", "submissions", "forums", "users"} <= {table for table, _, _ in cells}
    assert {"ups", "downs"} <= {column for table, column, _ in cells if table == "submissions"}


async def test_a_picture_is_seen_where_it_is_opened(world):
    number = world.scalar("SELECT id FROM pictures WHERE kind = 'stars'")
    _, cells = await seen(world, f"/pictures/{number}/small.svg")
    assert ("pictures", "facts", number) not in cells
    _, cells = await seen(world, f"/pictures/{number}.svg")
    assert ("pictures", "facts", number) in cells


async def test_what_the_visitor_wrote_is_no_evidence(world):
    post = one(world, "s.comment_count = 2 AND s.locked = 0 AND s.kind = 'text' AND s.user_id > 5")
    visitor = HostedVisitor(SITE, JUNIPER, world)
    await visitor.post(f"/s/{post['id']}/comment", text="The answer is 4711.")
    await visitor.post(f"/s/{post['id']}/vote", value="1")
    page = await visitor.get(path_of(post))
    assert "The answer is 4711." in page
    record = visitor.record()
    lines = " ".join(lines_of(record, record.served[-1]))
    assert "4711" not in lines and post["title"] in lines
    assert f"{post['score'] + 1} points" in lines
    cells = {(one.table, one.column, key[0]) for one in record.cells for key in one.rows}
    assert ("comments", "body", world.scalar("SELECT max(id) FROM comments")) not in cells
