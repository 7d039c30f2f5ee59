-- The forum. Times are 'YYYY-MM-DD HH:MM:SS' (UTC). Scores, counts and ranks of posts are kept with them, so that lists
-- can be sorted by an index (see ranking.py).

CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    role TEXT NOT NULL CHECK (role IN ('member', 'admin')),
    bio TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE forums (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    sidebar TEXT NOT NULL,
    creator_id INTEGER NOT NULL REFERENCES users (id),
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE moderators (
    forum_id INTEGER NOT NULL REFERENCES forums (id),
    user_id INTEGER NOT NULL REFERENCES users (id),
    since TEXT NOT NULL,
    PRIMARY KEY (forum_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE subscriptions (
    user_id INTEGER NOT NULL REFERENCES users (id),
    forum_id INTEGER NOT NULL REFERENCES forums (id),
    since TEXT NOT NULL,
    PRIMARY KEY (user_id, forum_id)
) STRICT;                                   -- with rowids, so that comparing it looks at what changed only
CREATE INDEX subscriptions_by_forum ON subscriptions (forum_id);

CREATE TABLE bans (
    forum_id INTEGER NOT NULL REFERENCES forums (id),
    user_id INTEGER NOT NULL REFERENCES users (id),
    reason TEXT NOT NULL,
    banned_by INTEGER NOT NULL REFERENCES users (id),
    created_at TEXT NOT NULL,
    PRIMARY KEY (forum_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pictures (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,                     -- which drawing it is: 'scene', 'checklist', 'stars', 'meter'
    heading TEXT NOT NULL,                  -- what is printed on it
    facts TEXT NOT NULL                     -- what only who sees it knows: JSON
) STRICT;

CREATE TABLE submissions (
    id INTEGER PRIMARY KEY,
    forum_id INTEGER NOT NULL REFERENCES forums (id),
    user_id INTEGER NOT NULL REFERENCES users (id),
    kind TEXT NOT NULL CHECK (kind IN ('text', 'link', 'image')),
    title TEXT NOT NULL,
    slug TEXT NOT NULL,
    url TEXT NOT NULL,                      -- of a link; of a picture, its address on this site
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('visible', 'removed', 'deleted')),
    removal_reason TEXT NOT NULL,
    locked INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    ups INTEGER NOT NULL,
    downs INTEGER NOT NULL,
    score INTEGER NOT NULL,
    hot INTEGER NOT NULL,
    comment_count INTEGER NOT NULL,
    active_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    edited_at TEXT
) STRICT;
CREATE INDEX submissions_by_forum ON submissions (forum_id, hot);
CREATE INDEX submissions_by_heat ON submissions (hot);
CREATE INDEX submissions_by_user ON submissions (user_id);

CREATE TABLE comments (
    id INTEGER PRIMARY KEY,
    submission_id INTEGER NOT NULL REFERENCES submissions (id),
    parent_id INTEGER REFERENCES comments (id),
    user_id INTEGER NOT NULL REFERENCES users (id),
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('visible', 'removed', 'deleted')),
    removal_reason TEXT NOT NULL,
    ups INTEGER NOT NULL,
    downs INTEGER NOT NULL,
    score INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    edited_at TEXT
) STRICT;
CREATE INDEX comments_by_submission ON comments (submission_id);
CREATE INDEX comments_by_user ON comments (user_id);
CREATE INDEX comments_by_parent ON comments (parent_id);

-- Votes of people that are known one by one; ups and downs of a post include them.
CREATE TABLE submission_votes (
    user_id INTEGER NOT NULL REFERENCES users (id),
    submission_id INTEGER NOT NULL REFERENCES submissions (id),
    value INTEGER NOT NULL CHECK (value IN (-1, 1)),
    PRIMARY KEY (user_id, submission_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE comment_votes (
    user_id INTEGER NOT NULL REFERENCES users (id),
    comment_id INTEGER NOT NULL REFERENCES comments (id),
    value INTEGER NOT NULL CHECK (value IN (-1, 1)),
    PRIMARY KEY (user_id, comment_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE hidden_submissions (
    user_id INTEGER NOT NULL REFERENCES users (id),
    submission_id INTEGER NOT NULL REFERENCES submissions (id),
    PRIMARY KEY (user_id, submission_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
    user_id INTEGER NOT NULL REFERENCES users (id),
    blocked_id INTEGER NOT NULL REFERENCES users (id),
    since TEXT NOT NULL,
    PRIMARY KEY (user_id, blocked_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE reports (
    id INTEGER PRIMARY KEY,
    forum_id INTEGER NOT NULL REFERENCES forums (id),
    submission_id INTEGER REFERENCES submissions (id),
    comment_id INTEGER REFERENCES comments (id),
    reporter_id INTEGER NOT NULL REFERENCES users (id),
    reason TEXT NOT NULL,
    note TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'upheld', 'dismissed')),
    created_at TEXT NOT NULL,
    CHECK ((submission_id IS NULL) <> (comment_id IS NULL))
) STRICT;
CREATE INDEX reports_by_forum ON reports (forum_id, status);
CREATE INDEX reports_by_submission ON reports (submission_id);
CREATE INDEX reports_by_comment ON reports (comment_id);

CREATE TABLE conversations (
    id INTEGER PRIMARY KEY,
    sender_id INTEGER NOT NULL REFERENCES users (id),
    receiver_id INTEGER NOT NULL REFERENCES users (id),
    subject TEXT NOT NULL
) STRICT;
CREATE INDEX conversations_by_sender ON conversations (sender_id);
CREATE INDEX conversations_by_receiver ON conversations (receiver_id);

CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    sender_id INTEGER NOT NULL REFERENCES users (id),
    body TEXT NOT NULL,
    created_at TEXT NOT NULL,
    read_at TEXT
) STRICT;
CREATE INDEX messages_by_conversation ON messages (conversation_id);

-- What moderators have done, for their log: a by-product of changes that are rows elsewhere.
CREATE TABLE moderation_log (
    id INTEGER PRIMARY KEY,
    forum_id INTEGER NOT NULL REFERENCES forums (id),
    moderator_id INTEGER NOT NULL REFERENCES users (id),
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX moderation_log_by_forum ON moderation_log (forum_id);

CREATE TABLE sessions (
    token TEXT NOT NULL PRIMARY KEY,
    user_id INTEGER REFERENCES users (id),
    notice TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE submission_search USING fts5 (
    title, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER submission_added AFTER INSERT ON submissions BEGIN
    INSERT INTO submission_search (rowid, title, body) VALUES (new.id, new.title, new.body);
END;
CREATE TRIGGER submission_edited AFTER UPDATE OF title, body ON submissions BEGIN
    DELETE FROM submission_search WHERE rowid = old.id;
    INSERT INTO submission_search (rowid, title, body) VALUES (new.id, new.title, new.body);
END;
