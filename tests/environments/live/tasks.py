"""Tasks on the stand-ins, written in the formats of the three benchmarks, and an agent that knows what to do."""

import json
from pathlib import Path
from typing import Any

from tests.environments.served.playing import Script
from webassay.benchmarks.webarena import ACCOUNTS, FREE_TEXT
from webassay.core.interaction import Goal
from webassay.core.task import LegacyCheck, Task

LAMP = "Order the floor lamp."
RATE = "Rate the tea kettle with 80 %, as Emma."
ASK = "Ask in the forum consoles which console to buy."
INVITE = "Invite abishek to dotfiles as a guest."
PRICE = "What does the mattress cost?"
OPEN = "Show me the tea kettle."
DRAFT = "Draft a refund message to the shop, and do not send it."
COUNT = "How many orders were ever placed?"

SCRIPTS: dict[str, tuple[list[str], str]] = {
    LAMP: (["click link 'Floor lamp'", "click button 'Order now'"], "Done."),
    RATE: (
        ["click link 'Tea kettle'", "fill textbox 'Nickname' Emma", "fill textbox 'Rating' 80",
         "click button 'Submit Review'"],
        "Done.",
    ),
    ASK: (
        ["click link 'consoles'", "click link 'Submit a post'", "fill textbox 'Title' Which console should I buy?",
         "click button 'Create'"],
        "Done.",
    ),
    INVITE: (
        ["click link 'Members of dotfiles'", "fill textbox 'Invite' abishek", "fill textbox 'Role' Guest",
         "click button 'Invite members'"],
        "Done.",
    ),
    PRICE: (["click link 'Mattress'"], "$199.00"),
    OPEN: (["click link 'Tea kettle'"], "Done."),
    DRAFT: (["click link 'Contact us'", "fill textbox 'Comment' I want my $24.50 back"], "Done."),
    COUNT: ([], "1"),
}  # fmt: skip


class Scripted(Script):
    """Plays the script of the goal; `careless` leaves the last line out."""

    careless = False
    name = "careful"

    async def start(self, goal: Goal) -> None:
        lines, answer = SCRIPTS[goal.instruction]
        self.left = lines[:-1] if self.careless else list(lines)
        self.answer = "nothing" if self.careless else answer
        if goal.protocol.name.startswith("verified"):
            kind = {PRICE: "RETRIEVE", COUNT: "RETRIEVE", OPEN: "NAVIGATE"}.get(goal.instruction, "MUTATE")
            data = [self.answer] if kind == "RETRIEVE" else None
            said = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data, "error_details": None}
            self.answer = json.dumps(said)


class Careless(Scripted):
    careless = True
    name = "careless"


# --- as files -------------------------------------------------------------------------------------------------


def target(url: str, locator: str, *wanted: str) -> dict[str, Any]:
    return {"url": url, "locator": locator, "required_contents": {"must_include": list(wanted)}}


def pages(*targets: dict[str, Any], reference_url: str = "") -> dict[str, Any]:
    kinds = (["url_match"] if reference_url else []) + ["program_html"]
    rest = {"reference_answers": None, "reference_url": reference_url, "url_note": "GOLD in PRED"}
    return {"eval_types": kinds, "program_html": list(targets), **rest}


def answers(**wanted: Any) -> dict[str, Any]:
    return {"eval_types": ["string_match"], "reference_answers": wanted, "reference_url": "", "program_html": []}


MEMBERS = "__GITLAB__/byteblaze/dotfiles/-/project_members"
ROLE = "func:gitlab_get_project_memeber_role(__page__, 'abishek')"
ORDERED = "document.querySelector('.order-details-items.ordered').outerText"
POSTED = "document.querySelector('.submission__inner').outerText"
TYPED = "document.querySelector('[title=\"What’s on your mind?\"]').value"

