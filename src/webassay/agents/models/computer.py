"""The agent that works like a person: a screenshot in, mouse and keyboard out."""

from dataclasses import dataclass
from typing import Literal

from webassay.agents.models.generic import Example, Generic, GenericOptions, Style
from webassay.agents.models.thinking import thinking_factory

POINTER_STYLE = Style(
    "computer",
    "computer_system.md",
    (
        "noop",
        "scroll_at",
        "mouse_move",
        "mouse_click",
        "mouse_dblclick",
        "mouse_drag_and_drop",
        "keyboard_press",
        "keyboard_type",
        "tab_focus",
        "new_tab",
        "tab_close",
        "go_back",
        "go_forward",
        "goto",
        "send_msg_to_user",
        "report_infeasible",
    ),
    Example(
        "The search field is at the top. I click into it, type the name and press Enter.",
        "The order is number 000000189, of 2 May 2023; its total is $754.99.",
        "mouse_click(612, 48)\nkeyboard_type('blue lamp')\nkeyboard_press('Enter')",
    ),
    sees_tree=False,
)


@dataclass(frozen=True, slots=True)
class PointerOptions(GenericOptions):
    modality: Literal["screenshot"] = "screenshot"
    """It points at what it sees, so there is no other."""


COMPUTER_AGENT = thinking_factory(
    "computer",
    "A screenshot in, mouse and keyboard out.",
    lambda model, options: Generic(model, options=options, style=POINTER_STYLE),
    PointerOptions,
)
