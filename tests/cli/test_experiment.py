"""Experiments as TOML files: what is written can be read, and what is typed outranks it."""

import tomllib

import pytest

from tests.journeys.test_cli import webassay

TASK = ("--template", "shop.price-of-nothing")


def test_a_saved_experiment_is_what_was_typed_and_typing_outranks_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved = webassay("run", "-a", "oracle", "-a", "naive-zero", "-o", "out", *TASK, "-n", "2", "--keep-going",
                     "--save-experiment", "mine.toml", "--dry-run")  # fmt: skip
    assert saved.returncode == 0, saved.stderr
    assert tomllib.loads((tmp_path / "mine.toml").read_text()) == {
        "agent": ["oracle", "naive-zero"], "out": "out", "template": ["shop.price-of-nothing"], "instances": 2,
        "keep-going": True,
    }  # fmt: skip
    again = webassay("run", "mine.toml", "--dry-run")
    assert "2 tasks of 1 template, 2 agents: 4 episodes" in again.stderr
    typed = webassay("run", "mine.toml", "--dry-run", "-n", "1", "-a", "oracle", "--trials", "3")
    assert "1 task of 1 template, 1 agent: 3 episodes" in typed.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("agents = []", "Did you mean agent"),
        ("dry_run = true", "no option"),
        ("out = ['a', 'b']", "takes one value"),
        ("max_cost = -1", "--max-cost"),
        ("[model]\nname = 'x'", "takes one value"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(tmp_path, text, says):
    (tmp_path / "mine.toml").write_text(text)
    done = webassay("run", str(tmp_path / "mine.toml"), "-o", str(tmp_path / "out"), "-a", "oracle", *TASK)
    assert done.returncode == 2 and says in done.stderr, done.stderr
