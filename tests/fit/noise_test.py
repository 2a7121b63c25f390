"""What `stepwright fit` writes can be read: times of pure noise are fitted, or refused by name.

Each case measures nothing but noise: a timer that is coarse or stands still, outliers, times that
do not depend on sizes, one sample, none, text that is no number. `fit` either ends with exit code 2
or 3 and a message that names the file and a reason, and writes nothing, or what it writes is
accepted by the command that reads it. STEPWRIGHT_COMMAND names the command.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from noisy_traces import (
    FIXED,
    PLAN,
    RANKS,
    UNREADABLE,
    Noise,
    beside_messages,
    changed,
    drawn,
    drawn_unreadable,
    is_usual,
    kernel_trace,
    noises,
    noises_of_traces,
    traces,
)

COMMAND = os.environ["STEPWRIGHT_COMMAND"]


class NoiseTest(unittest.TestCase):
    """Runs `fit` and what reads its answer, in a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_command(self, *words: str) -> subprocess.CompletedProcess:
        command = [COMMAND, *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def write(self, files: dict[str, str]) -> list[str]:
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        return list(files)

    def fitted(self, output: str, files: list[str], *options: str) -> bool:
        """Whether `fit` wrote its output; if not it names one of the files and says why."""
        path = self.folder / output
        path.unlink(missing_ok=True)
        done = self.run_command("fit", *options, "-o", output)
        if done.returncode == 0:
            self.assertTrue(path.is_file())
            return True
        self.assertIn(done.returncode, (2, 3), done.stderr)
        self.assertFalse(path.exists(), "it refuses and writes all the same")
        named = [file for file in files if file in done.stderr]
        self.assertTrue(named, f"it names none of {files}: {done.stderr}")
        said = done.stderr.replace("stepwright: error:", "").replace(named[0], "")
        self.assertGreater(len(said.split()), 2, f"it says no reason: {done.stderr}")
        return False

    def accepted(self, *words: str) -> dict:
        """The answer of a command that must read what was fitted."""
        done = self.run_command(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_measured(self, files: dict[str, str], *options: str) -> bool:
        """A profile of this cluster: refused, or read by `predict`, with finite numbers alone and
        no computation that takes no time. Returns whether it was fitted."""
        names = self.write(files)
        self.write({"plan.yaml": PLAN})
        if not self.fitted("measured.json", names, *names, *options):
            return False
        step_s = self.accepted("predict", "plan.yaml", "--set", "measured=measured.json")
        self.assertGreater(step_s["step_time_s"], 0)
        text = (self.folder / "measured.json").read_text(encoding="utf-8")
        self.assertNotIn("null", text)
        constants = {"start_us", "flops_per_s", "bytes_per_s"}
        for law in json.loads(text).get("computations", []):
            self.assertTrue(constants & law.keys(), f"a computation for nothing: {law}")
        return True


class Traces(NoiseTest):
    """`fit trace.* --plan PLAN`."""

    def check(self, ranks: list[dict] | list[str]) -> bool:
        texts = [text if isinstance(text, str) else json.dumps(text) for text in ranks]
        files = {f"trace.{rank}.json": text for rank, text in enumerate(texts)}
        return self.check_measured(files, "--plan", "plan.yaml")

    def test_of_noise(self):
        for name, noise in noises_of_traces().items():
            for steps in (1, 4):
                with self.subTest(name, steps=steps):
                    self.assertTrue(self.check(traces(noise, steps)) or not is_usual(name))

    def test_of_a_coarse_timer(self):
        for grain_us in (2, 16, 100, 1000):
            with self.subTest(grain_us=grain_us):
                self.check(traces(lambda time, grain=grain_us: grain * round(time / grain)))

    def test_of_noise_in_one_kind_of_event(self):
        for name in ("aten::mm", "aten::", "gloo:", "ProfilerStep", "Optimizer.step", "autograd"):
            for length in (0, -5, 1e-12, 3, 1e9, 1e13, 1e15, 1e300, "12", None):
                with self.subTest(name, length=length):
                    self.check(changed(lambda event, us=length: event.update(dur=us), name))

    def test_of_noise_in_one_event(self):
        for length in (0, -5, 1e9, 1e15, 1e300):
            ranks = traces(lambda time: time)
            products = [e for e in ranks[0]["traceEvents"] if e["name"] == "aten::mm"]
            products[len(products) // 2]["dur"] = length
            with self.subTest(length=length):
                self.check(ranks)

    def test_of_products_beside_messages(self):
        for alone_us, beside_us in ((2, 3), (0.2, 10), (0.01, 10), (0, 10), (10, 0.01), (10, 0)):
            with self.subTest(alone_us=alone_us, beside_us=beside_us):
                self.check(beside_messages(lambda _, us=alone_us: us, lambda _, us=beside_us: us))
        for times in (1.5, 99, 101, 1e6):
            with self.subTest(times=times):
                ranks = beside_messages(lambda us, f=times: us / f, lambda us: us)
                self.assertTrue(self.check(ranks))

    def test_of_numbers_that_are_none(self):
        for word in ("NaN", "Infinity", "-Infinity", "1e999", '"fast"', "[]", ""):
            for key in ("ts", "dur"):
                texts = []
                for trace in traces(lambda time: time):
                    trace["traceEvents"][20][key] = "here"
                    texts.append(json.dumps(trace).replace('"here"', word))
                with self.subTest(word, key=key):
                    self.check(texts)

    def test_that_hold_little_or_nothing(self):
        whole = json.dumps(traces(lambda time: time)[0])
        marks = traces(lambda time: time)[0]
        marks["traceEvents"] = [e for e in marks["traceEvents"] if e["cat"] != "cpu_op"]
        for name, text in (
            ("no byte", ""),
            ("no event", '{"traceEvents": []}'),
            ("no list", '{"traceEvents": null}'),
            ("no key", "{}"),
            ("no trace", "rows"),
            ("steps alone", json.dumps(marks)),
            ("cut in an event", whole[:3000]),
            ("cut at its end", whole[:-1]),
        ):
            with self.subTest(name):
                self.assertFalse(self.check([text] * RANKS))


class Tables(NoiseTest):
    """`fit TABLE`, of messages and computations of this cluster."""

    MESSAGES = (
        "library,operation,nodes,ranks_of_node,groups_of_node,payload_bytes,chunk_bytes,seconds"
    )
    COMPUTATIONS = "operator,phase,dtype,shape,flops,memory_bytes,seconds"
    OVERLAPS = (
        "link,operation,computation,payload_bytes,seconds_computation,seconds_message,"
        "seconds_together"
    )

    def check(self, header: str, rows: list[str]) -> bool:
        return self.check_measured({"samples.csv": "\n".join([header, *rows, ""])})

    def messages(self, library: str, noise: Noise, count: int) -> list[str]:
        """Rows of all-reduces; a schedule takes chunks, and several nodes."""
        nodes, chunk = (1, "") if library == "gloo" else (2, "65536")
        sizes = [10 ** (3 + i % 6) for i in range(count)]
        about = f"{library},all_reduce,{nodes},4,1"
        return [f"{about},{size},{chunk},{noise(1e-4 + 1e-9 * size)}" for size in sizes]

    def computations(self, noise: Noise, count: int) -> list[str]:
        rows = []
        for i in range(count):
            flops, size = 10 ** (5 + i % 6), 10 ** (4 + i % 5)
            seconds = noise(1e-5 + 1e-12 * flops + 1e-10 * size)
            rows.append(f"linear,forward,fp32,,{flops},{size},{seconds}")
        return rows

    def test_of_messages(self):
        for library in ("gloo", "ring", "ho-ring"):
            for name, noise in noises().items():
                for count in (1, 12):
                    with self.subTest(name, library=library, count=count):
                        rows = self.messages(library, noise, count)
                        self.assertTrue(self.check(self.MESSAGES, rows) or not is_usual(name))

    def test_of_computations(self):
        for name, noise in noises().items():
            for count in (1, 12):
                with self.subTest(name, count=count):
                    rows = self.computations(noise, count)
                    self.assertTrue(self.check(self.COMPUTATIONS, rows) or not is_usual(name))

    def test_of_overlap(self):
        for own, alone, together in (
            (1, 1, 50),
            (1, 1, 1.9899),
            (1, 1, 1e-9),
            (1e-300, 1e-300, 1e-300),
            (1e308, 1e308, 1e308),
        ):
            with self.subTest(together=together):
                self.check(self.OVERLAPS, [f"inside,all_gather,x,1e6,{own},{alone},{together}"])

    def test_of_times_that_are_none_are_refused(self):
        for word in ("nan", "inf", "-inf", "1e999", "0", "-1e-3", "", "fast"):
            with self.subTest(word):
                rows = self.messages("gloo", lambda time, word=word: word, 3)
                self.assertFalse(self.check(self.MESSAGES, rows))
                rows = self.computations(lambda time, word=word: word, 3)
                self.assertFalse(self.check(self.COMPUTATIONS, rows))

    def test_of_sizes_at_the_edge(self):
        for row in (
            "gloo,all_reduce,1,4,1,0.5,,1e-3",
            "gloo,all_reduce,1,4,1,1e19,,1e-3",
            "gloo,all_reduce,10000000,4,1,1e6,,1e-3",
            "gloo,all_reduce,1,10000000,1,1e6,,1e-3",
            "gloo,all_reduce,1,4,10000000,1e6,,1e-3",
            "gloo,all_reduce,1,1,1,1e6,,1e-3",
            "ring,all_reduce,2,4,1,1e6,0.5,1e-3",
            "ring,all_reduce,2,4,1,1e6,1e19,1e-3",
        ):
            with self.subTest(row):
                self.check(self.MESSAGES, [row])
        for row in (
            "linear,forward,fp32,,0,0,1e-3",
            "linear,forward,fp32,,1e-5,0,10",
            "linear,forward,fp32,,1e300,1e6,1e-3",
        ):
            with self.subTest(row):
                self.check(self.COMPUTATIONS, [row])

    def test_without_rows_are_refused(self):
        for header in (self.MESSAGES, self.COMPUTATIONS, self.OVERLAPS):
            with self.subTest(header):
                self.assertFalse(self.check(header, []))


class Devices(NoiseTest):
    """`fit TABLE` and `fit TRACE`, of operators of a device and of collectives of a machine."""

    def check(self, rows: list[str], *options: str) -> bool:
        """A profile: refused, or read by `validate`. Returns whether it was fitted."""
        names = self.write({"samples.csv": "\n".join([*rows, ""])})
        if not self.fitted("profile.json", names, *names, *options):
            return False
        self.accepted("validate", *names, "--profile", "profile.json")
        return True

    def products(self, noise: Noise) -> list[str]:
        """Rows of products and their gradients, at 400 TFLOP/s but for the noise."""
        rows = ["op,tp,batch,seq,hidden,heads,layers,fwd_us,bwd_us"]
        for hidden in (1024, 1536, 2048, 2560, 3072, 4096, 5120):
            for batch in (1, 2, 4, 8, 16, 32):
                time_us = 10 + 2e-5 * batch * hidden**2
                about = f"linear_mlp_up,1,{batch},1024,{hidden},{hidden // 128},1"
                rows.append(f"{about},{noise(time_us)},{noise(2 * time_us)}")
        return rows

    def collectives(self, noise: Noise) -> list[str]:
        rows = ["op,nodes,gpus_per_node,elements_fp16,time_us"]
        for i in range(48):
            elements = 2 ** (10 + i % 16)
            rows.append(f"all_reduce,{1 + i % 2},8,{elements},{noise(20 + 4e-5 * elements)}")
        return rows

    def test_of_operators(self):
        for name, noise in (FIXED | drawn(0)).items():
            with self.subTest(name):
                found = self.check(self.products(noise), "--device", "h100-sxm-80g")
                self.assertTrue(found or name != "quiet")
        with self.subTest("a trillion times too long"):
            self.check(self.products(lambda time: 1e30 * time), "--device", "h100-sxm-80g")

    def test_of_kernels(self):
        table = self.write({"samples.csv": "\n".join([*self.products(lambda us: us), ""])})
        for name, noise in (FIXED | UNREADABLE | drawn(0) | drawn_unreadable(0)).items():
            names = self.write({"trace.json": kernel_trace(noise)})
            with self.subTest(name):
                found = self.fitted("profile.json", names, *names)
                self.assertTrue(found or name != "quiet")
                if found:
                    self.accepted("validate", *table, "--profile", "profile.json")

    def test_of_collectives(self):
        for name, noise in (noises() | UNREADABLE).items():
            with self.subTest(name):
                found = self.check(self.collectives(noise), "--profile", "dgx-h100")
                self.assertTrue(found or name != "quiet")


class Runs(NoiseTest):
    """`fit --runs TABLE`."""

    COLUMNS = (
        "id,cluster,gpus,model,layers,hidden,heads,ffn_hidden,vocab,seq_len,global_batch,"
        "micro_batch,tp,pp,job,plan,measured_metric,measured_value"
    )

    def setUp(self) -> None:
        super().setUp()
        self.write({"ones.csv": self.table([1] * 6), "plan.yaml": PLAN})
        answer = self.accepted("validate", "ones.csv")
        self.predicted_s = [result["predicted"] for result in answer["results"]]

    def table(self, seconds: list) -> str:
        rows = [self.COLUMNS]
        for i, each in enumerate(seconds):
            hidden = 2048 + 512 * i
            job = (
                f"{{framework: megatron-lm, model: {{base: gpt3-175b, head_dim: {hidden // 16}}}}}"
            )
            about = f"mine-{i},dgx-a100-80g,8,GPT,8,{hidden},16,{4 * hidden},51200,2048,32,2"
            plan = "{sharding: NNN, recompute: none}"
            rows.append(f'{about},{2 ** (i % 3)},1,"{job}","{plan}",iteration_time_s,{each}')
        return "\n".join([*rows, ""])

    def check(self, seconds: list, *options: str) -> bool:
        """Conditions: refused, or read by `predict`. Returns whether they were fitted."""
        names = self.write({"runs.csv": self.table(seconds)})
        if not self.fitted("mine.yaml", names, "--runs", *names, *options):
            return False
        self.accepted("predict", "plan.yaml", "--set", "conditions=mine.yaml")
        return True

    def test_of_noise(self):
        for name, noise in (FIXED | drawn(0)).items():
            with self.subTest(name):
                found = self.check([noise(seconds) for seconds in self.predicted_s])
                self.assertTrue(found or not is_usual(name))

    def test_of_times_that_are_none_are_refused(self):
        for word in ("nan", "inf", "0", "-1", "", "fast"):
            with self.subTest(word):
                self.assertFalse(self.check([word] * 6))
        self.assertFalse(self.check([]))

    def test_of_ever_slower_runs_on_the_conditions_before(self):
        self.check([1.7 * seconds for seconds in self.predicted_s])
        for power in range(2, 7):
            with self.subTest(power=power):
                (self.folder / "mine.yaml").rename(self.folder / "before.yaml")
                slower = [1.7**power * seconds for seconds in self.predicted_s]
                self.assertTrue(self.check(slower, "--conditions", "before.yaml"))


if __name__ == "__main__":
    unittest.main()
