"""What the old checks of WebArena and WebChoreArena look at on pages, as probes: recorded once, graded at any time.

`program_html` asks for pages after the agent has stopped. Each of its targets becomes one probe called
`program_html.N` (an alternative of a target: `program_html.N.or.M`). Its URL may be `last` (the page in front) or a
call of a published helper function; `page_of` says which page that is. The script runs in the page and returns the text
that the published harness would see, so that `null` is the word None there as well.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from webassay.core.task import LocatorProbe

LAST = "last"
CALL = "func:"

_WHOLE_PAGE = (
    "(document.doctype ? '<!DOCTYPE ' + document.doctype.name + '>' : '') + document.documentElement.outerHTML"
)

_AS_PYTHON = """
const shown = value => {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) return '[' + value.map(one => typeof one === 'string' ? "'" + one + "'" : shown(one))
    .join(', ') + ']';
  return String(value);
};
"""
"""The published harness turns what a script returns into text in Python."""

_MEMBER_ROLE = """(() => {
  const names = [...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")];
  const row = names.findIndex(name => name.outerText === NAME);
  return document.querySelectorAll("td.col-max-role span")[row].outerText;
})()"""


def probe_name(target: int, alternative: int = 0) -> str:
    """Alternatives are counted from 1; 0 is the target itself."""
    return f"program_html.{target}.or.{alternative}" if alternative else f"program_html.{target}"


def alternatives(target: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A target, and what the WebChoreArena harness accepts in its place."""
    return [target, *(target.get("or") or ())]


def probes_of(evaluation: Mapping[str, Any], flavor: str) -> tuple[LocatorProbe, ...]:
    if "program_html" not in (evaluation.get("eval_types") or ()):
        return ()
    return tuple(_probes(evaluation.get("program_html") or (), flavor))


def _probes(targets: Sequence[Mapping[str, Any]], flavor: str) -> Iterator[LocatorProbe]:
    opened = ""
    for number, target in enumerate(targets):
        for position, one in enumerate(alternatives(target) if flavor == "webchorearena" else [target]):
            url = str(one["url"])
            # WebChoreArena's harness looks at every page in one tab, so the page in front is the one opened last.
            # Its only helper function finds the same post again from a page that it has led to.
            if flavor == "webchorearena" and url == LAST and opened:
                url = opened
            yield LocatorProbe(name=probe_name(number, position), url=url, script=script_of(one))
            opened = url if url != LAST else opened


def script_of(target: Mapping[str, Any]) -> str:
    """JavaScript whose value is the text that is looked at; a helper function that asks the site's API stays a call."""
    locator = str(target.get("locator") or "").strip()
    if locator.startswith(CALL):
        member = re.fullmatch(r"func:gitlab_get_project_memeber_role\(__page__, ?'([^']*)'\)", locator)
        if member is None:
            return locator
        locator = _MEMBER_ROLE.replace("NAME", json.dumps(f"@{member[1]}"))
    if not locator:
        return _WHOLE_PAGE
    prepared = "".join(f"{action};" for action in target.get("prep_actions") or ())
    before = f"try {{ {prepared} }} catch (error) {{}}" if prepared else ""
    return f"(() => {{ {_AS_PYTHON} {before} try {{ return shown({locator}); }} catch (error) {{ return ''; }} }})()"


def page_of(probe: LocatorProbe, in_front: str) -> str | None:
    """The page that a probe looks at. None: the site's own API would have to be asked, for the page or for the text."""
    if probe.script.startswith(CALL):
        return None
    if probe.url == LAST:
        return in_front
    if not probe.url.startswith("func"):
        return probe.url
    call = probe.url.partition(CALL)[2].strip()
    if re.fullmatch(r"reddit_get_post_url\(['\"]__last_url__['\"]\)", call):
        return post_url(in_front)
    return None


def post_url(url: str) -> str:
    """The address of the forum post that a page belongs to. As in the harness, a post follows the forum's name."""
    parts = urlsplit(url)
    path = parts.path.split("/")
    if len(path) >= 4 and path[1] == "f":
        return f"{parts.scheme}://{parts.netloc}/f/{path[2]}/{path[3]}/"
    return url
