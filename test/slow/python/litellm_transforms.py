"""Runs tools through LiteLLM's request transformations. stdin: {"set": [tool, ...]}; stdout: {provider: {tools, properties, problems}}."""

import copy
import importlib.metadata
import json
import os
import sys

# The price list that ships with the package; nothing is fetched.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from litellm.llms.anthropic.chat.transformation import AnthropicConfig
from litellm.llms.bedrock.chat.converse_transformation import AmazonConverseConfig
from litellm.llms.openai.chat.gpt_transformation import OpenAIGPTConfig
from litellm.llms.vertex_ai.gemini.transformation import _transform_request_body
from litellm.utils import get_optional_params

MESSAGES = [{"role": "user", "content": "hello"}]


def config(provider, model, cls):
    """A provider whose configuration class makes the request's body."""

    def body(tools):
        optional = get_optional_params(model=model, custom_llm_provider=provider, tools=tools)
        request = {"model": model, "messages": copy.deepcopy(MESSAGES), "optional_params": optional, "litellm_params": {}}
        if cls is AmazonConverseConfig:
            return cls()._transform_request(headers={}, **request)
        return cls().transform_request(headers={}, **request)

    return body


OPENAI = config("openai", "gpt-4.1", OpenAIGPTConfig)
ANTHROPIC = config("anthropic", "claude-sonnet-4-5", AnthropicConfig)
BEDROCK = config("bedrock", "anthropic.claude-3-5-sonnet-20240620-v1:0", AmazonConverseConfig)


def openai(tools):
    return [(t["function"]["name"], t["function"].get("description"), t["function"]["parameters"]) for t in OPENAI(tools)["tools"]]


def anthropic(tools):
    return [(t["name"], t.get("description"), t["input_schema"]) for t in ANTHROPIC(tools)["tools"]]


def bedrock(tools):
    specs = [t["toolSpec"] for t in BEDROCK(tools)["toolConfig"]["tools"]]
    return [(s["name"], s.get("description"), s["inputSchema"]["json"]) for s in specs]


def google(provider, model):
    """Gemini and Vertex have one transformation; Vertex would want a login before it says what it sends."""

    def transform(tools):
        optional = get_optional_params(model=model, custom_llm_provider=provider, tools=tools)
        body = _transform_request_body(
            messages=copy.deepcopy(MESSAGES), model=model, optional_params=optional, custom_llm_provider=provider, litellm_params={}, cached_content=None
        )
        declared = [d for t in body["tools"] for d in t.get("function_declarations", t.get("functionDeclarations", []))]
        return [(d["name"], d.get("description"), d.get("parameters", d.get("parametersJsonSchema"))) for d in declared]

    return transform


PROVIDERS = {
    "openai": openai,
    "anthropic": anthropic,
    "gemini": google("gemini", "gemini-2.5-flash"),
    "bedrock": bedrock,
    "vertex_ai": google("vertex_ai", "gemini-2.5-flash"),
}


def properties(schema, path=""):
    """Every property under a schema, by its path: type-only differences of the providers do not matter, a lost property does."""
    found = {}
    if not isinstance(schema, dict):
        return found
    for name, child in (schema.get("properties") or {}).items():
        found[f"{path}/{name}"] = child
        found.update(properties(child, f"{path}/{name}"))
    items = schema.get("items")
    if isinstance(items, dict):
        found.update(properties(items, f"{path}/[]"))
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(key) or []:
            found.update(properties(branch, path))
    return found


def required(schema):
    return sorted(schema.get("required") or []) if isinstance(schema, dict) else []


def compare(tool, sent):
    name, description, schema = sent
    function = tool["function"]
    before, after = properties(function["parameters"]), properties(schema)
    problems = []
    if name != function["name"]:
        problems.append(f"is called {name}")
    if (description or "") != (function.get("description") or ""):
        problems.append("has another description")
    if lost := sorted(set(before) - set(after)):
        problems.append(f"lost {', '.join(lost)}")
    if required(schema) != required(function["parameters"]):
        problems.append(f"requires {required(schema)} instead of {required(function['parameters'])}")
    for path in set(before) & set(after):
        said = before[path].get("description") if isinstance(before[path], dict) else None
        if said and said not in json.dumps(after[path], ensure_ascii=False) and json.dumps(said)[1:-1] not in json.dumps(after[path]):
            problems.append(f"lost the description of {path}")
        values = before[path].get("enum") if isinstance(before[path], dict) else None
        if values and not set(map(json.dumps, values)) <= set(map(json.dumps, (after[path].get("enum") or values if "anyOf" in after[path] else after[path].get("enum") or []))):
            problems.append(f"lost values of {path}")
    return [f"{function['name']} {problem}" for problem in problems]


def check(transform, tools):
    """What goes wrong for these tools in one request; when all of them together fail, each is tried alone, to name it."""
    try:
        sent = transform(copy.deepcopy(tools))
    except Exception as error:  # Whatever it raises is the finding.
        if len(tools) == 1:
            return [f"{tools[0]['function']['name']}: {type(error).__name__}: {str(error)[:300]}"]
        return [problem for tool in tools for problem in check(transform, [tool])]
    if len(sent) != len(tools):
        return [f"{len(tools)} tools became {len(sent)}"]
    return [problem for tool, one in zip(tools, sent) for problem in compare(tool, one)]


def main():
    sets = json.load(sys.stdin)
    tools = [tool for group in sets.values() for tool in group]
    count = {"tools": len(tools), "properties": sum(len(properties(tool["function"]["parameters"])) for tool in tools)}
    problems = {
        name: [f"{label}: {problem}" for label, group in sets.items() for problem in check(transform, group)] for name, transform in PROVIDERS.items()
    }
    json.dump({"litellm": importlib.metadata.version("litellm"), **count, "problems": problems}, sys.stdout)


main()
