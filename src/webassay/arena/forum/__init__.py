"""Chores on the forum, by theme."""

from webassay.arena.forum.unasked import UNASKED
from webassay.arena.kit.chores import SiteChores, Subject

CHORES = SiteChores(
    name="forum",
    summary="Reading, counting, comparing, voting, writing and moderating at Porchlight.",
    log_in_heading="Porchlight Members",
    subjects={
        "title": Subject(r'"\{title\}"', "the submission", full_name=True),
        "forum": Subject(r"(?<=in )/f/\{forum\}", "the forum"),
        "person": Subject(r"\{person\}", "that person"),
    },
    unasked=UNASKED,
)
