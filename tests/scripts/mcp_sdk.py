"""The Python MCP SDK and fastmcp against the server: lists the tools and completes calls in every mode.

Usage: mcp_sdk.py PROGRAM TRACE. Prints one line a client: its name, the number of tools, the verdict of the trace.
"""

import asyncio
import sys

PROGRAM, TRACE = sys.argv[1:3]


async def sdk():
    from mcp import Client, StdioServerParameters

    for mode in ("auto", "legacy", "2026-07-28"):
        async with Client(StdioServerParameters(command=PROGRAM, args=["mcp"]), mode=mode) as client:
            tools = await client.list_tools()
            answer = await client.call_tool("perfxpert_agent_root", {"database_path": TRACE})
            refused = await client.call_tool("perfxpert_arch_lookup_peaks", {"gfx_id": "gfx9999"})
            assert not answer.is_error and refused.is_error
            assert refused.structured_content["error"]["kind"] == "unknown_name"
            print(f"mcp {mode}", len(tools.tools), answer.structured_content["primary_bottleneck"])


async def fast():
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async with Client(StdioTransport(command=PROGRAM, args=["mcp", "--tool-names", "bare"])) as client:
        tools = await client.list_tools()
        answer = await client.call_tool("agent_root", {"database_path": TRACE})
        print("fastmcp", len(tools), answer.structured_content["primary_bottleneck"])


asyncio.run(sdk())
asyncio.run(fast())
