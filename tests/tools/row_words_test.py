"""tools/data/row_words.py says in the words of plans what sources say in their own."""

import csv
import statistics
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2] / "tools/data"))

import row_words
from row_words import Row, Words, said

ROOT = Path(__file__).parents[2]
TABLES = (
    "training_runs",
    "training_runs_2",
    "training_runs_3",
    "training_runs_4",
    "verification_cards",
    "memory",
    "memory_2",
    "memory_4",
    "own_runs_h100",
    "own_memory_h100",
)
SMALL = {
    "year": "2021",
    "gpu": "A100-SXM-80GB",
    "gpus": "16",
    "framework": "Megatron-LM (v2.x)",
    "model": "GPT-tiny",
    "layers": "8",
    "hidden": "1024",
    "heads": "16",
    "ffn_hidden": "4096",
    "vocab": "51200",
    "seq_len": "1024",
    "precision": "fp16",
    "tp": "2",
    "pp": "2",
    "sp": "n",
    "zero_stage_or_fsdp": "none (ZeRO-0)",
    "recompute": "full",
}


def row(**cells: str) -> Row:
    """The small row with other cells."""
    return Row(SMALL | cells)


def job(**cells: str) -> dict:
    """The job of the small row with other cells."""
    return row_words.job_of(row(**cells))


def plan(**cells: str) -> dict:
    """Its plan."""
    return row_words.plan_of(row(**cells), job(**cells))


