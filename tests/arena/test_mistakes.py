"""What counts as a wrong value: a mistake that is none would prove nothing."""

import pytest

from webassay.arena.kit.mistakes import _spoiled


@pytest.mark.parametrize(
    ("value", "half"),
    [
        ("$30.00", None),
        ("$1,250.000000", None),
        ("$408.51", "$40"),
        ("$30.50", "$30"),
        ("3000", "30"),
        ("KIT-38756", "KIT-"),
        ("x", None),
        ("", None),
    ],
)
def test_half_of_a_text_is_wrong_unless_it_is_the_same_amount(value: str, half: str | None) -> None:
    assert dict(_spoiled(value)).get("the first half") == half
