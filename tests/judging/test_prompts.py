"""Another folder of prompts makes another judge: same code, same settings, other words."""

import pytest

from tests.support.judging_samples import JUDGES, LITERATURE, ByStage, golden, golden_trajectory, prepared, replies_of
from webassay.core.errors import InputError
from webassay.core.options import read_options, read_spec
from webassay.core.trajectory import MemoryBlobs
from webassay.judging.judges.universal import plan_profile, prepare_profile
from webassay.judging.ledger import Models
from webassay.judging.prompts import Prompts
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.resources import VerifierResources
from webassay.judging.universal.rubric import RubricCache

CASE = golden("01-solved")
OURS = Prompts()


def folder_of(tmp_path, **files):
    folder = tmp_path / "prompts"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text)
    return folder


def prepared_with(spec, model=None):
    name, wishes = read_spec(spec)
    return prepared(name, model, read_options(name, JUDGES.get(name).options, wishes))


async def asked(judge_of):
    """The first messages of all questions about one case, by stage."""
    blobs, model = MemoryBlobs(), ByStage(replies_of(CASE))
    run = golden_trajectory(CASE, blobs)
    verdict = await judge_of(model).judge(run.goal, run, blobs)
    return verdict, {purpose.split("#")[0]: messages[0].text for purpose, messages in model.asked}


async def test_the_universal_verifier_asks_with_the_words_of_the_folder(tmp_path):
    folder = folder_of(tmp_path, relevance="Rate the pages. {{principles}}")
    verdict, words = await asked(lambda model: prepared_with(f"universal[prompts={folder}]", model))
    plain, own = await asked(lambda model: prepared_with("universal", model))
    assert words["relevance"].startswith("Rate the pages. ") and OURS["principles"].words in words["relevance"]
    assert words["relevance"].endswith(OURS["fence"].words)
    assert {stage: text for stage, text in words.items() if text != own[stage]}.keys() == {"relevance"}
    assert verdict.status == plain.status
    assert verdict.fingerprint.settings == plain.fingerprint.settings, "where the words come from does not matter"
    assert verdict.fingerprint.prompts != plain.fingerprint.prompts
    assert verdict.fingerprint.prompts.keys() == plain.fingerprint.prompts.keys()


def test_the_same_words_elsewhere_are_the_same_judge(tmp_path):
    folder = folder_of(tmp_path, **{name: OURS[name].raw for name in OURS.names})
    (folder / ".notes").write_text("hidden files do not count")
    assert prepared_with(f"universal[prompts={folder}]").fingerprint == prepared_with("universal").fingerprint


def test_a_part_changes_every_prompt_that_contains_it(tmp_path):
    folder = folder_of(tmp_path, principles="Be kind.")
    changed = prepared_with(f"universal[prompts={folder}]").fingerprint.prompts
    before = prepared_with("universal").fingerprint.prompts
    assert {name for name in before if "{{principles}}" in OURS[name].raw} <= {
        name for name in before if changed[name] != before[name]
    }


@pytest.mark.parametrize("name", LITERATURE)
def test_a_judge_of_the_literature_takes_other_prompts(name, tmp_path):
    judge = JUDGES.get(name)
    folder = folder_of(tmp_path, **{judge.asks[-1]: "Was it done?"})
    changed, before = prepared_with(f"{name}[prompts={folder}]", ByStage(None)), prepared_with(name, ByStage(None))
    assert changed.fingerprint.settings == before.fingerprint.settings
    differing = {one for one in judge.asks if changed.fingerprint.prompts[one] != before.fingerprint.prompts[one]}
    assert differing == {judge.asks[-1]}


async def test_the_dry_run_and_the_kept_rubrics_see_the_words(tmp_path):
    blobs = MemoryBlobs()
    items = [(golden_trajectory(CASE, blobs), blobs)]
    plain = PROFILES["webassay"]
    words = {name: f"{OURS[name].raw}\n\n{'Think twice. ' * 200}" for name in ("rubric_and_point", "dependency")}
    changed = plain.with_changes(prompts=Prompts(words))
    resources = VerifierResources(rubrics=RubricCache(tmp_path), rubric_model="by-stage")
    model = Models.one(ByStage(replies_of(CASE)))
    run, own = items[0]
    await prepare_profile(model, plain, resources).judge(run.goal, run, own)
    known, unknown = [await plan_profile(items, profile, resources) for profile in (plain, changed)]
    assert (known.rubrics, unknown.rubrics) == (0, 1)
    assert unknown.input_tokens > known.input_tokens + 1000


def test_other_changes_of_a_profile_keep_its_prompts():
    prompts = Prompts({"outcome": "Done?"})
    assert PROFILES["paper"].with_changes(prompts=prompts).with_changes(votes=3).prompts is prompts


def test_a_folder_may_bring_its_reasons(tmp_path):
    folder = folder_of(tmp_path, outcome="Was it done?")
    (folder / "reasons.toml").write_text('[outcome]\n"Was it done?" = "Short."\n')
    reasons = OURS.with_folder(folder, ("outcome",)).reasons
    assert reasons["outcome"] == {"Was it done?": "Short."} and reasons["rubric"] == OURS.reasons["rubric"]


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"rubrik.md": b"x"}, "There is no prompt 'rubrik.md'"),
        ({"outcome.txt": b"x"}, "There is no prompt 'outcome.txt'"),
        ({}, "holds no prompt that this judge uses"),
        ({"webvoyager.md": b"x"}, "holds no prompt that this judge uses"),
        ({"rubric.md": b"\xff"}, "is not UTF-8"),
        ({"rubric.md": b" \n"}, "is empty"),
        ({"rubric.md": b"{{nothing}}"}, "There is no prompt 'nothing'"),
        ({"rubric.md": b"{{principles}}", "principles.md": b"{{rubric}}"}, "contains itself"),
        ({"outcome.md": b"x", "reasons.toml": b"["}, "reasons.toml cannot be read"),
        ({"outcome.md": b"x", "reasons.toml": b"a = 1"}, "one table for each prompt"),
    ],
)
def test_a_folder_that_cannot_be_meant_is_refused(files, says, tmp_path):
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=says):
        OURS.with_folder(tmp_path, ("rubric", "outcome"))


@pytest.mark.parametrize("folder", ["nowhere", "a file"])
def test_what_is_no_folder_is_refused(folder, tmp_path):
    (tmp_path / "a file").write_text("x")
    with pytest.raises(InputError, match="is not a folder of prompts"):
        prepared_with(f"universal[prompts={tmp_path / folder}]")


def test_a_file_in_the_place_of_a_prompt_must_be_regular(tmp_path):
    (tmp_path / "rubric.md").mkdir()
    with pytest.raises(InputError, match=r"rubric\.md (is not a regular file|cannot be read)"):
        OURS.with_folder(tmp_path, ("rubric",))
