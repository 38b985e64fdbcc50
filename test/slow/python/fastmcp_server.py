"""A server as people write them with the Python SDK: FastMCP of its version 1, MCPServer of its version 2."""

from pydantic import BaseModel, Field

try:
    from mcp.server.fastmcp import Context, FastMCP
except ImportError:
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver import MCPServer as FastMCP

server = FastMCP("python-fixture", instructions="Adds, greets and counts.")


class Person(BaseModel):
    name: str = Field(description="First name")
    age: int | None = None


@server.tool()
def add(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def greet(person: Person, polite: bool = False) -> dict[str, str]:
    """Greets a person."""
    return {"greeting": f"{'Good day' if polite else 'Hi'}, {person.name}"}


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("this tool always fails")


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Counts, with progress."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps)
    return f"counted to {steps}"


@server.resource("note://hello")
def hello() -> str:
    """A note."""
    return "hello from Python"


@server.prompt()
def ask(topic: str) -> str:
    """Asks about a topic."""
    return f"What is {topic}?"


server.run(transport="stdio")
