"""`stepwright mcp` answers what its commands answer, and takes what they take. Runs in the root of
the repository; STEPWRIGHT_COMMAND names the command."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path.cwd()
COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
PLAN = str(ROOT / "examples/llama-3-70b.plan.yaml")
JOB = {
    "stepwright": "job/2",
    "model": "llama-3-8b",
    "cluster": {"profile": "dgx-h100", "nodes": 1},
    "batch": {"sequences": 64, "length": 4096},
}
# Schemas of commands that start programs, or write for programs: they are no tools.
NO_TOOLS = {
    "capture",
    "checkpoint-convert",
    "checkpoint-show",
    "checkpoint-verify",
    "completion",
    "doctor",
    "export-mscclpp",
    "lab-check",
    "lab-clean",
    "lab-profile",
    "lab-run",
}


def talk(*requests, folder=ROOT):
    """The replies to requests of (method, parameters), in their order."""
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        for number, (method, parameters) in enumerate(requests)
    ]
    done = subprocess.run(
        [COMMAND, "mcp"],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
        check=True,
    )
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["id"] for reply in replies] == list(range(len(requests))), done.stderr
    return replies


def call(name, folder=ROOT, **arguments):
    """The result of one call of a tool."""
    (reply,) = talk(("tools/call", {"name": name, "arguments": arguments}), folder=folder)
    return reply["result"]


def text_of(result):
    return result["content"][0]["text"]


def answer(*words, code=0):
    """What the command prints with --json."""
    done = subprocess.run([COMMAND, *words, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def fault(*words):
    """The message of a command that fails."""
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)
    assert done.returncode != 0, words
    return done.stderr.removeprefix("stepwright: error: ").strip()


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        (reply,) = talk(("tools/list", {}))
        cls.tools = {tool["name"]: tool for tool in reply["result"]["tools"]}

    def test_there_is_one_for_each_answer_in_json(self):
        schemas = {path.stem for path in (ROOT / "docs/schemas").glob("*.json")} - NO_TOOLS
        commands = {schema for schema in schemas if schema in self.tools}
        below = {schema.split("-")[0] for schema in schemas - commands}
        self.assertEqual(commands | below | {"export"}, set(self.tools))

    def test_output_schemas_are_those_of_the_documents(self):
        memory = json.loads((ROOT / "docs/schemas/memory.json").read_text())
        self.assertEqual(self.tools["memory"]["outputSchema"], memory)
        for tool in self.tools.values():
            if tool["name"] != "export":
                self.assertEqual(tool["outputSchema"]["type"], "object", tool["name"])

    def test_arguments_are_the_options(self):
        for name, tool in self.tools.items():
            help_text = subprocess.run(
                [COMMAND, name, "--help"], capture_output=True, text=True, check=True
            ).stdout
            for key, schema in tool["inputSchema"]["properties"].items():
                option = f"--{key.replace('_', '-')}"
                position = any(f"{word} " in help_text for word in (key.upper(), key.upper()[:-1]))
                self.assertTrue(option in help_text or position, f"{name}: {key}")
                self.assertTrue(schema["description"], f"{name}: {key}")

    def test_types_of_arguments(self):
        properties = self.tools["tune"]["inputSchema"]["properties"]
        self.assertEqual(properties["top"]["type"], "integer")
        self.assertEqual(properties["top"]["minimum"], 1)
        self.assertEqual(properties["exhaustive"]["type"], "boolean")
        self.assertIn("megatron-core", properties["framework"]["enum"])
        self.assertEqual(properties["job"]["type"], ["string", "object"])
        self.assertEqual(self.tools["tune"]["inputSchema"]["required"], ["job"])
        check = self.tools["check"]["inputSchema"]
        self.assertEqual(check["properties"]["files"]["type"], "array")
        self.assertEqual(check["properties"]["set"]["type"], "array")

    def test_none_runs_a_script(self):
        self.assertFalse({"capture", "doctor", "train", "sample", "lab"} & set(self.tools))
        for tool in self.tools.values():
            self.assertFalse({"capture", "only_launchers"} & set(tool["inputSchema"]["properties"]))


class Calls(unittest.TestCase):
    def test_the_whole_answer_is_that_of_the_command(self):
        whole = answer("predict", PLAN, "--set", "cluster.nic=2x", "--set", "micro_batch=2")
        result = call("predict", plan=PLAN, set=["cluster.nic=2x", "micro_batch=2"])
        self.assertEqual(result["structuredContent"], whole)
        self.assertFalse(result["isError"])

    def test_the_text_is_short_and_has_the_main_figures(self):
        result = call("predict", plan=PLAN)
        self.assertLess(len(text_of(result)), 3500)
        whole = result["structuredContent"]
        for key in ("step_time_s", "verdict", "p_fits", "low_s", "high_s"):
            self.assertIn(f'"{key}":{json.dumps(whole[key])}', text_of(result))

    def test_a_list_stands_under_a_key(self):
        result = call("list", what="models")
        self.assertEqual(result["structuredContent"], {"list": answer("list", "models")})

    def test_jobs_and_plans_can_stand_in_the_call(self):
        tuned = call("tune", job=JOB, top=1)["structuredContent"]
        plan = tuned["plans"][0]["plan"]
        predicted = call("predict", plan=plan)["structuredContent"]
        self.assertEqual(predicted["step_time_s"], tuned["plans"][0]["step_time_s"])
        memory = call("memory", plan=plan)["structuredContent"]
        self.assertEqual(memory["peak_memory_bytes"], predicted["peak_memory_bytes"])

    def test_a_file_is_written_where_the_call_says(self):
        with tempfile.TemporaryDirectory() as folder:
            result = call("tune", folder=folder, job=JOB, top=1, output="plan.yaml")
            self.assertIn("wrote the best plan to plan.yaml", text_of(result))
            script = call("export", folder=folder, to="megatron", plan="plan.yaml", nearest=True)
            self.assertIn("pretrain_gpt.py", text_of(script))
            self.assertNotIn("structuredContent", script)

    def test_an_answer_that_is_no_comes_with_its_document(self):
        job = JOB | {"model": "llama-3-70b", "search": {"tensor": 1, "pipeline": 1}}
        result = call("tune", job=job)
        self.assertFalse(result["isError"])
        self.assertEqual(result["structuredContent"]["plans"][0]["verdict"], "does_not_fit")
        self.assertTrue(
            text_of(result).splitlines()[0].endswith("(--memory-reserve)")
            or "memory" in text_of(result).splitlines()[0]
        )

    def test_errors_are_the_words_of_the_command(self):
        for arguments, words in (
            ({"plan": "none.yaml"}, ["predict", "none.yaml"]),
            ({"plan": PLAN, "set": ["micro_batch=0"]}, ["predict", PLAN, "--set", "micro_batch=0"]),
            ({}, ["predict"]),
        ):
            with self.subTest(words):
                result = call("predict", **arguments)
                self.assertTrue(result["isError"])
                self.assertEqual(text_of(result).strip(), fault(*words))
                self.assertNotIn("structuredContent", result)

    def test_wrong_arguments_are_named(self):
        for arguments, words in (
            ({"plam": PLAN}, "plam: predict has no such argument; did you mean 'plan'?"),
            ({"plan": [PLAN, PLAN]}, "plan: must be one value, not a list"),
            ({"plan": PLAN, "set": {"micro_batch": 2}}, "set: must be a text or a number"),
            ({"plan": "a\0b"}, "plan: holds a NUL"),
            ({"plan": PLAN, "json": True}, "json: predict has no such argument"),
        ):
            with self.subTest(words):
                result = call("predict", **arguments)
                self.assertTrue(result["isError"])
                self.assertIn(words, text_of(result))
        flag = call("traffic", plan=PLAN, links="yes")
        self.assertIn("links: must be true or false", text_of(flag))

    def test_no_value_becomes_an_option(self):
        for plan in ("--help", "--version", "--json"):
            result = call("predict", plan=plan)
            self.assertTrue(result["isError"], plan)
            self.assertIn(plan, text_of(result))

    def test_the_protocols_streams_are_no_files_of_a_call(self):
        first, second = talk(
            ("tools/call", {"name": "predict", "arguments": {"plan": "/dev/stdin"}}),
            ("tools/call", {"name": "explain", "arguments": {"codes": ["tp8"]}}),
        )
        self.assertTrue(first["result"]["isError"])
        self.assertFalse(second["result"]["isError"])


if __name__ == "__main__":
    unittest.main()
