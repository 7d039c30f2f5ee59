"""Your own model in one flag: PYTHONPATH=examples webassay run --agent generic --model python:own_model:Parrot"""

from webassay.llm.client import Reply


class Parrot:
    name = "parrot"

    async def ask(self, messages, **wishes):
        return Reply("<action>send_msg_to_user('I have seen the page.')</action>")
