"""Providers over a real socket, against the replay endpoint; and what must never come out: keys."""

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from webassay.compose.registries import PROVIDERS as PROVIDER_REGISTRY
from webassay.core.errors import Fault, InputError, ModelError
from webassay.llm import hosted
from webassay.llm.client import Image, Message, Model, Patience, Reply, Settings, Unavailable, assemble, close, retrying
from webassay.llm.providers import PROVIDERS, Price, Provider, connect
from webassay.llm.replay import Act, RecordedModel, ReplayServer, Script, ScriptedModel, recording, replaying, talk_hash

KEY = "sk-very-secret-0123456789"
TALK = [
    Message.system("be brief"),
    Message.user("what is in", Image(b"\xff\xd8jpeg")),
    Message.assistant("hm"),
    Message.user("so?"),
]


async def ask(server: ReplayServer, **rest: Any) -> Reply:
    model = connect(f"openai:toy@{server.url}", env={"WEBASSAY_MODEL_KEY": KEY})
    try:
        return await model.ask(TALK, **rest)
    finally:
        await close(model)


async def test_a_question_arrives_whole_and_the_answer_comes_back() -> None:
    async with replaying(Script(["a cat"])) as server:
        settings = Settings(0.2, 0.9, 77, reasoning_effort="low", seed=5, stop=("END",))
        reply = await ask(server, settings=settings)
    assert (reply.text, reply.finish_reason, reply.cached) == ("a cat", "stop", False)
    assert reply.usage.calls == 1
    assert reply.usage.input_tokens > 0
    assert reply.usage.cost_usd is None  # nobody knows the price of a server of one's own
    (body,) = server.asked
    assert (body["temperature"], body["top_p"], body["seed"], body["stop"]) == (0.2, 0.9, 5, ["END"])
    assert body["reasoning_effort"] == "low"
    assert body.get("max_completion_tokens", body.get("max_tokens")) == 77
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    (picture,) = [part for part in body["messages"][1]["content"] if part["type"] == "image_url"]
    assert picture["image_url"] == {"url": "data:image/jpeg;base64,/9hqcGVn", "detail": "high"}


async def test_a_schema_is_sent_as_a_response_format() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with replaying(Script(['{"n": 1}'])) as server:
        await ask(server, schema=schema)
    sent = server.asked[0]["response_format"]["json_schema"]["schema"]
    assert sent["properties"]["n"]["type"] == "integer"


async def test_a_price_of_ones_own_is_used() -> None:
    act = Act(text="x", usage={"calls": 1, "input_tokens": 1000, "output_tokens": 500})  # type: ignore[arg-type]
    async with replaying(Script([act])) as server:
        model = connect(f"openai:toy@{server.url}", env={}, price=Price(input=2.0, output=10.0))
        reply = await model.ask(TALK)
        await close(model)
    assert reply.usage.cost_usd == pytest.approx(0.002 + 0.005)


async def test_a_price_may_come_from_the_environment() -> None:
    async with replaying(Script(["x"])) as server:
        model = connect(f"openai:toy@{server.url}", env={"WEBASSAY_MODEL_PRICE": " 0.5/1.5"})
        reply = await model.ask(TALK)
        await close(model)
    assert reply.usage.cost_usd == pytest.approx(
        (reply.usage.input_tokens * 0.5 + reply.usage.output_tokens * 1.5) / 1_000_000
    )


@pytest.mark.parametrize("price", ["5", "1/", "-1/2", "1/2/3", "free", "nan/1", "1e9/1", "٣/1"])
def test_what_is_not_a_price_is_refused(price: str) -> None:
    with pytest.raises(InputError, match=r"WEBASSAY_MODEL_PRICE is .* not a price") as refused:
        connect("openai:toy@http://127.0.0.1:9/v1", env={"WEBASSAY_MODEL_PRICE": price})
    assert "0.5/1.5" in str(refused.value.hint)


async def test_known_models_have_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    act = Act(text="x", usage={"calls": 1, "input_tokens": 1_000_000, "output_tokens": 0})  # type: ignore[arg-type]
    async with replaying(Script([act, act])) as server:
        monkeypatch.setattr(hosted, "OPENAI_URL", server.url)
        for name, priced in (("gpt-4o", True), ("a-model-nobody-knows", False)):
            model = connect(f"openai:{name}", env={"OPENAI_API_KEY": KEY})
            reply = await model.ask(TALK)
            await close(model)
            assert (reply.usage.cost_usd is not None and reply.usage.cost_usd > 0) is priced


@pytest.mark.parametrize(
    "act",
    [
        Act(status=429, text="slow down", retry_after=3),
        Act(status=500),
        Act(status=503),
        Act(text="a long answer " * 50, broken="cut"),
        Act(broken="invalid"),
    ],
    ids=["429", "500", "503", "cut", "invalid"],
)
async def test_what_may_pass_is_unavailable(act: Act) -> None:
    async with replaying(Script([act])) as server:
        with pytest.raises(Unavailable) as caught:
            await ask(server)
    assert caught.value.retry_after == act.retry_after


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with replaying(Script([])) as server:
        pass
    with pytest.raises(Unavailable):
        await ask(server)


