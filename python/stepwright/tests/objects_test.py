"""`check` takes objects of programs that train; each is read as its file would be.

transformers, peft, accelerate, deepspeed and torchtitan 0.2 are the packages themselves where they
are installed (tools/setup.sh test); Trainer.Config of torchtitan 0.3 is tested in
tests/framework_files/titan_test.py. All others are stand-ins with the names, modules and fields of
the public classes, which each of them names.
"""

import argparse
import dataclasses
import enum
import importlib.util
import os
import sys
import types
import unittest
import warnings
from unittest import mock

from place import PLAN, ROOT, PlaceTest

import stepwright

JUDGES = ROOT / ".venv/judges"
CLUSTER = {"cluster": "dgx-h100"}
BATCH = {**CLUSTER, "batch": "64x2048"}


def needs(package: str):
    return unittest.skipUnless(
        importlib.util.find_spec(package), f"{package} is not installed (tools/setup.sh test)"
    )


def stand_in(module: str, name: str, bases: tuple = (), **fields: object) -> type:
    """A dataclass with the name and the module of a public one."""
    made = [
        (field, object, dataclasses.field(default_factory=lambda value=value: value))
        for field, value in fields.items()
    ]
    kind = dataclasses.make_dataclass(name.rpartition(".")[2], made, bases=bases)
    kind.__module__, kind.__qualname__ = module, name
    return kind


def matters(answer: stepwright.Check) -> set[str]:
    return {one.name for one in answer.not_read if one.matters != "no"}


def llama():
    from transformers import LlamaConfig

    return LlamaConfig(
        num_hidden_layers=4, hidden_size=512, intermediate_size=1024, num_attention_heads=8
    )


def arguments(kind: type | None = None, **more: object):
    from transformers import TrainingArguments

    return (kind or TrainingArguments)(
        output_dir="out",
        per_device_train_batch_size=2,
        gradient_accumulation_steps=4,
        bf16=True,
        use_cpu=True,
        report_to=[],
        **more,
    )


# huggingface/trl trl/trainer/sft_config.py, dpo_config.py, grpo_config.py.
SFT = {
    "dataset_text_field": "text",
    "dataset_num_proc": None,
    "eos_token": None,
    "max_length": 1024,
    "shuffle_dataset": False,
    "packing": False,
    "packing_strategy": "bfd",
    "padding_free": False,
    "pad_to_multiple_of": None,
    "completion_only_loss": None,
    "loss_type": "nll",
    "activation_offloading": False,
}
DPO = {"disable_dropout": True, "max_length": 1024, "loss_type": ["sigmoid"], "beta": 0.1}
GRPO = {"num_generations": 8, "max_completion_length": 256, "use_vllm": False, "beta": 0.0}

# NVIDIA/Megatron-LM megatron/training/arguments.py: what parse_args returns, in part.
MEGATRON = {
    "num_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "group_query_attention": True,
    "num_query_groups": 8,
    "ffn_hidden_size": 14336,
    "swiglu": True,
    "seq_length": 8192,
    "max_position_embeddings": 8192,
    "micro_batch_size": 1,
    "global_batch_size": 128,
    "bf16": True,
    "fp16": False,
    "params_dtype": "torch.bfloat16",
    "tensor_model_parallel_size": 4,
    "pipeline_model_parallel_size": 1,
    "context_parallel_size": 1,
    "sequence_parallel": True,
    "world_size": 16,
    "use_distributed_optimizer": True,
    "normalization": "RMSNorm",
    "add_bias_linear": False,
    "untie_embeddings_and_output_weights": True,
    "position_embedding_type": "rope",
    "rotary_base": 500000,
    "vocab_size": 128256,
    "recompute_granularity": None,
}


class ObjectTest(PlaceTest):
    def add_judges(self) -> None:
        sys.path.append(str(JUDGES))
        self.addCleanup(sys.path.remove, str(JUDGES))


