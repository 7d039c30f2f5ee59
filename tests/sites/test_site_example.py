"""The site of docs/extending.md, taken from the page and visited."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sites.visitors import content, visitor
from webassay.sites.kit import Site, World, snapshot

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    blocks = re.findall(r"```(?:python\n# |html\n<!-- )(board/\S+)(?: -->)?\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    for name, text in blocks:
        file = tmp_path / name.replace("board/", "doc_board/", 1)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    site: Site = importlib.import_module("doc_board").BOARD
    opened = World(site, 3, snapshot(site, 3, tmp_path / "cache"))
    yield opened
    opened.close()


async def test_the_example_is_a_site(world: World) -> None:
    async with visitor(world) as guest:
        page = (await guest.get("/")).text
        assert page.count("to give away, February 1, 2026") == 3
        assert (await guest.post("/", data={"title": ""})).status_code == 422
        assert (await guest.post("/", data={"title": "Piano"}, headers={"origin": "http://evil"})).status_code == 403
        assert content(world) == []
        await guest.post("/", data={"title": "Piano wanted"})
        assert "Your notice is on the board." in (await guest.get("/")).text
    (change,) = content(world)
    assert change.after == {"id": 4, "title": "Piano wanted", "pinned_at": "2026-03-01 09:00:01"}