async def test_the_whole_row_of_mishaps_ends_in_an_answer() -> None:
    script = Script(
        [Act(status=429, retry_after=2), Act(text="never seen", broken="cut"), Act(broken="invalid"), "at last"]
    )
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    async with replaying(script) as server:
        model = connect(f"openai:toy@{server.url}", env={})
        patient = retrying(model, Patience(sleep=nap))
        reply = await patient.ask(TALK)
        await close(patient)
    assert reply.text == "at last"
    assert naps[0] == 2
    assert len(server.asked) == 4


@pytest.mark.parametrize("status", [400, 401, 404, 422])
async def test_what_will_never_pass_is_an_error_without_the_key(status: int) -> None:
    async with replaying(Script([Act(status=status, text=f"I got the key {KEY} and do not like it")])) as server:
        with pytest.raises(ModelError) as caught:
            await ask(server)
    assert not isinstance(caught.value, Unavailable)
    assert "[key]" in str(caught.value)
    assert KEY not in str(caught.value)
    assert KEY not in repr(Fault.of(caught.value))
    assert caught.value.__context__ is None


async def test_a_reply_that_echoes_the_key_is_cleaned() -> None:
    async with replaying(Script([f"your key is {KEY}"])) as server:
        assert (await ask(server)).text == "your key is [key]"


async def test_half_a_character_neither_stops_a_question_nor_an_answer() -> None:
    async with replaying(Script(["an odd \ud83d answer"])) as server:
        model = connect(f"openai:toy@{server.url}", env={})
        reply = await model.ask(
            [Message.system("\ud800"), Message.user("caf\u00e9 \ud83d!"), Message.user("\U0001f600")]
        )
        await close(model)
    assert reply.text == "an odd \ufffd answer"
    sent = json.dumps(server.asked[0]["messages"], ensure_ascii=False)
    assert "caf\u00e9 \ufffd!" in sent
    assert "\U0001f600" in sent


def test_the_key_shows_in_no_repr() -> None:
    model = connect("openai:gpt-5", env={"OPENAI_API_KEY": KEY})
    assert KEY not in repr(model)
    assert model.name == "openai:gpt-5"


async def test_openais_key_goes_to_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str | None] = []
    original = ReplayServer.answer

    async def watching(self: ReplayServer, request: Any) -> Any:
        seen.append(request.headers.get("authorization"))
        return await original(self, request)

    monkeypatch.setattr(ReplayServer, "answer", watching)
    async with replaying(Script(["x"])) as server:
        model = connect(f"openai:toy@{server.url}", env={"OPENAI_API_KEY": KEY})
        await model.ask(TALK)
        await close(model)
    assert seen == ["Bearer none"]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("gpt-5", "does not name a model"),
        ("nobody:x", "no model provider 'nobody'"),
        ("openai:", "does not name a model"),
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("anthropic:claude", "ANTHROPIC_API_KEY"),
        ("google:gemini-2.5-pro", "GOOGLE_API_KEY"),
        ("azure:deployment", "an address"),
        ("openai:@http://127.0.0.1/v1", "does not name a model"),
        ("azure:deployment@https://x.openai.azure.com", "AZURE_OPENAI_API_KEY"),
        ("openai:toy@localhost:80", "not the address"),
        ("openai:toy@http://[", "not the address"),
        ("openai:toy@http://user:pw@host/v1", "must not contain a key"),
        ("openai:toy@http://host/v1?api-key=1", "must not contain a key"),
        ("python:no_such_module_here:make", "no_such_module_here"),
        ("recorded:no-such-file.jsonl", "does not exist"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_sent(spec: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        connect(spec, env={})


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # raised while Google's package is being compiled
@pytest.mark.parametrize("provider", ["anthropic", "google"])
async def test_the_other_adapters_build_and_report_a_missing_server(provider: str) -> None:
    async with replaying(Script([])) as server:
        pass
    model = connect(f"{provider}:toy@{server.url}", env={"WEBASSAY_MODEL_KEY": KEY})
    with pytest.raises(Unavailable):
        await model.ask(TALK, settings=Settings(max_tokens=50))
    await close(model)


def test_a_model_of_ones_own_is_one_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("their_models")
    module.make = lambda: ScriptedModel.of(["hi"], name="theirs")  # type: ignore[attr-defined]
    module.wrong = lambda: 5  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "their_models", module)
    assert connect("python:their_models:make", env={}).name == "theirs"
    with pytest.raises(InputError, match="does not return a model"):
        connect("python:their_models:wrong", env={})


async def test_what_breaks_in_ones_own_model_is_the_models_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name = "broken"

        async def ask(self, messages: Any, **wishes: Any) -> Reply:
            raise ConnectionError("no route")

    module = types.ModuleType("their_models")
    module.Broken = Broken  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "their_models", module)
    with pytest.raises(ModelError, match="asking broken: no route"):
        await connect("python:their_models:Broken", env={}).ask(TALK)


