"""Calls that go wrong end soon, with the right exit code and a line that helps: see docs/running.md."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.wrong_calls import CALLS, FILES, SECRET, WrongCall, endpoint, make, played_run

from tests.journeys.test_cli import webassay


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with endpoint() as url:
        yield url


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    played_run(folder := tmp_path_factory.mktemp("played"))
    return folder / "run"


@pytest.mark.browser
@pytest.mark.parametrize("call", [call for call in CALLS if call.quick], ids=lambda call: call.name)
def test_a_quick_wrong_call(
    call: WrongCall, server: str, played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(played, tmp_path / "run")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = webassay(*shlex.split(call.words.replace("SERVER", server)), env={"WEBASSAY_MODEL_KEY": SECRET})
    assert done.returncode == call.code, done.stderr
    assert call.says in " ".join(done.stderr.split()) and SECRET not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.parametrize("call", [call for call in CALLS if call.plays], ids=lambda call: call.name)
def test_a_wrong_call_that_shows_when_it_plays(call: WrongCall, server: str, played: Path, tmp_path: Path) -> None:
    shutil.copytree(played, tmp_path / "run")
    done = make(call, tmp_path, server)
    assert not done.problems(call), done.said