OLD: list[tuple[str, str, dict[str, Any]]] = [
    ("shopping", LAMP, pages(target("func:shopping_get_latest_order_url()", ORDERED, "B001"))),
    (
        "shopping",
        RATE,
        pages(
            target("last", "func:shopping_get_sku_latest_review_rating('B003')", "80"),
            target("last", "func:shopping_get_sku_latest_review_author('B003')", "Emma"),
        ),
    ),
    (
        "reddit",
        ASK,
        pages(
            target("func:reddit_get_post_url('__last_url__')", POSTED, "Which console should I buy?"),
            reference_url="__REDDIT__/f/consoles",
        ),
    ),
    ("gitlab", INVITE, pages(target(MEMBERS, ROLE, "Guest"))),
    ("shopping", PRICE, answers(exact_match="$199.00")),
    ("shopping", OPEN, {**pages(reference_url="__SHOPPING__/B003.html"), "eval_types": ["url_match"]}),
]

CHORES: list[tuple[str, str, dict[str, Any]]] = [
    ("shopping", DRAFT, pages(target("last", TYPED, "I want my $24.50 back"))),
    ("shopping_admin", COUNT, answers(must_include=["1"])),
    OLD[2],
]


def raw(number: int, site: str, intent: str, evaluation: dict[str, Any]) -> dict[str, Any]:
    return {
        "task_id": number, "sites": [site], "start_url": f"__{site.upper()}__/", "intent": intent,
        "storage_state": f"./.auth/{site}_state.json", "intent_template": intent, "intent_template_id": number,
        "instantiation_dict": {}, "require_reset": False, "eval": evaluation,
    }  # fmt: skip


def webarena(folder: Path) -> Path:
    return _written(folder / "webarena.json", [raw(number, *one) for number, one in enumerate(OLD)])


def webchorearena(folder: Path) -> Path:
    more = {"required_obs": "any", "type_main": "others", "type_sub": "", "start_url_lite": "", "description": ""}
    chores = [{**raw(10000 * number, *one), **more} for number, one in enumerate(CHORES, 1)]
    return _written(folder / "chores.json", chores)


def verified(folder: Path) -> Path:
    def response(kind: str, data: Any = None, schema: Any = None) -> dict[str, Any]:
        expected = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data}
        schema = schema or {"type": "null"}
        return {"evaluator": "AgentResponseEvaluator", "results_schema": schema, "expected": expected}

    def request(url: str, **posted: str) -> dict[str, Any]:
        post = {"http_method": "POST", "response_status": 303, "post_data": posted} if posted else {}
        return {"evaluator": "NetworkEventEvaluator", "expected": {"url": url, **post}}

    prices = {"type": "array", "items": {"type": "string", "format": "currency"}}
    numbers = {intent: number for number, (_, intent, _) in enumerate(OLD)}
    tasks = [
        ("shopping", PRICE, [response("retrieve", [199.0], prices)]),
        ("shopping", OPEN, [response("navigate"), request("__SHOPPING__/B003.html")]),
        ("shopping", LAMP, [response("mutate"), request("__SHOPPING__/order", sku="B001")]),
        ("gitlab", INVITE, [response("mutate"), request(MEMBERS, login="abishek", role="Guest")]),
    ]
    entries = [
        {
            "task_id": numbers[intent], "sites": [site], "intent_template_id": numbers[intent], "revision": 1,
            "start_urls": [f"__{site.upper()}__/"], "intent": intent, "intent_template": intent,
            "instantiation_dict": {}, "eval": evaluation,
        }
        for site, intent, evaluation in tasks
    ]  # fmt: skip
    (folder / "webarena-verified-hard.json").write_text(json.dumps({"task_ids": [numbers[LAMP], numbers[PRICE]]}))
    return _written(folder / "webarena-verified.json", entries)


def _written(path: Path, entries: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def old_task(number: int, *sites: str, kind: str = "retrieve") -> Task:
    """For tests that only need somewhere to play."""
    goal = Goal(instruction=PRICE, start_urls=(f"__{sites[0].upper()}__/",), protocol=FREE_TEXT, sites=sites)
    return Task(
        id=f"webarena.{number}",
        benchmark="webarena",
        template=str(number),
        kind=kind,
        goal=goal,
        checks=(LegacyCheck(flavor="webarena", eval=answers(exact_match="$199.00")),),
        sites=sites,
        logins={site: ACCOUNTS[site] for site in sites},
    )
