"""The script that `stepwright export --to megatron` writes before Megatron-Core: its configuration
classes take the arguments, the model that it builds of them has the parameters of the plan's, and
its rank generator makes the plan's groups.

Needs the packages of tools/requirements/judges.txt; what is missing is skipped and said.
"""

import shlex
import unittest
from pathlib import Path

import torch
from judge_workplace import DENSE, JOB, ROUTED, Workplace, has, join_ranks

MEGATRON = {
    "dense": DENSE + "parallel: {tensor: 2, pipeline: 2, data: 8}\nsequence_parallel: true\n"
    "schedule: {kind: interleaved, chunks: 3}\nsharding: NNG\nrecompute: selective\n",
    "pipeline inside": DENSE + "parallel: {pipeline: 2, data: 16}\nrank_order: tp-cp-ep-pp-dp\n",
    "context": DENSE + "parallel: {tensor: 2, context: 4, data: 4}\nsharding: NNG\n",
    "uneven": DENSE + "parallel: {pipeline: 4, data: 8}\nlayers: [2, 3, 4, 3]\n",
    "instances": DENSE + "parallel: {tensor: 4, data: 8}\nsharding: {states: NNI, group: 4}\n",
    "FSDP": DENSE + "parallel: {tensor: 2, data: 16}\nsharding: GGG\n",
    "experts": ROUTED + "parallel: {tensor: 2, pipeline: 2, data: 8, expert: 4}\n"
    "sequence_parallel: true\nsharding: NNG\n",
    "experts beside context": ROUTED + "parallel: {tensor: 2, context: 2, data: 8, expert: 8, "
    "expert_tensor: 2}\nsequence_parallel: true\n",
}


def flags_of(script: Path) -> dict[str, str | bool]:
    """The arguments behind the program of a script."""
    text = script.read_text().split("pretrain_gpt.py", 1)[1]
    words = shlex.split(text.replace("\\\n", " "))
    found, name = {}, ""
    for word in words:
        if word.startswith("--"):
            name = word[2:].replace("-", "_")
            found[name] = True
        elif name and not word.startswith("$"):
            found[name] = word
    return found