class Transformers(PlaceTest):
    @needs("transformers")
    def test_arguments_and_a_model_are_read(self):
        answer = stepwright.check(arguments(gradient_checkpointing=True), llama(), **BATCH)
        self.assertTrue(answer.starts)
        self.assertEqual(answer.plan["micro_batch"], 2)
        self.assertEqual(answer.plan["recompute"], "full")
        self.assertEqual(answer.plan["job"]["model"]["layers"], 4)
        # The order does not count.
        again = stepwright.check(llama(), arguments(gradient_checkpointing=True), **BATCH)
        self.assertEqual(again.step_time_s, answer.step_time_s)

    @needs("transformers")
    def test_a_trainer_is_its_parts(self):
        from transformers import LlamaForCausalLM, Trainer

        trainer = Trainer(LlamaForCausalLM(llama()), arguments())
        whole = stepwright.check(trainer, **BATCH)
        parts = stepwright.check(arguments(), llama(), **BATCH)
        self.assertEqual(whole.step_time_s, parts.step_time_s)

    @needs("peft")
    def test_adapters_stand_beside_the_arguments(self):
        from peft import LoraConfig

        adapter = LoraConfig(r=16, lora_alpha=32, target_modules=["q_proj", "v_proj"])
        answer = stepwright.check(arguments(), llama(), adapter, **BATCH)
        adapters = answer.plan["job"]["adapters"]
        self.assertEqual((adapters["rank"], adapters["alpha"], adapters["dropout"]), (16, 32, 0))
        self.assertEqual(adapters["targets"], ["q", "v"])
        with self.assertRaisesRegex(stepwright.InputError, "TrainingArguments beside"):
            stepwright.check(adapter, **BATCH)

    @needs("transformers")
    def test_configurations_of_trl_are_arguments(self):
        from transformers import TrainingArguments

        base = stand_in("trl.trainer.base_config", "_BaseConfig", (TrainingArguments,))
        kinds = {
            name: stand_in(f"trl.trainer.{name.lower()}", name, (base,), **fields)
            for name, fields in (("SFTConfig", SFT), ("DPOConfig", DPO), ("GRPOConfig", GRPO))
        }
        sft = stepwright.check(arguments(kinds["SFTConfig"]), llama(), **CLUSTER)
        self.assertEqual(sft.plan["job"]["batch"], {"sequences": 64, "length": 1024})
        self.assertEqual(matters(sft), {"max_length"})  # Examples may be shorter.
        dpo = stepwright.check(arguments(kinds["DPOConfig"]), llama(), **CLUSTER)
        self.assertIn("beta", matters(dpo))
        grpo = stepwright.check(arguments(kinds["GRPOConfig"]), llama(), **CLUSTER)
        self.assertEqual(grpo.plan["job"]["batch"], {"sequences": 64, "length": 512 + 256})
        self.assertEqual(matters(grpo), set())


class Accelerate(ObjectTest):
    @needs("accelerate")
    def test_a_plugin_of_fsdp_says_how_states_are_shared(self):
        from accelerate import FullyShardedDataParallelPlugin

        for options, states in (
            ({"fsdp_version": 2, "reshard_after_forward": True}, "GGG"),
            ({"fsdp_version": 2, "reshard_after_forward": False}, "NGG"),
            ({"fsdp_version": 1, "reshard_after_forward": "SHARD_GRAD_OP"}, "NGG"),
        ):
            plugin = FullyShardedDataParallelPlugin(**options)
            beside = stepwright.check(plugin, arguments(), llama(), **BATCH)
            self.assertEqual(beside.plan["sharding"]["states"], states)
            alone = stepwright.check(plugin, llama(), **BATCH)
            self.assertEqual(alone.plan["sharding"]["states"], states)
            self.assertEqual(alone.plan["job"]["model"]["layers"], 4)
            self.assertNotIn("offload", alone.plan)
        host = FullyShardedDataParallelPlugin(fsdp_version=2, cpu_offload=True)
        self.assertIn("offload", stepwright.check(host, arguments(), llama(), **BATCH).plan)

    def test_a_mapping_of_deepspeed_is_read(self):
        config = {
            "train_batch_size": 64,
            "zero_optimization": {"stage": 3},
            "bf16": {"enabled": True},
        }
        answer = stepwright.check(config, model="llama-3-8b", **BATCH)
        self.assertEqual(answer.plan["sharding"]["states"], "GGG")
        plan = stepwright.load(PLAN)
        mapping = dict(plan)
        self.assertEqual(stepwright.check(mapping).step_time_s, stepwright.check(plan).step_time_s)

    @needs("accelerate")
    def test_deepspeed_stands_beside_arguments(self):
        if not (JUDGES / "deepspeed").exists():
            self.skipTest("deepspeed is not installed (tools/setup.sh test)")
        os.environ["DS_ACCELERATOR"] = "cpu"
        self.add_judges()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from accelerate import DeepSpeedPlugin
            from deepspeed.runtime.config import DeepSpeedConfig

            plugin = DeepSpeedPlugin(zero_stage=2, gradient_accumulation_steps=4)
            whole = DeepSpeedConfig({"train_batch_size": 8, "zero_optimization": {"stage": 1}})
        answer = stepwright.check(plugin, arguments(), llama(), **BATCH)
        self.assertEqual(answer.plan["sharding"]["states"], "NGG")
        answer = stepwright.check(whole, llama(), cluster="dgx-h100", batch="8x2048")
        self.assertEqual(answer.plan["sharding"]["states"], "NNG")


