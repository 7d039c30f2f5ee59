"""browser-use as an agent, in an environment of its own:

python3 -m venv .venv-browser-use && .venv-browser-use/bin/pip install browser-use
webassay run --agent-cmd "browser-use=.venv-browser-use/bin/python examples/browser_use_agent.py" \
    --agent-env OPENAI_API_KEY --agent-env OPENAI_BASE_URL --agent-env MODEL
"""

import asyncio
import json
import os
import sys

# Standard output is for the answer alone.
os.environ |= {"BROWSER_USE_SETUP_LOGGING": "false", "ANONYMIZED_TELEMETRY": "false"}

from browser_use import Agent, BrowserSession, ChatOpenAI


async def main() -> None:
    task = json.load(sys.stdin)
    agent = Agent(
        task=f"{task['instruction']}\n\n{task['goal']['protocol']['instructions']}",
        llm=ChatOpenAI(model=os.environ.get("MODEL", "gpt-5-mini"), base_url=os.environ.get("OPENAI_BASE_URL")),
        browser_session=BrowserSession(cdp_url=task["cdp"]),
        use_judge=False,
    )
    history = await agent.run(max_steps=task["goal"]["max_steps"])
    print(history.final_result() or "report_infeasible('browser-use came to no answer.', 'UNKNOWN_ERROR')")


asyncio.run(main())