@unittest.skipUnless(
    has("megatron", "megatron.core"), "megatron-core is not installed (tools/setup.sh test)"
)
class MegatronCore(unittest.TestCase):
    def setUp(self):
        self.place = Workplace()

    def config(self, flags):
        """TransformerConfig's own checks of what the flags set."""
        from megatron.core.transformer.transformer_config import TransformerConfig

        fields = set(TransformerConfig.__dataclass_fields__)
        values = {name: value for name, value in flags.items() if name in fields}
        numbers = {
            name: int(value)
            for name, value in values.items()
            if isinstance(value, str) and value.isdigit()
        }
        renamed = {
            "num_moe_experts": flags.get("num_experts"),
            "virtual_pipeline_model_parallel_size": flags.get(
                "num_virtual_stages_per_pipeline_rank"
            ),
        }
        numbers |= {name: int(value) for name, value in renamed.items() if value}
        values.pop("attention_backend", None)
        values |= numbers | {"bf16": "bf16" in flags, "pipeline_dtype": torch.bfloat16}
        values["add_bias_linear"] = "disable_bias_linear" not in flags
        for name in ("hidden_dropout", "attention_dropout"):
            values[name] = float(values[name])
        if "swiglu" in flags:
            values |= {"gated_linear_unit": True, "activation_func": torch.nn.functional.silu}
        if "cp_comm_type" in values:
            values["cp_comm_type"] = flags["cp_comm_type"]
        return TransformerConfig(**values)

    def test_takes_what_is_written(self):
        for name, plan in MEGATRON.items():
            with self.subTest(name):
                flags = flags_of(self.place.export("megatron", plan, "train.sh"))
                config = self.config(flags)
                self.assertEqual(config.num_layers, 12)
                self.assertEqual(config.sequence_parallel, "sequence_parallel: true" in plan)

    def test_defers_a_head_where_we_do(self):
        plan = DENSE + "parallel: {pipeline: 2, data: 16}\n"
        plan += "overlap: {defer_embedding_gradient: true}\n"
        flags = flags_of(self.place.export("megatron", plan, "train.sh"))
        # Megatron-LM's argument parser has it on.
        fused = flags | {"gradient_accumulation_fusion": True}
        config = self.config(fused)
        self.assertTrue(config.defer_embedding_wgrad_compute)
        self.assertEqual(config.wgrad_deferral_limit, 0)
        for refused in (flags, fused | {"pipeline_model_parallel_size": "1"}):
            with self.assertRaises(ValueError):
                self.config(refused)

    def model_of(self, flags):
        """The whole model of the flags, on no device."""
        from megatron.core import parallel_state
        from megatron.core.models.gpt import GPTModel
        from megatron.core.models.gpt.gpt_layer_specs import get_gpt_decoder_block_spec

        join_ranks()
        if not parallel_state.model_parallel_is_initialized():
            parallel_state.initialize_model_parallel(1, 1, create_gloo_process_groups=False)
        splits = ("_parallel", "pipeline", "cp_comm_type", "overlap")
        config = self.config(
            {name: value for name, value in flags.items() if not any(s in name for s in splits)}
        )
        config.use_cpu_initialization, config.perform_initialization = True, False
        # Layers and messages that need a GPU; parameters do not depend on them.
        config.moe_grouped_gemm, config.moe_token_dispatcher_type = False, "allgather"
        vocabulary = int(flags["vocab_size"]) + ("null_tokenizer_eod_id" not in flags)
        with torch.device("meta"):
            return GPTModel(
                config,
                get_gpt_decoder_block_spec(config, use_transformer_engine=False),
                vocabulary,
                int(flags["max_position_embeddings"]),
                position_embedding_type=flags["position_embedding_type"],
                share_embeddings_and_output_weights="untie_embeddings_and_output_weights"
                not in flags,
            )

    def test_builds_the_model_of_the_plan(self):
        others = {
            "tied and with biases": JOB
            % ", tied: true, bias: true, norm: layernorm, gated: false, "
            "activation: gelu, position: learned, positions: 512" + "parallel: {data: 32}\n",
            "norms of heads": JOB % ", qk_norm: head" + "parallel: {data: 32}\n",
        }
        for name, plan in (MEGATRON | others).items():
            with self.subTest(name):
                flags = flags_of(self.place.export("megatron", plan, "train.sh"))
                found = sum(each.numel() for each in self.model_of(flags).parameters())
                self.assertEqual(found, self.place.parameters())

    def test_knows_the_fields_of_data_parallelism(self):
        from megatron.core.distributed import DistributedDataParallelConfig

        for name in ("instances", "FSDP", "dense"):
            flags = flags_of(self.place.export("megatron", MEGATRON[name], "train.sh"))
            fields = {
                name: value
                for name, value in flags.items()
                if name in DistributedDataParallelConfig.__dataclass_fields__
            }
            self.assertIn("overlap_grad_reduce", fields)
            DistributedDataParallelConfig(**fields)
        self.assertEqual(
            flags_of(self.place.export("megatron", MEGATRON["FSDP"], "train.sh"))[
                "data_parallel_sharding_strategy"
            ],
            "optim_grads_params",
        )

    def test_reads_the_layout_of_an_uneven_pipeline(self):
        from megatron.core.transformer.pipeline_parallel_layer_layout import (
            PipelineParallelLayerLayout,
        )

        flags = flags_of(self.place.export("megatron", MEGATRON["uneven"], "train.sh"))
        layout = PipelineParallelLayerLayout.from_str(flags["pipeline_model_parallel_layout"], 4)
        stages = [
            sum(layer.name == "decoder" for layer in chunk)
            for stage in layout.layout
            for chunk in stage
        ]
        self.assertEqual(stages, [2, 3, 4, 3])

    def test_makes_the_groups_of_the_plan(self):
        from megatron.core.parallel_state import RankGenerator

        for name, plan in MEGATRON.items():
            with self.subTest(name):
                flags = flags_of(self.place.export("megatron", plan, "train.sh"))
                ours = self.place.groups()
                size = {
                    short: int(flags.get(f"{long}_parallel_size", 1))
                    for short, long in {
                        "tp": "tensor_model",
                        "pp": "pipeline_model",
                        "cp": "context",
                        "ep": "expert_model",
                    }.items()
                }
                etp = int(flags.get("expert_tensor_parallel_size", size["tp"]))
                inside = "use_tp_pp_dp_mapping" in flags
                order = "tp-cp-ep-pp-dp" if inside else "tp-cp-ep-dp-pp"
                dp = 32 // (size["tp"] * size["pp"] * size["cp"])
                dense = RankGenerator(
                    tp=size["tp"], ep=1, dp=dp, pp=size["pp"], cp=size["cp"], order=order
                )
                edp = 32 // (etp * size["pp"] * size["ep"])
                routed = RankGenerator(
                    tp=etp, ep=size["ep"], dp=edp, pp=size["pp"], cp=1, order=order
                )
                for kind, theirs in {
                    "tensor": dense.get_ranks("tp"),
                    "pipeline": dense.get_ranks("pp"),
                    "context": dense.get_ranks("cp"),
                    "data-context": dense.get_ranks("dp-cp"),
                    "expert": routed.get_ranks("ep"),
                    "expert-tensor": routed.get_ranks("tp"),
                    "expert-data": routed.get_ranks("dp"),
                }.items():
                    if kind.startswith("expert") and "num_experts" not in flags:
                        continue
                    self.assertEqual(sorted(theirs), ours[kind], kind)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
