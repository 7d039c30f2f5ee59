"""The agent that works as a person does: a screenshot in, points and keys out."""

from collections.abc import Sequence

from webassay.agents.generic import Example, Generic, Options, Style
from webassay.agents.memory import Memory
from webassay.agents.tools import Tool
from webassay.llm.client import Model

COMPUTER = Style(
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


class Computer(Generic):
    def __init__(
        self,
        model: Model,
        *,
        memory: Memory | None = None,
        tools: Sequence[Tool] = (),
        options: Options | None = None,
    ) -> None:
        super().__init__(model, memory=memory, tools=tools, options=options, style=COMPUTER)
