"""A whole turn with LiteLLM: the gateway's tools to a provider, its calls to the control API, the answers back. argv: provider URL, host, token."""

import json
import os
import sys
import urllib.request

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

provider, host, token = sys.argv[1:]
litellm.suppress_debug_info = True


def api(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(host + path, data, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


tools = api("/api/tools?format=litellm")
messages = [{"role": "user", "content": "Say hello."}]
for _ in range(5):
    answer = litellm.completion(model="openai/fake", api_base=provider + "/v1", api_key="unused", messages=messages, tools=tools, timeout=30, num_retries=0)
    message = answer.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    calls = [call.model_dump(exclude_none=True) for call in message.tool_calls]
    messages.extend(api("/api/tool-calls", {"session": "litellm", "tool_calls": calls})["messages"])

json.dump({"tools": len(tools), "roles": [m["role"] for m in messages], "answer": messages[-1]["content"]}, sys.stdout)
