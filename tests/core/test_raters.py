"""Who decided: ids that ignore the key, labels that tell raters apart."""

from hypothesis import given
from hypothesis import strategies as st

from webassay.core.rater import labels, rater_id, raters
from webassay.core.verdict import Fingerprint

ADDRESS = "@http://127.0.0.1:1/v1"


def stamps(*given: dict) -> dict[str, Fingerprint]:
    made = [Fingerprint(**{"grader": "webjudge", "version": "1", **one}) for one in given]
    return {rater_id(one): one for one in made}


def names(*given: dict) -> list[str]:
    return [rater.label for rater in raters(stamps(*given))]


def test_a_label_is_as_short_as_the_others_allow():
    assert names({"model": "openai:a"}) == ["webjudge openai:a"]
    assert names({"model": "openai:a"}, {"model": "openai:b"}) == ["webjudge openai:a", "webjudge openai:b"]
    assert names({"model": f"openai:a{ADDRESS}"}) == ["webjudge openai:a"]
    assert names({"model": f"openai:a{ADDRESS}"}, {"model": "openai:a"}) == [
        "webjudge openai:a",
        f"webjudge openai:a{ADDRESS}",
    ]


def test_settings_are_named_only_where_they_differ():
    same = {"model": "m", "settings": {"threshold": 3, "parsing": "robust"}}
    other = {"model": "m", "settings": {"threshold": 4, "parsing": "robust"}}
    assert names(same, other) == ["webjudge[threshold=3] m", "webjudge[threshold=4] m"]
    assert names(same, {**same, "version": "2"}) == ["webjudge m v1", "webjudge m v2"]
    prompts = names({**same, "prompts": {"a": "1"}}, {**same, "prompts": {"a": "2"}})
    assert len(set(prompts)) == 2 and all(name.startswith("webjudge m #") for name in prompts)


def test_a_grader_with_a_key_is_one_rater_whatever_its_version():
    (rules,) = raters(stamps(*({"grader": "rules", "version": v, "key": f"sha256:{v}"} for v in "12")))
    assert (rules.label, rules.keyed, len(rules.ids)) == ("rules", True, 2)


def test_the_key_is_no_part_of_the_id():
    one, other = (Fingerprint(grader="rules", version="2", key=key) for key in ("sha256:1", "sha256:2"))
    assert rater_id(one) == rater_id(other) != rater_id(one.model_copy(update={"settings": {"activity": "off"}}))


WORDS = st.sampled_from(["a", "b", "webjudge", "openai:x", f"openai:x{ADDRESS}", "rubric=a, score=b", ""])
STAMPS = st.builds(
    Fingerprint,
    grader=st.sampled_from(["webjudge", "universal", "human:anna"]),
    version=st.sampled_from(["1", "2"]),
    model=WORDS,
    prompts=st.dictionaries(st.just("p"), st.sampled_from(["1", "2"])),
    settings=st.dictionaries(st.sampled_from("abc"), st.one_of(st.none(), st.integers(0, 2), WORDS), max_size=3),
)


@given(st.lists(STAMPS, min_size=1, max_size=8))
def test_every_label_names_exactly_one_rater(given):
    found = {rater_id(one): one for one in given}
    made = raters(found)
    assert sorted(id for rater in made for id in rater.ids) == sorted(found)
    assert len({rater.label for rater in made}) == len(made)
    assert labels(found).keys() == found.keys()
    for rater in made:
        assert {rater.name, rater.label, *rater.ids} <= rater.names
