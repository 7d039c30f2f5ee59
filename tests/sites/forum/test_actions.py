"""Writing: submissions, comments, votes, subscriptions, messages, and what each of them changes."""

from tests.sites.forum.visits import INES, JUNIPER, changes, one, path_of, user_id
from tests.sites.visitors import content, visitor


async def submit(client, **entered: str):
    form = {"forum": "books", "kind": "text", "title": "A new one", "body": "", "url": "", **entered}
    return await client.post("/submit", data=form)


def own(world, name: str = JUNIPER, condition: str = "1"):
    return one(world, f"s.user_id = {user_id(world, name)} AND s.locked = 0 AND ({condition})")


async def test_submitting_text(world, juniper):
    answer = await submit(juniper, body="First line\n\n**Second**")
    assert answer.status_code == 303
    [change] = content(world)
    row = change.after
    assert (change.table, row["title"], row["kind"], row["body"], row["user_id"]) == (
        "submissions", "A new one", "text", "First line\n\n**Second**", 1,
    )  # fmt: skip
    page = (await juniper.get(answer.headers["location"])).text
    assert "<strong>Second</strong>" in page and "0 points" in page
    assert "A new one" in (await juniper.get("/f/books/new")).text
    assert "A new one" in (await juniper.get("/search?q=new+one&sort=new")).text


async def test_submitting_a_link_and_a_picture(world, juniper):
    assert (await submit(juniper, kind="link", url="https://example.org/a?b=c", title="Link")).status_code == 303
    base = str(juniper.base_url).rstrip("/")
    assert (await submit(juniper, kind="image", url=f"{base}/pictures/3.svg", title="Again")).status_code == 303
    rows = [change.after for change in content(world)]
    assert [(row["kind"], row["url"]) for row in rows] == [
        ("link", "https://example.org/a?b=c"), ("image", "/pictures/3.svg"),
    ]  # fmt: skip


async def test_what_a_submission_needs(world, juniper):
    for entered, error in (
        ({"title": ""}, "Title is required."),
        ({"forum": "nowhere"}, "Choose a forum."),
        ({"kind": "link", "url": ""}, "Address is required."),
        ({"kind": "link", "url": "javascript:alert(1)"}, "Enter an address such as"),
        ({"kind": "image", "url": "https://example.org/a.png"}, "Enter the address of a picture on Porchlight"),
        ({"kind": "image", "url": "/pictures/999999.svg"}, "Enter the address of a picture on Porchlight"),
        ({"title": "x" * 301}, "Title must be at most 300 characters."),
    ):
        answer = await submit(juniper, **entered)
        assert (answer.status_code, error in answer.text) == (422, True), entered
    assert changes(world) == []


async def test_the_form_is_filled_in_by_the_address(juniper):
    page = (await juniper.get("/submit?forum=pics&kind=image&url=/pictures/3.svg&title=From+/f/books")).text
    assert '<option value="pics" selected>' in page and 'value="/pictures/3.svg"' in page
    assert 'value="image" checked' in page and 'value="From /f/books"' in page


async def test_editing_and_deleting_a_submission(world, juniper):
    post = own(world, condition="s.kind = 'text'")
    entered = {"title": post["title"], "body": post["body"] + "\n\nEDIT: done"}
    assert (await juniper.post(f"/s/{post['id']}/edit", data=entered)).status_code == 303
    [change] = content(world)
    assert change.after["body"].endswith("EDIT: done") and change.after["edited_at"] is not None
    assert "Delete this submission?" in (await juniper.get(f"/s/{post['id']}/delete")).text
    assert (await juniper.post(f"/s/{post['id']}/delete", data={"x": "1"})).status_code == 303
    assert (await juniper.get(path_of(post))).status_code == 404
    assert post["title"] not in (await juniper.get(f"/u/{JUNIPER}/submissions")).text


