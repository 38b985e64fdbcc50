"""Uses the gateway as a client of the Python SDK does. argv: URL and token, or `stdio` and a command. stdout: what it saw, as JSON."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


@asynccontextmanager
async def over_http(url, token):
    headers = {"Authorization": f"Bearer {token}"}
    try:
        from mcp.client.streamable_http import streamablehttp_client
    except ImportError:  # Version 2 takes an HTTP client instead of headers.
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(headers=headers, timeout=30) as http, streamable_http_client(url, http_client=http) as streams:
            yield streams
    else:
        async with streamablehttp_client(url, headers=headers) as streams:
            yield streams


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main(first, *rest):
    opened = stdio_client(StdioServerParameters(command=rest[0], args=list(rest[1:]))) if first == "stdio" else over_http(first, *rest)
    progress = []

    async def on_progress(done, total, message):
        progress.append(done)

    async with opened as streams, ClientSession(streams[0], streams[1]) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        echo = await session.call_tool("echo", {"message": "日本 🎉"})
        slow = await session.call_tool("trigger-long-running-operation", {"duration": 0.3, "steps": 3}, progress_callback=on_progress)
        try:
            unknown = plain(await session.call_tool("no-such-tool", {}))
        except Exception as error:
            unknown = str(error)
        resources = (await session.list_resources()).resources
        read = await session.read_resource(resources[0].uri)
        prompts = (await session.list_prompts()).prompts
        prompt = await session.get_prompt("simple-prompt")
    json.dump(
        {
            "server": plain(hello)["serverInfo"]["name"],
            "protocol": plain(hello)["protocolVersion"],
            "tools": [tool.name for tool in tools],
            "echo": plain(echo),
            "slow": plain(slow),
            "progress": progress,
            "unknown": unknown,
            "resource": plain(read)["contents"][0],
            "prompts": [prompt.name for prompt in prompts],
            "messages": len(prompt.messages),
        },
        sys.stdout,
    )


asyncio.run(main(*sys.argv[1:]))
