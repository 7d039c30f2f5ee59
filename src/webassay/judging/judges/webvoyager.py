"""WebVoyager's judge: the answer and the last screenshots, one question."""

import re
from dataclasses import dataclass

from webassay.judging.case import Case, PromptBuilder
from webassay.judging.judges.base import ModelJudge, Opinion, PictureOptions
from webassay.judging.ledger import Ledger, Models, Question, prompt
from webassay.judging.parsers import DRESS, Parsing, tidy

_PROMPT = prompt("webvoyager")
_VERDICT = re.compile(r"\b(NOT[ _-]SUCCESS(?:FUL)?|UNSUCCESSFUL|FAILURE|SUCCESS)\b")


@dataclass(frozen=True, slots=True)
class WebVoyagerOptions(PictureOptions):
    parsing: Parsing = "robust"
    """How the reply is read; as-published repeats the mistakes of the authors' script."""
    last_images: int = 15
    """Screenshots shown, counted from the end; 0 shows all of them."""


async def _opine(case: Case, ledger: Ledger, models: Models, options: WebVoyagerOptions) -> Opinion:
    if options.parsing == "as-published" and not case.trajectory.answer:
        return Opinion(False, details={"rule": "no answer, no success"})
    shots = [frame for frame in case.frames if frame.screenshot]
    shown = shots[-options.last_images :] if options.last_images else shots

    def build() -> PromptBuilder:
        builder = PromptBuilder().data("task", case.goal.instruction).data("answer of the agent", case.answer)
        builder.note(f"The last {len(shown)} of {len(shots)} screenshots, in order:")
        for frame in shown:
            builder.picture(case.picture(frame))
        return builder

    reply = await ledger.text(models.outcome, Question("webvoyager", prompt=_PROMPT), build)
    return Opinion(read_verdict(reply, options.parsing))


def read_verdict(text: str, parsing: Parsing = "robust") -> bool | None:
    """SUCCESS or NOT SUCCESS."""
    if parsing == "as-published":
        if "NOT SUCCESS" in text:
            return False
        return True if "SUCCESS" in text else None
    found: bool | None = None
    for line in tidy(text).splitlines():
        words = _VERDICT.findall(line)
        bare = re.sub(DRESS, "", _VERDICT.sub("", line))
        # A line that is little more than the verdict, or one that announces it.
        if words and len(set(words)) == 1 and (len(bare) <= 2 or re.match(r"(?i)(final)?(verdict|evaluation)", bare)):
            found = words[-1] == "SUCCESS"
    if found is not None:
        return found
    tail = text.rstrip(" \t\r\n*_`\"'“”‘’.!")
    last = list(_VERDICT.finditer(tail))
    if last and last[-1].end() == len(tail):
        return last[-1][1] == "SUCCESS"
    return None


WEBVOYAGER = ModelJudge(
    name="webvoyager",
    summary="WebVoyager: the answer and the last screenshots.",
    version="1",
    options=WebVoyagerOptions,
    as_published=WebVoyagerOptions(parsing="as-published", temperature=0.0, seed=42),
    sample_reply="NOT SUCCESS",
    opine=_opine,
    prompts=(_PROMPT,),
)