async def test_commenting_and_replying(world, juniper, ines):
    post = own(world, condition="s.comment_count > 0")
    answer = await ines.post(f"/s/{post['id']}/comment", data={"text": "Hello *there*"})
    assert answer.status_code == 303
    first = world.row("SELECT * FROM comments ORDER BY id DESC LIMIT 1")
    assert first["parent_id"] is None
    assert (await juniper.post(f"/c/{first['id']}/reply", data={"text": "> Hello\n\nHi."})).status_code == 303
    second = world.row("SELECT * FROM comments ORDER BY id DESC LIMIT 1")
    assert (second["parent_id"], second["user_id"]) == (first["id"], 1)
    after = world.row("SELECT * FROM submissions WHERE id = ?", post["id"])
    assert after["comment_count"] == post["comment_count"] + 2 and after["active_at"] > post["active_at"]
    assert changes(world) == [("comments", "insert")] * 2
    page = (await juniper.get(f"{path_of(post)}/comment/{first['id']}")).text
    assert "<em>there</em>" in page and "<blockquote><p>Hello</p></blockquote>" in page


async def test_editing_and_deleting_a_comment(world, ines):
    row = world.row(
        "SELECT c.id, c.submission_id, s.comment_count FROM comments AS c"
        " JOIN submissions AS s ON s.id = c.submission_id"
        " WHERE c.user_id = ? AND c.state = 'visible' AND s.state = 'visible' LIMIT 1", user_id(world, INES),
    )  # fmt: skip
    await ines.post(f"/c/{row['id']}/edit", data={"text": "Something else"})
    assert changes(world) == [("comments", "update")]
    await ines.post(f"/c/{row['id']}/delete", data={"x": "1"})
    after = world.row("SELECT state, body FROM comments WHERE id = ?", row["id"])
    assert after == {"state": "deleted", "body": ""}
    count = world.scalar("SELECT comment_count FROM submissions WHERE id = ?", row["submission_id"])
    assert count == row["comment_count"] - 1


async def test_voting_up_and_down_and_back(world, juniper):
    post = one(world, "s.user_id > 5 AND s.id NOT IN (SELECT submission_id FROM submission_votes)")
    counts = "SELECT ups, downs, score FROM submissions WHERE id = ?"
    before = world.row(counts, post["id"])
    for value, up, down in ((1, 1, 0), (1, 1, 0), (-1, 0, 1), (-1, 0, 1), (0, 0, 0), (0, 0, 0)):
        sent = await juniper.post(
            f"/s/{post['id']}/vote", data={"value": value}, headers={"accept": "application/json"}
        )
        assert world.row(counts, post["id"]) == {
            "ups": before["ups"] + up, "downs": before["downs"] + down, "score": before["score"] + up - down,
        }  # fmt: skip
        assert sent.json() == {"score": before["score"] + up - down, "value": value}
        assert len(changes(world)) == (1 if value else 0)
    assert content(world) == []


async def test_a_vote_moves_a_submission_in_the_lists(world, juniper):
    post = one(world, "s.score = 7 AND s.user_id > 5 AND s.id NOT IN (SELECT submission_id FROM submission_votes)")
    await juniper.post(f"/s/{post['id']}/vote", data={"value": "1"})
    after = world.row("SELECT hot, score FROM submissions WHERE id = ?", post["id"])
    assert after == {"hot": post["hot"] + 6 * 3600, "score": 8}


async def test_voting_on_a_comment_leads_back(world, juniper):
    number = world.scalar(
        "SELECT c.id FROM comments AS c WHERE state = 'visible' AND user_id > 5"
        " AND id NOT IN (SELECT comment_id FROM comment_votes)"
    )
    answer = await juniper.post(f"/c/{number}/vote", data={"value": "-1", "next": "/f/books?p=2"})
    assert answer.headers["location"] == "/f/books?p=2"
    [change] = [one for one in content(world) if one.table == "comment_votes"]
    assert change.after == {"user_id": 1, "comment_id": number, "value": -1}


async def test_subscribing_and_back(world, juniper):
    name = world.scalar(
        "SELECT name FROM forums WHERE id NOT IN (SELECT forum_id FROM subscriptions WHERE user_id = 1) LIMIT 1"
    )
    for _ in range(2):
        await juniper.post(f"/f/{name}/subscribe", data={"next": "/forums"})
        assert changes(world) == [("subscriptions", "insert")]
    assert name in (await juniper.get("/account/subscriptions")).text
    await juniper.post(f"/f/{name}/unsubscribe", data={"x": "1"})
    assert changes(world) == []