class Megatron(PlaceTest):
    def test_a_namespace_is_read_as_its_printed_block(self):
        backend = enum.Enum("AttnBackend", ["flash", "fused", "unfused", "local", "auto"])
        given = argparse.Namespace(**MEGATRON, attention_backend=backend.auto)
        answer = stepwright.check(given, **CLUSTER)
        self.assertEqual(answer.plan["job"]["model"], "llama-3-8b")
        parallel = answer.plan["parallel"]
        self.assertEqual((parallel["tensor"], parallel["data"]), (4, 4))
        self.assertEqual(answer.plan["job"]["batch"], {"sequences": 128, "length": 8192})
        imported = stepwright.import_(given, **CLUSTER)
        self.assertEqual(imported.from_, "megatron")
        self.assertEqual(stepwright.predict(imported.plan).step_time_s, answer.step_time_s)
        self.assertIn("tensor_model_parallel_size", {one.name for one in imported.read})

    def container(self, kind: type, activation: object):
        """NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/config.py: ConfigContainer."""
        config = "megatron.bridge.training.config"
        same = ("num_layers", "hidden_size", "num_attention_heads", "num_query_groups")
        same += ("ffn_hidden_size", "seq_length", "vocab_size", "sequence_parallel")
        same += ("tensor_model_parallel_size", "normalization", "add_bias_linear", "rotary_base")
        model = stand_in(
            "megatron.bridge.models.gpt_provider",
            "GPTModelProvider",
            **{name: MEGATRON[name] for name in same},
            bf16=True,
            position_embedding_type="rope",
            gated_linear_unit=True,
            activation_func=activation,
            share_embeddings_and_output_weights=False,
        )
        train = stand_in(config, "TrainingConfig", micro_batch_size=1, global_batch_size=128)
        ddp = stand_in(config, "DistributedDataParallelConfig", use_distributed_optimizer=True)
        data = stand_in(config, "GPTDatasetConfig", seq_length=8192)
        return kind(model=model(), train=train(), ddp=ddp(), dataset=data())

    def test_a_container_of_megatron_bridge_is_read(self):
        def silu(values):
            return values

        silu.__module__, silu.__qualname__ = "torch.nn.functional", "silu"
        parts = dict.fromkeys(("model", "train", "ddp", "dataset"))
        plain = stand_in("megatron.bridge.training.config", "ConfigContainer", **parts)
        answer = stepwright.check(self.container(plain, silu), cluster="dgx-h100:2")
        self.assertEqual(answer.plan["job"]["model"], "llama-3-8b")
        self.assertEqual(answer.plan["parallel"]["tensor"], 4)
        self.assertEqual(answer.plan["sharding"]["states"], "NNG")
        # A recipe of one's own extends it.
        own = stand_in("recipes", "OwnContainer", (plain,))
        again = stepwright.check(self.container(own, silu), cluster="dgx-h100:2")
        self.assertEqual(again.step_time_s, answer.step_time_s)


