"""The protocol's own client package (`mcp` of PyPI) talks with `stepwright mcp`, in the current
revision and by the handshake of older ones. Without the package the test is skipped and says so."""

import asyncio
import os
import sys
import unittest
from pathlib import Path

try:
    from mcp import StdioServerParameters
    from mcp.client import Client
    from mcp.client.stdio import stdio_client
    from mcp.types.version import LATEST_HANDSHAKE_VERSION, LATEST_PROTOCOL_VERSION
except ImportError:
    print("skipped: .venv/agents has no mcp (tools/setup.sh test)")
    sys.exit(77)

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
PLAN = "examples/llama-3-70b.plan.yaml"
CALLS = [
    ("predict", {"plan": PLAN, "set": ["cluster.nic=2x"]}),
    ("memory", {"plan": PLAN}),
    ("traffic", {"plan": PLAN, "links": True}),
    ("explain", {"codes": ["tp8+sp", "pp4x5", "dp2", "mb1"]}),
    ("tune", {"job": "examples/inline-model.yaml", "top": 3}),
    ("run", {"file": PLAN, "tokens": 1e12}),
    ("phases", {"file": "examples/grpo.yaml"}),
    ("check", {"files": ["examples/llama-3-70b.megatron.sh"], "cluster": "dgx-h100"}),
    ("import", {"files": ["examples/llama-3-70b.megatron.sh"], "cluster": "dgx-h100"}),
    ("diagnose", {"files": ["tests/diagnose/data/exception/log.txt"]}),
    ("list", {"what": "profiles"}),
    ("study", {"what": "utilization", "job": PLAN}),
    ("export", {"to": "megatron", "plan": PLAN}),
    ("init", {"model": "llama-3-8b", "cluster": "dgx-h100", "gpus": "8", "batch": "64x4096"}),
]


class Clients(unittest.TestCase):
    def talk(self, mode, work):
        """Runs a coroutine with a client that is connected in a mode."""

        async def run():
            server = StdioServerParameters(command=str(COMMAND), args=["mcp"], cwd=str(Path.cwd()))
            async with Client(stdio_client(server), mode=mode) as client:
                return await work(client)

        return asyncio.run(asyncio.wait_for(run(), 300))

    def test_the_current_revision_is_spoken(self):
        async def work(client):
            return client.protocol_version, client.server_info

        version, server = self.talk("auto", work)
        self.assertEqual(version, LATEST_PROTOCOL_VERSION)
        self.assertEqual(server.name, "stepwright")

    def test_older_clients_begin_with_the_handshake(self):
        async def work(client):
            return client.protocol_version, await client.list_tools()

        version, listed = self.talk("legacy", work)
        self.assertEqual(version, LATEST_HANDSHAKE_VERSION)
        self.assertIn("tune", [tool.name for tool in listed.tools])

    def test_answers_have_the_form_of_their_schemas(self):
        """The client holds each structured answer against the schema of its tool."""

        async def work(client):
            await client.list_tools()
            for name, arguments in CALLS:
                with self.subTest(name):
                    result = await client.call_tool(name, arguments)
                    self.assertFalse(result.is_error, result.content)
                    self.assertEqual(result.structured_content is None, name == "export")
                    self.assertTrue(result.content[0].text)

        for mode in ("auto", "legacy"):
            with self.subTest(mode):
                self.talk(mode, work)

    def test_an_error_of_a_tool_is_an_answer(self):
        async def work(client):
            return await client.call_tool("predict", {"plan": "none.yaml"})

        result = self.talk("auto", work)
        self.assertTrue(result.is_error)
        self.assertIn("none.yaml", result.content[0].text)


if __name__ == "__main__":
    unittest.main()