class Sentences(unittest.TestCase):
    def test_the_tables_hold_what_the_tool_says(self):
        for name in TABLES:
            with (ROOT / f"data/{name}.csv").open(newline="", encoding="utf-8") as file:
                for cells in csv.DictReader(file):
                    words = {key: text for key, text in said(cells).items() if key in cells}
                    self.assertEqual(words, {key: cells[key] for key in words}, cells["id"])

    def test_words_flags_and_numbers(self):
        words = Words("UB_TP_comm_overlap=true; overlap_p2p_comm=false; 256 routed experts, top-8")
        self.assertTrue(words.has("torch", "routed"))
        self.assertEqual(words.flag("ub_tp_comm_overlap"), True)
        self.assertEqual(words.flag("overlap_p2p_comm"), False)
        self.assertIsNone(words.flag("overlap_grad_sync"))
        self.assertEqual(words.number_before("routed experts"), 256)
        self.assertEqual(words.number_after("top-"), 8)
        self.assertIsNone(words.number_after("head_dim"))

    def test_a_megatron_row(self):
        cells = said(SMALL)
        self.assertEqual(
            cells["job"],
            "{model: {base: gpt3-175b, head_dim: 64}, cluster: {profile: dgx-a100-80g}, "
            "framework: megatron-lm, precision: fp16}",
        )
        self.assertEqual(
            cells["plan"], "{sequence_parallel: false, sharding: NNN, recompute: full}"
        )

    def test_frameworks_with_variant_and_release(self):
        self.assertEqual(job(year="2025", framework="Megatron-LM")["framework"], "megatron-core")
        self.assertEqual(
            job(framework="NeMo (MLPerf 4.1)")["framework"], {"name": "nemo", "version": "4.1"}
        )
        aleph = job(framework="Aleph Alpha scaling (Megatron-style 3D parallel)")["framework"]
        self.assertEqual(aleph, {"name": "megatron-lm", "variant": "aleph-alpha"})
        self.assertEqual(row_words.release_in("on 26.02"), "")
        self.assertEqual(row_words.release_in("4 nodes, NeMo container 26.02"), "26.02")

    def test_an_unknown_framework_has_no_file(self):
        self.assertNotIn("framework", job(framework="somebody's own"))
        self.assertEqual(plan(framework="somebody's own")["overlap"], {"pipeline": False})
        self.assertEqual(plan(framework="somebody's own")["accumulate"], "fp16")
        self.assertNotIn("accumulate", plan())

    def test_attention_in_fp8(self):
        told = {"overlap_notes": "FP8_DPA=1; MC_TP_OVERLAP_AG=True", "precision": "FP8"}
        self.assertTrue(job(**told)["kernels"]["narrow_attention"])
        self.assertNotIn("narrow_attention", job(**told | {"precision": "bf16"}).get("kernels", {}))
        untold = told | {"overlap_notes": "FP8_DPA=0"}
        self.assertNotIn("narrow_attention", job(**untold).get("kernels", {}))

    def test_precisions(self):
        for text, precision in (
            ("amp_bf16", "bf16"),
            ("MXFP8", "mxfp8"),
            ("FP8-CS (FP8-MX)", "fp8"),
            ("bf16 with float8 (tensorwise)", "fp8"),
            ("TE BF16", "bf16"),
            ("fp32 (the script sets neither --fp16 nor --bf16)", "fp32"),
        ):
            self.assertEqual(job(precision=text)["precision"], precision, text)

    def test_sharding_and_its_groups(self):
        alone = dict(tp="1", pp="1", gpus="64")
        for text, sharding in (
            ("ZeRO-1 over 4 ranks (Hybrid ZeRO)", {"states": "NNI", "group": 4}),
            ("FSDP FULL_SHARD mixed_precision=PURE", "GGG"),
            ("FSDP2 over 8", {"states": "III", "group": 8}),
            ("FSDP2 over 64", "GGG"),
            ("FSDP (ZeRO-2-like: no reshard after forward)", "NGG"),
            ("ZeRO-1 distributed optimizer", "NNG"),
        ):
            self.assertEqual(plan(zero_stage_or_fsdp=text, **alone)["sharding"], sharding, text)
        self.assertEqual(plan(zero_stage_or_fsdp="mixed_precision=PURE")["accumulate"], "fp16")
        self.assertNotIn("sharding", plan(zero_stage_or_fsdp=""))

    def test_recomputation(self):
        experts = "8 experts, top-2"
        for text, moe, recompute in (
            ("none (selective with 0 layers in yaml)", "", "none"),
            ("full for 2 layers per (virtual) stage (block)", "", {"every": 2}),
            ("selective", "", "selective"),
            ("selective: moe, layernorm, act", experts, {"modules": ["moe", "moe_act", "norm"]}),
            ("selective: moe", "", "none"),
            ("remat minimal_flash", "", "selective"),
            ("selective op", "", "per-operator"),
            ("selective layer", "", {"every": 2}),
            ("selective: every 2nd layer", "", {"every": 2}),
        ):
            self.assertEqual(plan(recompute=text, moe=moe)["recompute"], recompute, text)
        self.assertEqual(said(SMALL | {"recompute": "some"})["job"], "")

    def test_experts(self):
        text = "256 routed experts, top-8, 1 shared, moe_ffn 512, first 2 layers dense, MLA"
        model = job(model="DeepSeekV3", moe=text)["model"]
        experts = {"count": 256, "top_k": 8, "ffn": 512, "shared_ffn": 512, "leading_dense": 2}
        self.assertEqual(model, {"latent": {}, "experts": experts})
        qwen = job(moe="64 experts,top8 (moe_ffn 2560), shared expert")["model"]["experts"]
        self.assertEqual((qwen["shared_ffn"], qwen["shared_gate"]), (8 * 2560, True))
        unknown = said(SMALL | {"moe": "many experts"})["no_plan"]
        self.assertEqual(unknown, "experts not stated")

    def test_kernels(self):
        aleph = "attention/norm kernel=flash_attention2"
        for notes, kernels in (
            (aleph, {"attention": "flash2", "fused_norm": False}),
            (aleph + " + RMS kernel", {"attention": "flash2", "fused_norm": True}),
            ("kernel=torch", {"attention": "unfused", "fused_softmax": False}),
            ("type:transformer; CUDA_LAUNCH_BLOCKING=1", {"blocking_launches": True}),
            ("cuda_graph_impl=full_iteration; a2a", {"cuda_graphs": True}),
            (
                "cuda_graph_scope=['attn', 'moe_router', 'moe_preprocess']; mlp",
                {"cuda_graphs": ["attn", "moe_router"]},
            ),
            ("cuda_graph_scope=mlp; attn", {"cuda_graphs": ["mlp"]}),
            ("full-iteration CUDA graph; flex dispatcher", {"cuda_graphs": True}),
            ("TP_COMM_OVERLAP=True; CUDA graph; BUCKET_SIZE=1", {"cuda_graphs": True}),
        ):
            self.assertEqual(job(overlap_notes=notes)["kernels"], kernels, notes)
        off = "cuda_graph_impl=none; cuda_graph_scope=['attn']"
        self.assertNotIn("kernels", job(overlap_notes=off))

    def test_overlap(self):
        off = plan(overlap_notes="all overlap off by design (TP/PP/DP)")["overlap"]
        self.assertEqual(set(off.values()), {False})
        notes = "ub_tp_comm_overlap=true; overlap_grad_sync=false; async p2p"
        stated = {"gradients": False, "pipeline": True, "tensor": True}
        self.assertEqual(plan(overlap_notes=notes)["overlap"], stated)

    def test_layouts_of_layers(self):
        def layers(notes: str) -> list[int] | None:
            return row_words.layers_of(Row({"overlap_notes": notes}))

        notes = "MTP 1 layer; layout Et*4|(t*4|)*14tmL; paged stash"
        self.assertEqual(layers(notes), [4] * 15 + [1])
        self.assertIsNone(layers("1F1B"))

    def test_lists_of_layers_count_embedding_and_head(self):
        def layers(listed: str, stages: str) -> list[int] | None:
            cells = {"overlap_notes": f"layers_per_stage={listed}; TF32 products"}
            return row_words.layers_of(Row(cells | {"layers": "32", "pp": stages}))

        self.assertEqual(layers("7/9/9/9", "4"), [6, 9, 9, 8])
        self.assertEqual(layers("8/8/8/8", "4"), [8, 8, 8, 8])
        self.assertIsNone(layers("34", "1"))
        for listed, stages in (("26", "1"), ("7/9/9/9", "2")):
            with self.assertRaises(row_words.NoPlanError):
                layers(listed, stages)

    def test_vocabulary_over_positions(self):
        """A head of 64,000 tokens takes 1.6 layers of width 3,072 at a length of 2,048."""
        sizes = {"layers": "32", "hidden": "3072", "seq_len": "2048", "pp": "8", "vocab": "64000"}
        notes = "1F1B with layer redistribution"
        self.assertEqual(plan(overlap_notes=notes, **sizes)["layers"], [4] * 6 + [5, 3])
        small = sizes | {"vocab": "32000"}
        self.assertEqual(plan(overlap_notes=notes, **small)["layers"], [4] * 8)
        self.assertEqual(plan(overlap_notes="interlaced pipeline")["schedule"], "1f1b-vocab")
        alone = plan(overlap_notes="layer redistribution", **sizes | {"pp": "1"})
        self.assertEqual(alone["layers"], [32])
        notes = "vocab parallel, vocab-1 (2 barriers)"
        self.assertEqual(plan(overlap_notes=notes)["schedule"], "vocab-1")
        notes = "vocab parallel, vocab-2 (1 barrier)"
        self.assertEqual(plan(overlap_notes=notes)["schedule"], "vocab-2")

    def test_torchtitan(self):
        titan = dict(framework="torchtitan", year="2024", precision="float8 rowwise", pp="1")
        self.assertEqual(job(**titan)["framework"], {"name": "torchtitan", "version": "0.0.2"})
        compiled = dict.fromkeys(("fused_norm", "fused_activation"), True) | {"casts": "rowwise"}
        self.assertEqual(job(**titan)["kernels"], compiled)
        later = job(**(titan | {"year": "2025"}))["kernels"]
        self.assertEqual(later, compiled | {"fused_cross_entropy": True})
        fsdp = titan | {"zero_stage_or_fsdp": "FSDP2 (shard degree 8)"}
        self.assertEqual(plan(**fsdp)["sharding"], "GGG")
        self.assertEqual(plan(**(fsdp | {"pp": "2"}))["sharding"], "NGG")
        self.assertEqual(plan(overlap_notes="2D + AsyncTP")["overlap"], {"tensor": True})

    def test_what_is_adapted(self):
        benchmark = job(
            model="Llama2-70B [LoRA]",
            framework="NeMo (MLPerf 5.0)",
            source_note="MLPerf v5.0 NVIDIA",
        )
        self.assertEqual(benchmark["adapters"]["rank"], 16)
        self.assertEqual(benchmark["adapters"]["targets"], ["qkv", "projection"])
        table = job(model="Qwen2.5 7B LoRA r16", framework="NeMo AutoModel (PyTorch FSDP2)")
        self.assertEqual(table["adapters"], {"rank": 16, "alpha": 32, "targets": ["all"]})
        for stack, rank in (("Megatron-Bridge/Megatron-Core", 16), ("NeMo/Megatron-Core", 32)):
            card = job(model="LLAMA3_70B [LoRA]", framework=stack)
            self.assertEqual(card["adapters"], {"rank": rank, "alpha": 32, "targets": ["qkv"]})
        self.assertNotIn("adapters", job(model="Llama2-70B"))

    def test_models_of_unlike_layers_have_names(self):
        hybrid = {"model": "Nemotron_3_Nano", "layers": "", "recompute": "selective: moe, mlp"}
        self.assertEqual(job(**hybrid)["model"], "nemotron-3-nano-30b-a3b")
        self.assertEqual(plan(**hybrid)["recompute"], {"modules": ["moe"]})
        self.assertEqual(said(SMALL | hybrid)["no_plan"], "")

    def test_what_no_plan_says(self):
        for cells, reason in (
            (
                {"model": "Llama2-70B [LoRA]", "framework": "PaxML (JAX)"},
                "LoRA: what is adapted is not told",
            ),
            ({"moe": "hybrid Mamba2/attention"}, "hybrid of other layers than attention and MLP"),
            ({"model": "Nemotron_3_Super"}, "experts behind a projection of their own"),
            ({"model": "DeepSeekV4 Flash"}, "compressed attention"),
            ({"overlap_notes": "DualPipe"}, "DualPipe: no such schedule"),
            (
                {"overlap_notes": "cpu_offloading_num_layers=4"},
                "activations or states off the GPU",
            ),
            ({"gpu": "TPU v4"}, "no profile of the GPU: TPU v4"),
            # Nodes of a single GPU, whose profile has no link between several.
            (
                {"gpu": "GH200-96GB", "gpus_per_node": "4"},
                "no profile of nodes with 4 GPUs: GH200-96GB",
            ),
            ({"model": "gpt-oss-7b"}, "gpt-oss of 8 layers: no such model"),
            ({"recompute": "full for 2 layers", "layers": ""}, "layers not stated"),
            ({"overlap_notes": "layer redistribution", "vocab": ""}, "vocab not stated"),
            ({"gpus": "1,024"}, "gpus '1,024': no number"),
            ({"tp": "1e999"}, "tp '1e999': no number"),
        ):
            self.assertEqual(said(SMALL | cells)["no_plan"], reason)


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "runs.csv")
        self.rows = [SMALL, SMALL | {"gpu": "GH200-96GB", "gpus_per_node": "4"}, SMALL]
        with self.path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*SMALL, "gpus_per_node"], lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)

    def test_a_row_that_no_plan_says_does_not_end_its_table(self):
        row_words.rewrite(self.path)
        with self.path.open(newline="", encoding="utf-8") as file:
            found = list(csv.DictReader(file))
        reason = "no profile of nodes with 4 GPUs: GH200-96GB"
        self.assertEqual([row["no_plan"] for row in found], ["", reason, ""])
        for before, after in zip(self.rows, found, strict=True):
            self.assertLessEqual(before.items(), after.items())
        row_words.rewrite(self.path)
        with self.path.open(newline="", encoding="utf-8") as file:
            self.assertEqual(list(csv.DictReader(file)), found)

    def test_a_failure_leaves_the_table_as_it_was(self):
        before = self.path.read_bytes()
        answers = [said(SMALL), IndexError("list index out of range")]
        with (
            mock.patch("row_words.said", side_effect=answers),
            self.assertRaises(IndexError),
        ):
            row_words.rewrite(self.path)
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual(list(self.path.parent.iterdir()), [self.path])