def test_every_provider_describes_itself() -> None:
    found = PROVIDER_REGISTRY
    assert set(found.names()) == {provider.name for provider in PROVIDERS}
    assert set(found.names()) == {"openai", "azure", "anthropic", "google", "python", "recorded"}
    assert all(text.endswith(".") for text in found.summaries().values())
    assert {provider.name for provider in PROVIDERS if not provider.keys} == {"python", "recorded"}
    assert connect("openai:gpt-5", env={"OPENAI_API_KEY": KEY}, find=found.get).name == "openai:gpt-5"
    with pytest.raises(InputError, match="Did you mean openai"):
        connect("opanai:gpt-5", env={}, find=found.get)


async def test_a_provider_of_somebody_elses() -> None:
    def theirs(rest: str, env: Any, price: Price | None) -> Model:
        return ScriptedModel.of([f"{rest} with {env['THEIR_KEY']} at {price}"], name=f"theirs:{rest}")

    provider = Provider("theirs", "Theirs.", theirs, ("THEIR_KEY",))
    model = connect("theirs:small:v2", env={"THEIR_KEY": "k"}, price=Price(1, 2), find={"theirs": provider}.__getitem__)
    assert (await model.ask(TALK)).text == "small:v2 with k at Price(input=1, output=2)"


# --- scripts and recordings -----------------------------------------------------------------------------


async def test_a_recording_replays_in_process_and_over_the_socket(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    live: Model = recording(ScriptedModel.of(["first", "second"]), path)
    other = [Message.user("another question")]
    await live.ask(TALK)
    await live.ask(other)
    recorded = RecordedModel.load(path)
    assert (await recorded.ask(other)).text == "second"
    assert (await recorded.ask(TALK)).text == "first"
    assert (await recorded.ask(TALK)).text == "first"
    async with replaying(Script.load(path)) as server:
        assert (await ask(server)).text == "first"
    with pytest.raises(ModelError, match="no answer"):
        await recorded.ask([Message.user("never asked")])


async def test_recordings_of_one_name_share_no_cached_replies(tmp_path: Path) -> None:
    for folder in ("one", "other"):
        await recording(ScriptedModel.of([folder]), tmp_path / folder / "replies.jsonl").ask(TALK)
    for folder in ("one", "other"):
        model = assemble(RecordedModel.load(tmp_path / folder / "replies.jsonl"), folder=tmp_path / "cache")
        assert (await model.ask(TALK)).text == folder


async def test_a_script_serves_acts_in_order_by_match_and_by_number() -> None:
    script = Script([Act(text="a", times=2), Act(text="m", match="special"), "b"])

    def next_text(text: str) -> str:
        return script.next([Message.user(text)]).text

    assert [next_text("x"), next_text("x"), next_text("x")] == ["a", "a", "b"]
    assert next_text("something special") == "m"
    assert script.next([Message.user("special")]).status == 400


def test_script_files_are_lists_or_lines(tmp_path: Path) -> None:
    lines, whole, wrong = tmp_path / "a.jsonl", tmp_path / "b.json", tmp_path / "c.json"
    lines.write_text('{"text": "a"}\n{"text": "b"}\n', encoding="utf-8")
    whole.write_text('[{"text": "a"}]', encoding="utf-8")
    wrong.write_text('[{"texts": "a"}]', encoding="utf-8")
    assert Script.load(lines).next(TALK).text == "a"
    assert Script.load(whole).next(TALK).text == "a"
    with pytest.raises(InputError, match="texts"):
        Script.load(wrong)


def test_a_line_separator_inside_a_reply_ends_no_line_of_a_script(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "first\u2028second\x85third"}\n{"text": "b"}\n', encoding="utf-8")
    script = Script.load(path)
    assert [script.next(TALK).text, script.next(TALK).text] == ["first\u2028second\x85third", "b"]


def test_a_conversation_is_the_same_however_it_is_cut_into_parts() -> None:
    assert talk_hash([Message.user("a", "b")]) == talk_hash([Message.user("a"), Message.user("b")])
    assert talk_hash([Message.user("a")]) != talk_hash([Message.assistant("a")])
    assert talk_hash([Message.user("a", Image(b"1"))]) != talk_hash([Message.user("a", Image(b"2"))])


async def test_the_endpoint_streams_and_can_cut_a_stream() -> None:
    import httpx

    question = {"model": "toy", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    async with (
        replaying(Script(["one two three four five six seven", Act(text="x" * 500, broken="cut")])) as server,
        httpx.AsyncClient() as http,
    ):
        whole = await http.post(f"{server.url}/chat/completions", json=question)
        events = [line.removeprefix("data: ") for line in whole.text.splitlines() if line]
        assert events[-1] == "[DONE]"
        deltas = [json.loads(event)["choices"][0]["delta"].get("content", "") for event in events[:-1]]
        assert "".join(deltas) == "one two three four five six seven"
        with pytest.raises(httpx.RemoteProtocolError):
            await http.post(f"{server.url}/chat/completions", json=question)
        assert (await http.get(f"{server.url}/models")).json()["data"][0]["id"] == "replay"
        garbage = await http.post(f"{server.url}/chat/completions", content=b"{}")
        assert garbage.status_code == 400
