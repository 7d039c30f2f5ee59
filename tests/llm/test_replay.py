"""The scripted endpoint: for programs on this machine, whatever they send."""

import httpx
import pytest

from webassay.llm.replay import Act, Script, replaying

QUESTION = {"messages": [{"role": "user", "content": "How many?"}]}


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"host": "evil.example"}, "not as 'evil.example'"),
        ({"host": "127.0.0.1.evil.example:80"}, "not as"),
        ({"host": ""}, "not as ''"),
        ({"origin": "http://evil.example"}, "answers programs, not pages"),
        ({"origin": "null"}, "answers programs, not pages"),
    ],
)
async def test_pages_of_websites_are_refused(headers, reason):
    async with replaying(Script([Act(text="four")])) as server, httpx.AsyncClient() as client:
        answer = await client.post(f"{server.url}/chat/completions", json=QUESTION, headers=headers)
        assert answer.status_code == 403 and reason in answer.json()["error"]["message"]
        assert server.asked == []
        for host in ({}, {"host": "localhost:1"}):
            assert (await client.get(f"{server.url}/models", headers=host)).status_code == 200
        assert (await client.post(f"{server.url}/chat/completions", json=QUESTION)).status_code == 200


@pytest.mark.parametrize("body", [b'{"messages": ' + b"[" * 200_000, b"\xff", b"[]", b'{"messages": [{"role": 1}, 2]}'])
async def test_what_cannot_be_read_is_the_askers_mistake(body):
    async with replaying(Script([Act(text="four")])) as server, httpx.AsyncClient() as client:
        answer = await client.post(f"{server.url}/chat/completions", content=body)
    assert answer.status_code == 400 and "Cannot read the question" in answer.json()["error"]["message"]
