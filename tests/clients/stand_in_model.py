"""A stand-in for a language model on loopback, so that real agents can be tested without an account.

`with StandIn(decide) as model:` serves the wire formats of the agents: Anthropic's Messages, OpenAI's Responses and Chat
Completions, and Gemini's generateContent. For each request `decide(talk)` says what the model "answers": a text, or a `Call` of one of the
tools that the agent offers. What was sent stands in `model.talks`. Nothing is ever asked of a real model.
"""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Call:
    """One tool call: the tool's name as the agent offers it, and its arguments."""

    tool: str
    arguments: dict


@dataclass
class Talk:
    """One request. text: all that the model is told (system, user), in order. results: of the tools called so far. tools: those offered."""

    path: str
    text: str = ""
    results: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)


Answer = str | Call


def texts(value: object) -> Iterator[str]:
    """Every string under a key `text`, `content`, `output` or `instructions`, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for entry in value:
            yield from texts(entry)
    elif isinstance(value, dict):
        for key in ("instructions", "text", "content", "parts", "output"):
            if key in value:
                yield from texts(value[key])


def together(*values: object) -> str:
    return "\n".join(part for value in values for part in texts(value))


class Messages:
    """Anthropic's Messages."""

    @staticmethod
    def read(path: str, body: dict) -> Talk:
        talk = Talk(path, together(body.get("system")), tools=[tool.get("name", "") for tool in body.get("tools", ())])
        for message in body.get("messages", ()):
            for part in message["content"] if isinstance(message["content"], list) else [message["content"]]:
                if isinstance(part, dict) and part.get("type") == "tool_result":
                    talk.results.append(together(part))
                elif message["role"] != "assistant":
                    talk.text += "\n" + together(part)
        return talk

    @staticmethod
    def write(answer: Answer, number: int, body: dict) -> tuple[str, list[tuple[str, dict]]]:
        call = isinstance(answer, Call)
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": answer.tool, "input": {}} if call else {"type": "text", "text": ""}
        delta = ({"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)} if call else {"type": "text_delta", "text": answer})
        usage = {"input_tokens": 1, "output_tokens": 1}
        start = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model"), "content": [], "stop_reason": None,
                 "stop_sequence": None, "usage": usage}
        reason = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        if not body.get("stream"):
            whole = {**block, "input": answer.arguments} if call else {**block, "text": answer}
            return "application/json", [("", {**start, **reason, "content": [whole]})]
        events = [{"type": "message_start", "message": start}, {"type": "content_block_start", "index": 0, "content_block": block},
                  {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": reason, "usage": usage}, {"type": "message_stop"}]
        return "text/event-stream", [(event["type"], event) for event in events]


class Responses:
    """OpenAI's Responses."""

    @staticmethod
    def read(path: str, body: dict) -> Talk:
        talk = Talk(path, together(body.get("instructions")), tools=[tool.get("name") or tool.get("type", "") for tool in body.get("tools", ())])
        for entry in body.get("input", ()):
            if entry.get("type", "").endswith("_call_output"):
                talk.results.append(together(entry))
            elif entry.get("role") in ("user", "developer", "system"):
                talk.text += "\n" + together(entry)
        return talk

    @staticmethod
    def write(answer: Answer, number: int, body: dict) -> tuple[str, list[tuple[str, dict]]]:
        if isinstance(answer, Call):
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": answer.tool,
                    "arguments": json.dumps(answer.arguments), "status": "completed"}
        else:
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": answer, "annotations": []}]}
        whole = {"id": f"resp_{number}", "object": "response", "status": "completed", "model": body.get("model"), "output": [item],
                 "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0},
                           "output_tokens_details": {"reasoning_tokens": 0}}}
        events = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
                  {"type": "response.output_item.added", "output_index": 0, "item": item},
                  {"type": "response.output_item.done", "output_index": 0, "item": item}, {"type": "response.completed", "response": whole}]
        return "text/event-stream", [(event["type"], event) for event in events]


