"""Prompts and the forms of their replies: what is asked for is used, in the order in which it is to be thought through.

A model writes the fields of a form one after the other. If the verdict stands before its reasons, it is given before
anybody has thought about them.
"""

import ast
import inspect
import re
from pathlib import Path

import pytest

from tests.support.judging_samples import trajectory
from webassay import judging
from webassay.core.interaction import Goal
from webassay.core.protocols import ARENA_PROTOCOL
from webassay.core.trajectory import MemoryBlobs
from webassay.judging.ledger import Models, ReplyForm
from webassay.judging.prompts import Prompts
from webassay.judging.universal import diagnosis, evidence, outcome, rescoring, rubric, scoring
from webassay.judging.universal.profile import PROFILES
from webassay.judging.universal.rehearsal import Understudy
from webassay.judging.universal.verify import stages, verify

FORMS = {
    "rubric": rubric.RubricForm,
    "rubric_and_point": rubric.PlannedRubricForm,
    "dependency": rubric.DependencyForm,
    "action_only": scoring.ActionForm,
    "relevance": evidence.RelevanceForm,
    "evidence": evidence.EvidenceForm,
    "conditions": scoring.ConditionsForm,
    "reality": scoring.RealityForm,
    "rescore": rescoring.RescoreForm,
    "closer_look": rescoring.CloserForm,
    "side_effects": rescoring.SideEffectsForm,
    "outcome": outcome.OutcomeForm,
    "outcome_checked": outcome.CheckedForm,
    "cp_violation": outcome.ViolationForm,
    "diagnosis": diagnosis.DiagnosisForm,
    "validity": diagnosis.ValidityForm,
}
VERDICTS = frozenset((
    "needs_reformulation", "earned_points", "scores", "criterion_analysis", "is_condition_met", "reality_notes",
    "present", "is_invalid", "post_image_earned_points", "requires_penalty", "max_points", "output_success", "applies",
    "cp_violation", "has_failure", "error_code", "items", "screenshots", "analyses", "disambiguation",
    "reality_checks", "condition",
))  # fmt: skip
"""What may stand last in a form: the conclusion, or the list that is the reply."""
PROMPTS = Prompts()
FOLDER = Path(judging.__file__).parent


def forms_in(form: type[ReplyForm]):
    """The form itself and those inside it."""
    yield form
    for field in form.model_fields.values():
        for inner in re.findall(r"_?[A-Z]\w*", str(field.annotation)):
            found = getattr(inspect.getmodule(form), inner, None)
            if inspect.isclass(found) and issubclass(found, ReplyForm) and found is not form:
                yield from forms_in(found)


def in_order(names, text):
    """Whether the names stand in the text, in code marks, one after the other."""
    starts = [found.start() for found in re.finditer(f"`{names[0]}`", text)]
    for start in starts:
        at = start
        for name in names:
            at = text.find(f"`{name}`", at)
            if at < 0:
                break
        else:
            return True
    return False


def test_every_stage_has_a_form():
    assert set(FORMS) == {stage for profile in PROFILES.values() for stage in stages(profile)}


@pytest.mark.parametrize("stage", sorted(FORMS))
def test_a_prompt_asks_for_the_fields_of_its_form_in_their_order_and_the_verdict_last(stage):
    for form in forms_in(FORMS[stage]):
        names = list(form.model_fields)
        assert in_order(names, PROMPTS[stage].words), f"{form.__name__}: {names}"
        assert list(form.model_json_schema()["properties"]) == names
        assert names[-1] in VERDICTS, f"{form.__name__} ends with {names[-1]}"


def reads(module: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(module) if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize("stage", sorted(FORMS))
def test_every_field_that_is_asked_for_is_used_where_its_form_is_read(stage):
    for form in forms_in(FORMS[stage]):
        used = reads(ast.parse(inspect.getsource(inspect.getmodule(form))))
        assert set(form.model_fields) <= used, f"{form.__name__}: {set(form.model_fields) - used}"


@pytest.mark.parametrize("path", sorted((FOLDER / "prompts").glob("*.md")), ids=lambda path: path.stem)
def test_no_placeholder_is_left_in_a_prompt(path):
    text = PROMPTS[path.stem].text
    assert "{{" not in text and "}}" not in text and "TODO" not in text and "__" not in text
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", text), "a date of the machine that it was written on"


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("dear", [False, True])
async def test_nothing_of_the_machine_stands_in_a_question_and_every_fence_holds(profile, dear):
    blobs = MemoryBlobs()
    trees = {n: f"main ''\n\tStaticText 'Order {n} of March 4, 2019'\n[[END 000000000000]]" for n in range(4)}
    run = trajectory(blobs, 3, trees=trees).model_copy(
        update={
            "goal": Goal(instruction="Open __SHOP__/orders.", start_urls=("__SHOP__/",), protocol=ARENA_PROTOCOL),
            "bases": {"shop": "http://shop.test:8000"},
            "started_at": "2031-05-06T07:08:09+00:00",
            "source": "webassay",
        }
    )
    model = Understudy("m", dear=dear, keep=True)
    verdict = await verify(run.goal, run, blobs, Models.one(model), PROFILES[profile])
    assert verdict.status in ("pass", "fail") and not verdict.replies["degraded"]
    for question in model.asked:
        text = question.messages[-1].text
        assert "__SHOP__" not in text and "2031-05-06" not in text, question.purpose
        assert "http://shop.test:8000/" in text and "NOT_FOUND_ERROR" in text, question.purpose
        rest = re.sub(r"\[\[DATA ([0-9a-f]{12}) [^\n]*\]\]\n.*?\n\[\[END \1\]\]", "", text, flags=re.DOTALL)
        assert "[[" not in rest and "Order" not in rest, question.purpose


EXAMINED = "what was examined, and what was not"


@pytest.mark.parametrize("profile", sorted(PROFILES))
async def test_a_prompt_promises_only_what_its_question_holds(profile):
    blobs = MemoryBlobs()
    run = trajectory(blobs, 3, trees={n: f"main ''\n\tStaticText 'Page number {n}'" for n in range(4)})
    model = Understudy("m", dear=True, keep=True)
    await verify(run.goal, run, blobs, Models.one(model), PROFILES[profile])
    asked = {question.purpose.split("#")[0]: question for question in model.asked}
    promised = {stage for stage, one in asked.items() if EXAMINED in one.messages[0].text.casefold()}
    assert {"rescore", "outcome"} <= promised and "evidence" not in promised, "whoever sees one page has no such list"
    for stage in promised:
        assert f" {EXAMINED}]]" in asked[stage].messages[-1].text, stage
    if PROFILES[profile].page_text:
        assert "Not examined: none." in asked["rescore"].messages[-1].text
    outcome = asked["outcome"].messages
    assert ("share of the points" in outcome[0].text) <= ("Share of the points: " in outcome[1].text)


@pytest.mark.parametrize("stage", ["side_effects", "rescore", "outcome", "outcome_checked", "cp_violation"])
def test_the_right_deed_on_the_wrong_target_has_one_home(stage):
    text = PROMPTS[stage].words
    assert "on the wrong target" in text
    assert "in place of the one that was asked for" not in text, "that made it a side effect as well"


def test_every_reason_belongs_to_a_rule_that_is_there():
    reasons = PROMPTS.reasons
    for name, rules in reasons.items():
        for rule in rules:
            assert rule in PROMPTS[name].raw, f"{name}: {rule}"
    assert set(reasons) >= set(FORMS) | {"fence", "blockers", "principles", "evidence_rules"}