async def test_hiding_and_blocking(world, juniper):
    post = one(world, "s.forum_id = 1 AND s.user_id > 20")
    await juniper.post(f"/s/{post['id']}/hide", data={"x": "1"})
    assert post["title"] in (await juniper.get("/account/hidden")).text
    author = world.scalar("SELECT name FROM users WHERE id = ?", post["user_id"])
    await juniper.post(f"/u/{author}/block", data={"x": "1"})
    assert sorted(changes(world)) == [("blocks", "insert"), ("hidden_submissions", "insert")]
    assert author in (await juniper.get("/account/blocked")).text
    await juniper.post(f"/s/{post['id']}/unhide", data={"x": "1"})
    await juniper.post(f"/u/{author}/unblock", data={"x": "1"})
    assert changes(world) == []
    assert (await juniper.post(f"/u/{JUNIPER}/block", data={"x": "1"})).status_code == 409


async def test_creating_and_editing_a_forum(world, juniper, ines):
    entered = {"name": "sci_fi", "title": "Sci-fi", "description": "A wild place", "sidebar": "**New**, Classic"}
    assert (await juniper.post("/forums/new", data=entered)).status_code == 303
    page = (await juniper.get("/f/sci_fi")).text
    assert "<strong>New</strong>, Classic" in page and JUNIPER in page
    assert changes(world) == [("forums", "insert"), ("moderators", "insert")]
    assert "already a forum" in (await juniper.post("/forums/new", data={**entered, "name": "Sci_Fi"})).text
    assert (await juniper.post("/forums/new", data={**entered, "name": "a b"})).status_code == 422
    assert (await ines.post("/f/sci_fi/edit", data=entered)).status_code == 403
    await juniper.post("/f/sci_fi/edit", data={**entered, "description": "Wilder"})
    assert world.scalar("SELECT description FROM forums WHERE name = 'sci_fi'") == "Wilder"


async def test_the_bio(world, juniper):
    await juniper.post("/account", data={"bio": "I am a robot"})
    [change] = content(world)
    assert (change.table, change.after["bio"]) == ("users", "I am a robot")
    assert "I am a robot" in (await juniper.get(f"/u/{JUNIPER}")).text


async def test_messages(world, juniper, ines):
    answer = await juniper.post(f"/u/{INES}/message", data={"subject": "Hello", "text": "Are you there?"})
    place = answer.headers["location"]
    assert sorted(changes(world)) == [("conversations", "insert"), ("messages", "insert")]
    assert "unread" in (await ines.get("/")).text
    assert "Are you there?" in (await ines.get(place)).text
    await ines.post(place, data={"text": "Yes."})
    assert "Yes." in (await juniper.get(place)).text
    await ines.post(f"/u/{JUNIPER}/block", data={"x": "1"})
    refused = await juniper.post(place, data={"text": "And now?"})
    assert "does not take messages from you" in refused.text


async def test_signing_up(world, guest):
    entered = {"username": "brand_new", "password": "long enough", "confirm": "long enough"}
    assert (await guest.post("/account/register", data={**entered, "username": JUNIPER.upper()})).status_code == 422
    answer = await guest.post("/account/register", data=entered)
    assert answer.status_code == 303
    async with visitor(world) as other:
        answer = await other.post("/account/login?next=/submit", data=entered)
        assert answer.headers["location"] == "/submit"
        assert (await other.post("/account/login", data={**entered, "password": "x"})).status_code in (303, 422)
    assert changes(world) == [("users", "insert")]


async def test_a_reply_to_a_lookalike_goes_to_the_right_one(world, juniper):
    """Names that differ in one letter lead to different people."""
    names = [row["name"] for row in world.rows("SELECT name FROM users")]
    pair = next((a, b) for a in names for b in names if len(a) == len(b) and a < b
                and sum(x != y for x, y in zip(a.lower(), b.lower(), strict=True)) == 1)  # fmt: skip
    for name in pair:
        page = (await juniper.get(f"/u/{name}")).text
        assert f"<h1>{name}</h1>" in page