class Chat:
    """OpenAI's Chat Completions."""

    @staticmethod
    def read(path: str, body: dict) -> Talk:
        messages = body.get("messages", ())
        return Talk(path, together([m.get("content") or "" for m in messages if m["role"] in ("system", "developer", "user")]),
                    [together(m.get("content") or "") for m in messages if m["role"] == "tool"],
                    [tool[tool["type"]]["name"] for tool in body.get("tools", ())])  # of type "function" or "custom"

    @staticmethod
    def write(answer: Answer, number: int, body: dict) -> tuple[str, list[tuple[str, dict]]]:
        call = isinstance(answer, Call)
        delta = {"role": "assistant", "content": None if call else answer}
        if call:
            delta["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function",
                                    "function": {"name": answer.tool, "arguments": json.dumps(answer.arguments)}}]
        head = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 0, "model": body.get("model")}
        reason = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not body.get("stream"):
            return "application/json", [("", {**head, "object": "chat.completion", "usage": usage,
                                              "choices": [{"index": 0, "message": delta, "finish_reason": reason}]})]
        return "text/event-stream", [("", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
                                     ("", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage})]


class Gemini:
    """Gemini's generateContent."""

    @staticmethod
    def read(path: str, body: dict) -> Talk:
        talk = Talk(path, together(body.get("systemInstruction")),
                    tools=[one["name"] for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())])
        for content in body.get("contents", ()):
            for part in content.get("parts", ()):
                if "functionResponse" in part:
                    talk.results.append(json.dumps(part["functionResponse"].get("response"), ensure_ascii=False))
                elif content.get("role") == "user":
                    talk.text += "\n" + together(part)
        return talk

    @staticmethod
    def write(answer: Answer, number: int, body: dict) -> tuple[str, list[tuple[str, dict]]]:
        part = {"functionCall": {"name": answer.tool, "args": answer.arguments}} if isinstance(answer, Call) else {"text": answer}
        whole = {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
                 "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        return "text/event-stream", [("", whole)]


def format_of(path: str) -> type | None:
    place = path.partition("?")[0]
    for end, kind in (("/messages", Messages), ("/responses", Responses), ("/chat/completions", Chat), (":streamGenerateContent", Gemini),
                      (":generateContent", Gemini)):
        if place.endswith(end):
            return kind
    return None


class StandIn:
    """`decide` is asked for the answer to each request; every request is kept in `talks`."""

    def __init__(self, decide: Callable[[Talk], Answer]):
        self.decide, self.talks, self.faults = decide, [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *unused) -> None:
                pass

            def reply(self, code: int, kind: str, data: bytes) -> None:
                self.send_response(code)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def do_GET(self) -> None:
                self.reply(404, "application/json", b"{}")

            do_HEAD = do_GET

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                kind = format_of(self.path)
                if kind is None:
                    count = self.path.partition("?")[0].endswith(("count_tokens", ":countTokens"))
                    return self.reply(200 if count else 404, "application/json", b'{"input_tokens": 1, "totalTokens": 1}' if count else b"{}")
                try:
                    self.answer(kind, json.loads(raw))
                except Exception as problem:  # told to the test: an agent would only try again
                    outer.faults.append(f"{self.path}: {problem!r}")
                    self.reply(400, "application/json", b'{"type": "error", "error": {"type": "invalid_request_error", "message": "stand-in"}}')

            def answer(self, kind: type, body: dict) -> None:
                talk = kind.read(self.path, body)
                outer.talks.append(talk)
                form, events = kind.write(outer.decide(talk), len(outer.talks), body)
                plain = form == "application/json" or kind is Gemini and "alt=sse" not in self.path
                if plain:
                    return self.reply(200, "application/json", json.dumps(events[0][1]).encode())
                lines = [(f"event: {name}\n" if name else "") + f"data: {json.dumps(event)}\n\n" for name, event in events]
                self.reply(200, form, ("".join(lines) + ("data: [DONE]\n\n" if kind is Chat else "")).encode())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> StandIn:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *unused) -> None:
        self.server.shutdown()
        self.server.server_close()