class Machines(unittest.TestCase):
    def test_notes_on_the_network(self):
        compute = "Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s"
        for note, nics, rate in (
            ("200Gb/s HDR InfiniBand (arXiv 2311.05610; NIC count not checked)", 0, "200 Gbit/s"),
            ("1600 Gbps node-node RoCE (table title)", 8, "200 Gbit/s"),
            ("4x Omni-Path 100 Gb/s per node (Jean Zay)", 4, "100 Gbit/s"),
            ("800 Gb/s per node (config inter_node_bandwidth=800)", 8, "100 Gbit/s"),
            (compute, 8, "400 Gbit/s"),
            ("RoCE 400Gb/s per GPU, 3-layer Clos", 8, "400 Gbit/s"),
            ("InfiniBand 8x50 GB/s per node", 8, "50 GB/s"),
            ("4 x 100Gb RoCE per node", 4, "100 Gbit/s"),
            ("BF3 200Gbps for NS and 2xBF3 400Gbps for EW", 2, "400 Gbit/s"),
            ("Storage: 2x BF3, Compute: 8x BlueField-3 200Gb/s", 8, "200 Gbit/s"),
            ("99999999999999999999x 400Gb/s, 4x 200Gb/s", 4, "200 Gbit/s"),
        ):
            said_of = {"nics_per_node": nics} if nics else {}
            self.assertEqual(row_words.nics_of(note, 8), said_of | {"nic": rate}, note)
        for note in ("single node", "Ethernet, Infiniband"):
            self.assertEqual(row_words.nics_of(note, 8), {}, note)

    def test_boards_by_the_names_that_rows_give_them(self):
        for gpu, profile in (
            ("AMD Instinct MI325X 256GB HBM3E", "mi325x-8gpu"),
            ("AMD Instinct MI350X", "mi350x-8gpu"),
            ("AMD Instinct MI355X", "mi355x-8gpu"),
            ("NVIDIA RTX A6000", "a6000-8gpu-pcie"),
            ("NVIDIA H20-SXM-96GB", "h20-8gpu"),
            ("NVIDIA H200-SXM-141GB", "dgx-h200"),
            ("GeForce RTX 4090", "rtx4090-8gpu-pcie"),
            ("NVIDIA L40S", "l40s-8gpu-pcie"),
            ("A40", "a40-8gpu-pcie"),
        ):
            self.assertEqual(job(gpu=gpu)["cluster"]["profile"], profile)

    def test_a_network_may_name_the_cluster(self):
        note = "not stated (Hugging Face science cluster)"
        cluster = job(gpu="H100-SXM-80GB", inter_node_net_note=note)["cluster"]
        self.assertEqual(cluster, {"profile": "aws-p5-h100"})

    def test_a_state_of_the_network_is_what_its_runs_measured(self):
        measured = {}
        with (ROOT / "data/training_runs_2.csv").open(newline="", encoding="utf-8") as file:
            for cells in csv.DictReader(file):
                place = measured.setdefault(cells["setup"], {}).setdefault(int(cells["gpus"]), [])
                place += [float(cells["all_reduce_gb_per_s"] or 0)]
        for state, rates in row_words.STATES.items():
            medians = {gpus: statistics.median(found) for gpus, found in measured[state].items()}
            self.assertEqual(rates.keys(), medians.keys())
            for gpus, rate in rates.items():
                self.assertAlmostEqual(rate, medians[gpus], delta=0.05)

    def test_a_setup_may_name_a_state_of_the_network(self):
        slow = {"gpu": "H100", "gpus": "64", "setup": "slow network"}
        self.assertEqual(job(**slow)["cluster"]["all_reduce"], "94.7 GB/s")
        for other in ({"setup": "fast network"}, {"setup": ""}, {"gpus": "8"}):
            self.assertNotIn("all_reduce", job(**(slow | other))["cluster"])

    def test_a_rack_is_one_domain_of_the_part_that_fills_the_job(self):
        rack = {"gpu": "GB200", "gpus": "256", "gpus_per_node": "4"}
        cluster = job(**rack)["cluster"]
        self.assertEqual((cluster["devices_per_node"], cluster["nics_per_node"]), (64, 64))
        self.assertEqual(cluster["levels"][0]["size"], 64)
        # A note counts the NICs of a node of four GPUs, of which the rack has sixteen.
        noted = job(**rack, inter_node_net_note="4x ConnectX-7 IB NDR 400Gb/s")["cluster"]
        self.assertEqual((noted["nics_per_node"], noted["nic"]), (64, "400 Gbit/s"))

    def test_every_profile_is_there(self):
        names = {profile for *_, profile in row_words.GPUS + row_words.CLUSTERS if profile}
        for name in names:
            self.assertIn("devices_per_node", row_words.profile_of(name), name)

    def test_measurements(self):
        for text, flops in (
            ("hardware FLOPs incl. recompute: F=96*B*s*l*h^2", "hardware"),
            ("8*P*tokens (P without embeddings, incl. recompute)", "8P"),
            ("Megatron-Bridge (causal-halved attention)", "causal"),
            ("6*s*N + 12*L*h*s^2 (full, not causal-halved)", ""),
        ):
            self.assertEqual(said({"flop_convention": text})["flops"], flops)
        for text, peak in (
            ("OOM_lower_bound_80GB", "oom"),
            ("nvidia-smi used (max)", "process"),
            ("GPU memory as printed (allocated or reserved not stated)", ""),
            ("peak over devices (GB as printed)", "allocated"),
        ):
            self.assertEqual(said({"memory_kind": text})["peak"], peak)
        least = said({"memory_kind": "torch max_memory_allocated, min over ranks"})
        self.assertEqual((least["peak"], least["peak_of"]), ("allocated", "least"))


if __name__ == "__main__":
    unittest.main()
