"""Names with settings, read into dataclasses."""

import string
from dataclasses import dataclass, fields
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webassay.core.errors import InputError
from webassay.core.options import describe_options, read_options, read_spec


@dataclass(frozen=True)
class Knobs:
    depth: int = 3
    """How deep."""
    share: float = 0.5
    loud: bool = False
    mode: Literal["fast", "slow"] = "fast"
    names: tuple[str, ...] = ()
    seed: int | None = None


def test_a_bare_name_has_no_settings():
    assert read_spec("generic") == ("generic", {})
    assert read_options("generic", Knobs, {}) == Knobs()


def test_every_form_is_read():
    name, wishes = read_spec("x[depth=7, share=0.25,loud=yes,mode=slow,names=a+b,seed=none]")
    assert (name, read_options(name, Knobs, wishes)) == ("x", Knobs(7, 0.25, True, "slow", ("a", "b"), None))
    assert read_options("x", Knobs, {"seed": "12"}).seed == 12


@pytest.mark.parametrize("spec", ["x[", "x[a]", "x[=1]", "x[a=1,a=2]", "x[a=]", "x[a=1"])
def test_what_cannot_be_read_says_how_to_write_it(spec):
    with pytest.raises(InputError, match=r"NAME\[key=value"):
        read_spec(spec)


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("deep", "1", "has no setting 'deep'.*depth, share, loud"),
        ("depth", "many", "whole number"),
        ("depth", "1" * 30, "whole number"),
        ("share", "half", "must be a number"),
        ("share", "nan", "must be a number"),
        ("share", "-inf", "must be a number"),
        ("loud", "maybe", "yes or no"),
        ("mode", "medium", "Choose one of fast, slow"),
    ],
)
def test_unusable_settings_are_named(key, text, said):
    with pytest.raises(InputError, match=said):
        read_options("x", Knobs, {key: text})


def test_help_comes_from_the_dataclass():
    described = {option.name: option for option in describe_options(Knobs)}
    assert list(described) == [field.name for field in fields(Knobs)]
    assert (described["depth"].form, described["depth"].default, described["depth"].summary) == (
        "number", "3", "How deep.",
    )  # fmt: skip
    assert described["mode"].form == "fast|slow" and described["seed"].form == "number|none"
    assert described["names"].form == "text+…" and described["loud"].default == "no"


@dataclass(frozen=True)
class Strange:
    depth: "NobodyKnowsIt" = 3  # noqa: F821


def test_a_type_that_cannot_be_found_is_an_error_of_whoever_wrote_it():
    with pytest.raises(InputError, match=r"types of Strange's fields cannot be read.*NobodyKnowsIt"):
        read_options("x", Strange, {"depth": "4"})
    with pytest.raises(InputError, match="Strange"):
        list(describe_options(Strange))


words = st.text(string.ascii_letters + string.digits + "_-.", min_size=1, max_size=12)


@given(words, st.dictionaries(words, words, max_size=5))
def test_writing_and_reading_a_spec_is_the_identity(name, wishes):
    spec = f"{name}[{','.join(f'{key}={value}' for key, value in wishes.items())}]"
    assert read_spec(spec) == (name, wishes)
