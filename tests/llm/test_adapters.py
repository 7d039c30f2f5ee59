"""What is sent to Anthropic and Google, and how their answers are read: against canned answers on a real socket."""

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from webassay.llm.client import Image, Message, Settings, ask_json, close, configured
from webassay.llm.providers import Price, connect

# Google's package raises a DeprecationWarning while it is being compiled for the first time.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

KEY = "secret-key-0123456789"
ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-toy",
    "content": [{"type": "text", "text": '{"n": 7}'}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 100, "output_tokens": 10},
}
GOOGLE = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": '{"n": 7}'}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
    "modelVersion": "gemini-toy",
}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
TALK = [Message.system("be brief"), Message.user("what is this", Image(b"\xff\xd8jpeg"))]


class Canned:
    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.url = ""


@pytest.fixture
def provider() -> Iterator[Canned]:
    canned = Canned()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            canned.asked.append((self.path, body))
            answer = json.dumps(ANTHROPIC if self.path.endswith("/messages") else GOOGLE).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    canned.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield canned
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    "spec", ["anthropic:claude-sonnet-4-5", "anthropic:claude-3-7-sonnet-latest", "google:gemini-2.5-pro"]
)
async def test_pictures_settings_and_schemas_arrive_and_answers_are_read(provider: Canned, spec: str) -> None:
    model = connect(f"{spec}@{provider.url}", env={"WEBASSAY_MODEL_KEY": KEY}, price=Price(1.0, 5.0))
    asking = configured(model, Settings(temperature=0.1, max_tokens=500, stop=("END",)))
    value, replies = await ask_json(asking, TALK, schema=SCHEMA)
    await close(model)
    assert value == {"n": 7}
    (reply,) = replies
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.finish_reason) == (100, 10, "stop")
    assert reply.usage.cost_usd == pytest.approx((100 * 1.0 + 10 * 5.0) / 1_000_000)
    ((path, body),) = provider.asked
    sent = json.dumps(body)
    assert "be brief" in sent
    assert "9hqcGVn" in sent  # the picture, in base64 of either alphabet
    assert '"END"' in sent
    assert "500" in sent
    assert "integer" in sent.lower()
    assert KEY not in path + sent
