"""The tables, and the class of each column: content, journal (what the site assigns by itself: ids, counts, ranks,
times) or telemetry."""

from importlib.resources import files

from webassay.sites.kit import classes

SCHEMA = (files(__package__) / "schema.sql").read_text(encoding="utf-8")

COLUMNS = {
    "users": classes(journal="id created_at", content="name role bio password_hash"),
    "forums": classes(journal="id creator_id created_at", content="name title description sidebar"),
    "moderators": classes(content="forum_id user_id", journal="since"),
    "subscriptions": classes(content="user_id forum_id", journal="since"),
    "bans": classes(content="forum_id user_id reason", journal="banned_by created_at"),
    "pictures": classes(journal="id", content="kind heading facts"),
    # What follows from the votes and comments of others is no change of the post itself.
    "submissions": classes(
        journal="id slug ups downs score hot comment_count active_at created_at edited_at",
        content="forum_id user_id kind title url body state removal_reason locked pinned",
    ),
    "comments": classes(
        journal="id ups downs score created_at edited_at",
        content="submission_id parent_id user_id body state removal_reason",
    ),
    "submission_votes": classes(content="user_id submission_id value"),
    "comment_votes": classes(content="user_id comment_id value"),
    "hidden_submissions": classes(content="user_id submission_id"),
    "blocks": classes(content="user_id blocked_id", journal="since"),
    "reports": classes(
        journal="id created_at", content="forum_id submission_id comment_id reporter_id reason note status"
    ),
    "conversations": classes(journal="id", content="sender_id receiver_id subject"),
    "messages": classes(journal="id conversation_id created_at", content="sender_id body", telemetry="read_at"),
    "moderation_log": classes(telemetry="id forum_id moderator_id action subject path reason created_at"),
    "sessions": classes(telemetry="token user_id notice created_at"),
}
