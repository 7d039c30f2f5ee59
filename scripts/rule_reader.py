"""A stand-in for a model that reads by rule: `--model python:scripts.rule_reader:make`.

It looks for the agent's answer in the question, and passes it if it claims success and every text that it gives stands
somewhere else in the question as well. It is no judge of anything: it shows that every judge can be scored, and what
such a reader alone is worth.
"""

import json
import re

from webassay.judging.universal.rehearsal import Understudy
from webassay.llm.client import Answering, Question, Reply

_RESPONSE = re.compile(r"\{[^{}]*\\?\"status\\?\"[^{}]*\}")
_STAGES = [
    "relevance",
    "evidence",
    "action_only",
    "rescore",
    "closer_look",
    "conditions",
    "reality",
    "rubric",
    "dependency",
    "side_effects",
    "outcome",
    "cp_violation",
    "diagnosis",
    "validity",
]


class RuleReader(Answering):
    name = "rule-reader"

    async def answer(self, question: Question) -> Reply:
        text = "\n".join(message.text for message in question.messages)
        good = plausible(text)
        stage = question.purpose.split("#")[0]
        if stage in _STAGES:
            understudy = Understudy("rule-reader", dear=False)
            said = understudy._said(stage, question.messages[-1].text)
            if stage == "outcome":
                said = {
                    **said,
                    "output_success": good,
                    "critical_issues": [] if good else ["The answer is not backed."],
                }
            if stage == "validity":
                said = {"is_ambiguous": False, "is_invalid": False}
            return Reply(json.dumps(said))
        return Reply(spoken(stage, good))


def plausible(text: str) -> bool:
    found = _RESPONSE.findall(text)
    if not found:
        return True
    try:
        answer = json.loads(found[-1].replace('\\"', '"'))
    except ValueError:
        return True
    results = answer.get("results")
    if answer.get("status") != "SUCCESS" or results == []:
        return False
    elsewhere = text.replace(found[-1], "")
    texts = [value for value in results or () if isinstance(value, str) and re.search(r"[A-Za-z]{3}", value)]
    return all(value in elsewhere for value in texts)


def spoken(stage: str, good: bool) -> str:
    word = "success" if good else "failure"
    if stage.startswith("agentrewardbench"):
        return f"<success>{'Yes' if good else 'No'}</success><side>No</side><optimal>2</optimal><loop>No</loop>"
    if stage.startswith("webvoyager"):
        return "SUCCESS" if good else "NOT SUCCESS"
    if stage.startswith("nnetnav"):
        return f"Thought: as far as can be read.\nReward: {5 if good else 1}"
    points = "Key Points:\n1. what the task asks for\n### Reasoning: as far as can be read.\n### Score: 3\n"
    return f"{points}Thoughts: as far as can be read.\nStatus: {word}\n"


def make() -> RuleReader:
    return RuleReader()
