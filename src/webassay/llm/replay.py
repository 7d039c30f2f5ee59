"""Models that are files or functions: for tests, demonstrations, and replaying a run without paying again.

An `Act` is one answer, or one way for an answer to fail. A `Script` is a list of acts, or a function. `Scripted` plays
it in this process; `replaying` serves it on loopback as an OpenAI-compatible endpoint, so that everything between an
agent and its model runs over a real socket.
"""

import asyncio
import base64
import binascii
import contextlib
import hashlib
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from webassay.core.errors import InputError, ModelError
from webassay.core.files import read_regular
from webassay.core.interaction import Usage
from webassay.core.record import Record, content_hash
from webassay.core.text import lines_of, well_formed
from webassay.llm.client import ARE_YOU_THERE, Answering, Image, Message, Model, Question, Reply, Unavailable, model_of


class Act(Record):
    """One line of a script file."""

    text: str = ""
    match: str = ""
    """Only for a question that contains this."""
    key: str = ""
    """Only for the conversation with this hash (`talk_hash`); such an act can be used any number of times."""
    times: int | None = None
    """How often it can be used; None: once, or always if `key` is set."""
    delay: float = 0.0
    status: int = 200
    """Anything else is an HTTP error with `text` as its message."""
    retry_after: float | None = None
    broken: Literal["", "cut", "invalid"] = ""
    """`cut`: the connection drops in the middle of the answer; `invalid`: the body is not JSON."""
    finish_reason: str = "stop"
    usage: Usage | None = None


Author = Callable[[Sequence[Message]], "Act | str"]
"""Decides the next act after seeing the question."""


def talk_hash(messages: Sequence[Message]) -> str:
    """A hash of who said what, independent of model, settings, and how texts were split into parts."""
    turns: list[tuple[str, list[str], list[str]]] = []
    for message in messages:
        if not turns or turns[-1][0] != message.role:
            turns.append((message.role, [], []))
        for part in message.parts:
            if isinstance(part, str):
                turns[-1][1].append(part)
            else:
                turns[-1][2].append(hashlib.sha256(part.data).hexdigest())
    return content_hash([[role, "\n".join(texts), images] for role, texts, images in turns])


class Script:
    def __init__(self, acts: Iterable[Act | str] | Author) -> None:
        self._write = acts if callable(acts) else None
        self._acts = [] if callable(acts) else [_act(item) for item in acts]
        self._used = [0] * len(self._acts)

    @classmethod
    def load(cls, path: Path) -> "Script":
        """A JSON list of acts, or one act per line."""
        try:
            text = read_regular(path).decode()
            lines = json.loads(text) if text.lstrip().startswith("[") else map(json.loads, lines_of(text))
            return cls(Act.model_validate(line) for line in lines)
        except (ValidationError, ValueError, RecursionError) as error:
            raise InputError(f"{path} is not a script of model answers: {error}.") from None

    def next(self, messages: Sequence[Message]) -> Act:
        if [message.text for message in messages] == [ARE_YOU_THERE]:
            return Act(text="ready")  # The check before a run uses up no act.
        if self._write is not None:
            return _act(self._write(messages))
        key = talk_hash(messages)
        text = "\n".join(message.text for message in messages)
        fitting = [index for index, act in enumerate(self._acts) if self._fits(index, act, key, text)]
        if not fitting:
            return Act(status=400, text=f"The script has no answer left for this question: …{text[-300:]}")
        # Recorded answers to the same question come in order, then start over.
        keyed = [index for index in fitting if self._acts[index].key]
        chosen = min(keyed, key=self._used.__getitem__) if keyed else fitting[0]
        self._used[chosen] += 1
        return self._acts[chosen]

    def _fits(self, index: int, act: Act, key: str, text: str) -> bool:
        limit = act.times if act.times is not None else (None if act.key else 1)
        left = limit is None or self._used[index] < limit
        return left and (not act.key or act.key == key) and act.match in text


def _act(item: Act | str) -> Act:
    return Act(text=item) if isinstance(item, str) else item


@dataclass
class ScriptedModel(Answering):
    """A model that follows a script. `asked` keeps every question, for tests to look at."""

    script: Script
    name: str = "scripted"
    asked: list[Question] = field(default_factory=list)

    @classmethod
    def of(cls, acts: Iterable[Act | str] | Author, name: str = "scripted") -> "ScriptedModel":
        return cls(Script(acts), name)

    async def answer(self, question: Question) -> Reply:
        self.asked.append(question)
        act = self.script.next(question.messages)
        await asyncio.sleep(act.delay)
        if act.broken or act.status in (408, 409, 425, 429) or act.status >= 500:
            raise Unavailable(act.text or f"{act.broken or act.status}", retry_after=act.retry_after)
        if act.status != 200:
            raise ModelError(act.text or f"status {act.status}")
        return Reply(act.text, _usage(act, question.messages), act.finish_reason)


class RecordedModel(ScriptedModel):
    """Answers from a file that `recording` wrote."""

    @classmethod
    def load(cls, path: Path) -> "RecordedModel":
        script = Script.load(path)
        # What the file says is part of the name, by which replies are cached: another file may be called the same.
        content = hashlib.sha256(read_regular(path)).hexdigest()[:12]
        return cls(script, name=f"recorded:{well_formed(path.name)}#{content}")


def recording(model: Model, path: Path) -> Model:
    """Every answer is also written to `path`, for `Recorded` and `webassay model replay`."""
    path.parent.mkdir(parents=True, exist_ok=True)

    async def ask(question: Question) -> Reply:
        reply = await question.put_to(model)
        key = talk_hash(question.messages)
        act = Act(key=key, text=reply.text, finish_reason=reply.finish_reason, usage=reply.usage)
        with path.open("a", encoding="utf-8") as file:
            file.write(act.model_dump_json(exclude_defaults=True) + "\n")
        return reply

    return model_of(model.name, ask, inner=model)


