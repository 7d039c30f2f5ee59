"""`parrot:TEXT`: a model that always says the same. Asks nobody, costs nothing."""

from collections.abc import Mapping

from webassay.core.errors import InputError
from webassay.llm.client import Model, Question, Reply, model_of
from webassay.llm.hosted import Price
from webassay.llm.providers import Provider


def _connect(rest: str, env: Mapping[str, str], price: Price | None) -> Model:
    if not rest:
        raise InputError("A parrot needs words.", hint="Write parrot:TEXT.")

    async def answer(question: Question) -> Reply:
        return Reply(rest)

    return model_of(f"parrot:{rest}", answer)


PARROT = Provider("parrot", "Always says the same.", _connect)