class Others(ObjectTest):
    def test_a_job_config_of_torchtitan_is_read(self):
        path = JUDGES / "torchtitan/config/job_config.py"
        if not path.exists():
            self.skipTest("torchtitan is not installed (tools/setup.sh test)")
        spec = importlib.util.spec_from_file_location("torchtitan.config.job_config", path)
        module = importlib.util.module_from_spec(spec)
        # The rest of the package needs Triton; the file takes only its logger.
        rest = {name: types.ModuleType(name) for name in ("torchtitan", "torchtitan.tools")}
        rest["torchtitan.tools.logging"] = types.SimpleNamespace(logger=None)
        with mock.patch.dict(sys.modules, {**rest, spec.name: module}):
            spec.loader.exec_module(module)
            config = module.JobConfig()
        config.model.name, config.model.flavor = "llama3", "8B"
        config.parallelism.tensor_parallel_degree = 8
        config.training.local_batch_size, config.training.seq_len = 1, 8192
        answer = stepwright.check(config, cluster="dgx-h100:2")
        self.assertEqual(answer.plan["job"]["model"], "llama-3-8b")
        self.assertEqual(answer.plan["parallel"]["tensor"], 8)
        self.assertEqual(answer.plan["recompute"], {"every": 2})

    def test_configurations_of_omegaconf_are_resolved(self):
        """omry/omegaconf: DictConfig, and OmegaConf.to_container, which resolves references."""
        said = {
            "policy": {
                "model_name": "Qwen/Qwen2.5-7B",
                "train_global_batch_size": 512,
                "train_micro_batch_size": 4,
                "max_total_sequence_length": 512,
                "precision": "bfloat16",
                "dtensor_cfg": {"enabled": True, "tensor_parallel_size": 2},
            },
            "cluster": {"gpus_per_node": 8, "num_nodes": 2},
        }
        verl = {
            "data": {"max_prompt_length": 512, "max_response_length": 1536},
            "actor_rollout_ref": {
                "model": {"path": "Qwen/Qwen2.5-7B-Instruct"},
                "actor": {
                    "strategy": "fsdp",
                    "ppo_mini_batch_size": 64,
                    "ppo_micro_batch_size_per_gpu": 4,
                },
                "rollout": {"name": "vllm", "n": 4},
            },
            "trainer": {"n_gpus_per_node": 8, "nnodes": 2},
        }
        kind = type("DictConfig", (), {"__module__": "omegaconf.dictconfig"})
        resolved = {}
        package = types.ModuleType("omegaconf")
        package.OmegaConf = types.SimpleNamespace(
            to_container=lambda given, resolve: resolved["content"] if resolve else {}
        )
        with mock.patch.dict(sys.modules, {"omegaconf": package}):
            resolved["content"] = said
            answer = stepwright.check(kind(), **CLUSTER)
            self.assertEqual(answer.plan["parallel"]["tensor"], 2)
            self.assertEqual(answer.plan["job"]["cluster"]["nodes"], 2)
            resolved["content"] = verl
            answer = stepwright.check(kind(), **CLUSTER)
            self.assertEqual(answer.plan["micro_batch"], 4)
            self.assertEqual(answer.plan["job"]["batch"]["sequences"], 256)

    def test_ranks_are_those_of_the_process_group(self):
        group = types.SimpleNamespace(
            is_available=lambda: True, is_initialized=lambda: True, get_world_size=lambda: 16
        )
        torch = types.SimpleNamespace(distributed=group)
        config = {"train_batch_size": 64, "zero_optimization": {"stage": 3}}
        with mock.patch.dict(sys.modules, {"torch": torch}):
            answer = stepwright.check(config, model="llama-3-8b", **BATCH)
        self.assertEqual(answer.plan["parallel"]["data"], 16)

    def test_other_objects_are_refused(self):
        with self.assertRaises((stepwright.InputError, TypeError)):
            stepwright.check(object(), **BATCH)


if __name__ == "__main__":
    unittest.main()
