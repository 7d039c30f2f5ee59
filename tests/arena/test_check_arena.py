"""The long proof is done in parts: what is kept of a world is what it proved, and old code is not passed off as new."""

import argparse
import subprocess

import pytest
from scripts.check_arena import Part, kept, outdated, parts, seeds_of, sums

from scripts import check_arena
from webassay.arena.kit.proof import Proof


def proof(template, held, tried):
    made = Proof(template, most_steps=held, seconds=1.5)
    for number in range(tried):
        made.add("oracle", number < held, f"{template} {number} fails")
    return made


PROOFS = [proof("admin.one", 5, 5), proof("shop.one", 4, 4), proof("shop.two", 5, 5)]
FLAWED = [proof("admin.one", 5, 5), proof("shop.one", 3, 5), proof("shop.two", 5, 5)]


@pytest.fixture
def given(tmp_path):
    return argparse.Namespace(keep=tmp_path / "kept", instances=2)


@pytest.fixture
def played(monkeypatch):
    """Which parts were played, in order."""
    found = []

    def proved(seed, instance, run, given):
        found.append((seed, instance))
        run.mkdir(parents=True)
        return PROOFS

    monkeypatch.setattr(check_arena, "proved", proved)
    return found


def test_what_is_kept_is_not_played_again(given, played):
    first, again = kept(12345, 0, given), kept(12345, 0, given)
    assert played == [(12345, 0)]
    assert first == again == Part(12345, 0, check_arena.commit(), PROOFS)
    assert [path.name for path in given.keep.iterdir()] == ["12345-0.json"]


def test_episodes_with_problems_stay_to_be_looked_at(given, played, monkeypatch):
    monkeypatch.setattr(check_arena, "proved", lambda seed, instance, run, given: run.mkdir(parents=True) or FLAWED)
    assert kept(12345, 1, given).proofs == FLAWED
    assert {path.name for path in given.keep.iterdir()} == {"12345-1.json", "12345-1.run"}
    assert kept(12345, 1, given).proofs[1].problems == ["shop.one 3 fails", "shop.one 4 fails"]


def test_every_world_comes_once_before_any_a_second_time(given, played):
    list(parts([11111, 22222], given))
    assert played == [(11111, 0), (22222, 0), (11111, 1), (22222, 1)]


def test_more_worlds_and_instances_play_only_what_is_missing(given, played):
    list(parts([11111], given))
    given.instances = 3
    del played[:]
    assert len(list(parts([11111, 22222], given))) == 6
    assert played == [(22222, 0), (22222, 1), (11111, 2), (22222, 2)]


def test_more_worlds_begin_with_the_same_ones():
    assert seeds_of("a commit", 10)[:3] == seeds_of("a commit", 3)
    assert seeds_of("a commit", 3) != seeds_of("another", 3)


def test_sums_of_each_site_and_of_all():
    found = {one.template: str(one.columns["oracle"]) for one in sums(FLAWED)}
    assert found == {"all of admin": "5", "all of shop": "8/10", "all": "13/15"}
    assert [len(one.problems) for one in sums(FLAWED)] == [2, 0, 2]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    def git(*words):
        named = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
        done = subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "code.py").write_text("1")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    monkeypatch.chdir(tmp_path)
    return git


def test_a_proof_of_the_code_that_is_here_is_not_outdated(repository, tmp_path):
    (tmp_path / "README.md").write_text("not code")
    repository("add", ".")
    repository("commit", "--quiet", "-m", "second")
    assert list(outdated([Part(1, 0, repository("rev-parse", "HEAD^"), PROOFS)])) == []


def test_a_proof_of_other_code_names_what_changed(repository, tmp_path):
    base = repository("rev-parse", "HEAD")
    (tmp_path / "src" / "code.py").write_text("2")
    (said,) = outdated([Part(1, 0, base, PROOFS), Part(2, 4, base, PROOFS)])
    assert "src/code.py" in said
    assert "1-0, 2-4" in said
    (unknown,) = outdated([Part(3, 0, "f" * 40, PROOFS)])
    assert "not in this repository" in unknown
