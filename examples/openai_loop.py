"""A loop around any OpenAI-compatible endpoint, without a framework:

MODEL=gpt-5-mini webassay run --agent examples/openai_loop.py:Loop \
    --agent-env MODEL --agent-env OPENAI_API_KEY --agent-env OPENAI_BASE_URL
"""

import asyncio
import json
import os
import urllib.request

RULES = """You use a web browser. Reply with one action and nothing else: click('12'), fill('12', 'text'),
select_option('12', 'label'), press('12', 'Enter'), scroll(0, 600), goto('URL'), go_back(), send_msg_to_user('answer'),
or report_infeasible('why', 'NOT_FOUND_ERROR'). Numbers are the ids in brackets."""


class Loop:
    name, wants = f"loop-{os.environ.get('MODEL')}", ("pruned",)

    async def start(self, goal):
        task = f"{goal.instruction}\n\nHow to answer: {goal.protocol.instructions}"
        self.messages = [{"role": "system", "content": RULES}, {"role": "user", "content": task}]

    async def decide(self, page):
        seen = f"{page.url}\n{page.last_error}\n{page.pruned}"
        reply = await asyncio.to_thread(ask, [*self.messages, {"role": "user", "content": seen}])
        self.messages.append({"role": "assistant", "content": reply})
        return reply


def ask(messages):
    address = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    body = json.dumps({"model": os.environ.get("MODEL"), "messages": messages}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY')}"}
    request = urllib.request.Request(f"{address}/chat/completions", body, headers)
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)["choices"][0]["message"]["content"]