def _usage(act: Act, messages: Sequence[Message]) -> Usage:
    if act.usage is not None:
        return act.usage
    asked = sum(len(message.text) for message in messages)
    return Usage(calls=1, input_tokens=asked // 4, output_tokens=len(act.text) // 4)


# --- the endpoint ---------------------------------------------------------------------------------------


@dataclass
class ReplayServer:
    script: Script
    url: str
    """The base URL for a client, ending in /v1."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The body of every question; without headers, and so without keys."""

    async def answer(self, request: Request) -> "Response | _Dying":
        try:
            body = await request.json()
            messages = [_read_message(message) for message in body["messages"]]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            return JSONResponse({"error": {"message": f"Cannot read the question: {error!r}"[:500]}}, 400)
        self.asked.append(body)
        act = self.script.next(messages)
        await asyncio.sleep(act.delay)
        if act.status != 200:
            headers = {} if act.retry_after is None else {"retry-after": f"{act.retry_after:g}"}
            return JSONResponse({"error": {"message": act.text or "scripted", "code": act.status}}, act.status, headers)
        if act.broken == "invalid":
            return Response('{"choices": [{"mess', media_type="application/json")
        streamed = bool(body.get("stream"))
        content = "".join(_chunks(act, body, messages)) if streamed else json.dumps(_completion(act, body, messages))
        kind = "text/event-stream" if streamed else "application/json"
        if act.broken == "cut":
            return _Dying(content.encode("utf-8"), kind)
        return Response(content, media_type=kind)


@dataclass
class _Dying:
    """Announces the whole body, sends half of it, and drops the connection."""

    body: bytes
    media_type: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-length", str(len(self.body)).encode()), (b"content-type", self.media_type.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self.body[: len(self.body) // 2], "more_body": True})


def _read_message(message: Mapping[str, Any]) -> Message:
    role: Literal["system", "user", "assistant"] = "user"
    if message["role"] in ("system", "developer"):
        role = "system"
    elif message["role"] == "assistant":
        role = "assistant"
    content = message.get("content") or ""
    if isinstance(content, str):
        return Message(role, (content,))
    return Message(role, tuple(_read_part(part) for part in content))


def _read_part(part: Mapping[str, Any]) -> str | Image:
    if part["type"] == "text":
        return str(part["text"])
    head, _, data = part["image_url"]["url"].partition(";base64,")
    try:
        return Image(base64.b64decode(data, validate=True), head.removeprefix("data:"))
    except binascii.Error as error:
        raise ValueError(f"a picture that is not base64: {error}") from None


def _completion(act: Act, body: Mapping[str, Any], messages: Sequence[Message]) -> dict[str, Any]:
    usage = _usage(act, messages)
    message = {"role": "assistant", "content": act.text}
    return {
        "id": "replay",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model", "replay"),
        "choices": [{"index": 0, "message": message, "finish_reason": act.finish_reason}],
        "usage": _openai_usage(usage),
    }


def _openai_usage(usage: Usage) -> dict[str, int]:
    total = usage.input_tokens + usage.output_tokens
    return {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens, "total_tokens": total}


def _chunks(act: Act, body: Mapping[str, Any], messages: Sequence[Message]) -> Iterator[str]:
    def event(delta: dict[str, Any], finish: str | None = None, **rest: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "replay", "object": "chat.completion.chunk", "created": 0, "model": body.get("model", "replay")}
        return f"data: {json.dumps({**chunk, 'choices': [choice], **rest})}\n\n"

    yield event({"role": "assistant", "content": ""})
    for start in range(0, len(act.text), 24):
        yield event({"content": act.text[start : start + 24]})
    yield event({}, act.finish_reason, usage=_openai_usage(_usage(act, messages)))
    yield "data: [DONE]\n\n"


_OURSELVES = ("127.0.0.1", "localhost", "[::1]")


def only_programs_here(app: ASGIApp) -> ASGIApp:
    """Refuses what a page of some website sends: such a request names where it comes from, or another host. Programs on
    this machine do neither."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
        host = headers.get(b"host", "")
        if host.rpartition(":")[0] not in _OURSELVES and host not in _OURSELVES:
            reason = f"This endpoint answers as 127.0.0.1 and localhost, not as {host[:100]!r}."
        elif b"origin" in headers:
            reason = "This endpoint answers programs, not pages in a browser."
        else:
            await app(scope, receive, send)
            return
        await JSONResponse({"error": {"message": reason}}, 403)(scope, receive, send)

    return guarded


class _QuietServer(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ctrl-C is for the process, not for this server."""
        yield


@contextlib.asynccontextmanager
async def replaying(script: Script, *, port: int = 0) -> AsyncIterator[ReplayServer]:
    """Serves the script on loopback until the block ends; port 0 takes a free one."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen()  # from here on no client is refused, even before the server runs
    except OSError as error:
        listening.close()
        raise InputError(f"Port {port} cannot be used: {error.strerror}.", hint="Choose another port.") from None
    server = ReplayServer(script, f"http://127.0.0.1:{listening.getsockname()[1]}/v1")

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "replay", "object": "model"}]})

    routes = [
        Route("/v1/chat/completions", server.answer, methods=["POST"]),
        Route("/v1/models", models),
    ]
    app = only_programs_here(Starlette(routes=routes))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none")
    runner = _QuietServer(config)
    task = asyncio.create_task(runner.serve(sockets=[listening]))
    try:
        yield server
    finally:
        runner.should_exit = True
        runner.force_exit = True
        await task
        listening.close()
