"""How large a forum is. The forums themselves are always the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ForumScale:
    users: int
    submissions: int
    comments: int


SCALES = {
    "small": ForumScale(users=900, submissions=2_400, comments=14_000),
    "default": ForumScale(users=3_200, submissions=9_400, comments=62_000),
    "large": ForumScale(users=8_000, submissions=30_000, comments=200_000),
}
