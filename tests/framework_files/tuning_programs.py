"""Programs of fine-tuning and of policies as far as a CPU starts them with an exported file.

Each `start_NAME(path, draw)` raises what its program refuses.
"""

import contextlib
import importlib.util
import json
import os
import runpy
import subprocess
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import stand_ins
from drawn_plans import Draw

RANKS = 32
NOT_NEEDED = [
    "absl",
    "aiohttp",
    "art",
    "av",
    "axolotl_contribs_lgpl",
    "axolotl_contribs_mit",
    "bitsandbytes",
    "blobfile",
    "cachetools",
    "codetiming",
    "cv2",
    "decord",
    "einops",
    "etils",
    "fastapi",
    "fire",
    "fla",
    "flash_attn",
    "flax",
    "google",
    "gradio",
    "grpc",
    "hf_transfer",
    "jax",
    "jaxlib",
    "kagglehub",
    "librosa",
    "liger_kernel",
    "lm_eval",
    "loralib",
    "mcore_bridge",
    "megatron",
    "modelscope",
    "msgspec",
    "optimum",
    "orbax",
    "orjson",
    "pathwaysutils",
    "pylatexenc",
    "qwen_vl_utils",
    "ray",
    "ring_flash_attn",
    "schedulefree",
    "sentencepiece",
    "soundfile",
    "sse_starlette",
    "tensorboardX",
    "tensordict",
    "tensorflow",
    "tiktoken",
    "torchao",
    "torchdata",
    "torchvision",
    "trackio",
    "transfer_queue",
    "tyro",
    "uvicorn",
    "vllm",
    "wandb",
    "word2number",
    "xformers",
    "zmq",
    "zstandard",
]
stand_ins.stand_in_for(*NOT_NEEDED)


def command_of(script: Path, program: str, arguments: Sequence[str] = ()) -> list[str]:
    """The words with which a script starts a program; `arguments` stand behind its own."""
    stand_in = script.parent / program
    stand_in.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    stand_in.chmod(0o755)
    path = f"{script.parent}:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": "/root", "NODES": "4", "NODE_RANK": "0"}
    run = subprocess.run(
        ["bash", script, *arguments], capture_output=True, text=True, env=environment, check=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def behind(words: list[str], module: str) -> list[str]:
    """The arguments of the module that `python -m` starts."""
    return words[words.index(module) + 1 :]


# --- MaxText -----------------------------------------------------------------------------------


def start_maxtext(path: Path, draw: Draw) -> None:
    """MaxText's configuration, as its trainer reads the file on all devices."""
    from maxtext.configs import pyconfig

    words = ["train", str(path), "run_name=judged", f"base_output_directory={path.parent}"]
    words += [
        "dataset_type=synthetic",
        "skip_jax_distributed_system=true",
        "enable_checkpointing=false",
    ]
    # jax has a slice for each node of GPUs.
    devices = [types.SimpleNamespace(slice_index=rank // 8) for rank in range(RANKS)]
    with (
        mock.patch("jax.devices", lambda: devices),
        mock.patch("jax.local_device_count", lambda: 8),
    ):
        config = pyconfig.initialize_pydantic(words)
    assert config.num_target_devices == RANKS, config.num_target_devices
    assert config.logical_axis_rules, "base.yml is not below it"
    batch = config.micro_batch_size_to_train_on * config.gradient_accumulation_steps
    assert batch == 64, batch


# --- OpenRLHF ----------------------------------------------------------------------------------


def openrlhf_arguments(module: str, words: list[str]) -> types.SimpleNamespace:
    """What the main part of a trainer's module makes of its arguments."""
    found = importlib.util.find_spec(module)
    source = Path(found.origin).read_text()
    assert source.count("\n    train(args)\n") == 1
    source = source.replace("\n    train(args)\n", "\n    started.append(args)\n")
    started: list = []
    with mock.patch.object(sys, "argv", [module, *words]):
        exec(compile(source, found.origin, "exec"), {"__name__": "__main__", "started": started})
    return started[0]


def start_openrlhf(path: Path, draw: Draw) -> None:
    """OpenRLHF's arguments, then its DeepSpeed configuration as DeepSpeed's own parser reads it."""
    from deepspeed.runtime import config as deepspeed_config
    from openrlhf.utils.deepspeed.deepspeed import DeepspeedStrategy

    by_ray = "train_ppo_ray" in path.read_text()
    words = command_of(path, "python3" if by_ray else "torchrun")
    module = next(word for word in words if word.startswith("openrlhf.cli."))
    args = openrlhf_arguments(module, behind(words, module))
    strategy = DeepspeedStrategy(
        zero_stage=args.ds.zero_stage,
        train_batch_size=args.train.batch_size,
        micro_train_batch_size=args.train.micro_batch_size,
        args=args,
    )
    kind = getattr(args, "optim", None) or args.actor.optim
    name = "Muon" if kind == "muon" else "AdamW"
    said = strategy.get_ds_train_config({"type": name, "params": {"lr": 1e-5}}, max_norm=1.0)
    ways = RANKS // (args.ds.ring_attn_size * args.ds.tensor_parallel_size)
    said["zero_optimization"] = {
        key: value for key, value in said["zero_optimization"].items() if value != "auto"
    }
    comm = types.SimpleNamespace(get_rank=lambda: 0)
    # Batches are counted with all ranks of a ring or a tensor group (setup_distributed).
    mpu = types.SimpleNamespace(get_data_parallel_world_size=lambda: RANKS)
    with mock.patch.object(deepspeed_config, "dist", comm):
        deepspeed_config.DeepSpeedConfig(said, mpu=mpu)
    assert args.train.batch_size % (args.train.micro_batch_size * ways) == 0


# --- verl --------------------------------------------------------------------------------------


def start_verl(path: Path, draw: Draw) -> None:
    """verl's configuration, as Hydra composes it and as main_ppo validates it."""
    import verl
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import omega_conf_to_dataclass, validate_config

    words = behind(command_of(path, "python3"), "verl.trainer.main_ppo")
    folder = Path(verl.__file__).parent / "trainer/config"
    with initialize_config_dir(config_dir=str(folder), version_base=None):
        config = compose(config_name="ppo_trainer", overrides=words)
    save_tiny_model(path.parent / "model")
    # verl asks vLLM how large ranks of adapters may be; vLLM is not installed.
    asked = "verl.workers.rollout.vllm_rollout.utils"
    parts = [asked.rsplit(".", depth)[0] for depth in range(2)]
    engines = {name: stand_ins.StandIn(name) for name in parts}
    with mock.patch.dict(sys.modules, engines), contextlib.chdir(path.parent):
        validate_config(config, need_reference_policy(config), need_critic(config))
        OmegaConf.resolve(config)
        actor = config.actor_rollout_ref
        critic = [config.critic] if need_critic(config) else []
        for part in (actor.actor, actor.rollout, actor.model, config.algorithm, *critic):
            omega_conf_to_dataclass(part)
    assert config.trainer.nnodes * config.trainer.n_gpus_per_node == RANKS


# --- TRL behind Accelerate ---------------------------------------------------------------------


def launched(words: list[str], module: str) -> tuple[types.SimpleNamespace, dict[str, str]]:
    """Accelerate's own reading of its command, and the environment that it gives each process."""
    from accelerate.commands import launch
    from accelerate.utils import launch as environment

    at = words.index("-m")
    parsed = launch.launch_command_parser().parse_args([*words[1:at], "train.py"])
    args, _, _ = launch._validate_launch_command(parsed)
    given = environment.prepare_multi_gpu_env(args)
    if args.use_parallelism_config:
        given = environment.prepare_extend_env_parallelism_config(args, given)
    return args, given


def check_accelerate(environment: dict[str, str]) -> None:
    """The plugins that Accelerate makes of an environment, held against each other on all ranks."""
    from accelerate import DistributedType
    from accelerate.parallelism_config import ParallelismConfig
    from accelerate.utils import FullyShardedDataParallelPlugin

    with mock.patch.dict(os.environ, environment):
        sharded = environment.get("ACCELERATE_USE_FSDP") == "true"
        if sharded:
            FullyShardedDataParallelPlugin()
        if environment.get("ACCELERATE_USE_PARALLELISM_CONFIG") != "true":
            return
        kind = DistributedType.FSDP if sharded else DistributedType.MULTI_GPU
        config = ParallelismConfig()
        config._validate_accelerator(
            types.SimpleNamespace(
                num_processes=RANKS, distributed_type=kind, is_fsdp2=True, multi_device=True
            )
        )
        assert config.total_size == RANKS


def tiny_tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {"<pad>": 0, "<eos>": 1, **{f"w{i}": i + 2 for i in range(98)}}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<eos>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<eos>"
    )


def tiny_config():
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=128,
    )


def save_tiny_model(folder: Path) -> None:
    """The configuration and the tokenizer of a model, without weights."""
    config = tiny_config()
    config.architectures = ["LlamaForCausalLM"]
    config.save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)


def start_trl(path: Path, draw: Draw) -> None:
    """Accelerate takes the command, TRL its arguments; one process makes a step of a tiny model."""
    from datasets import Dataset
    from transformers import LlamaForCausalLM
    from trl import DPOTrainer, SFTTrainer, get_peft_config
    from trl.scripts import dpo, sft

    pairs = "trl.scripts.dpo" in path.read_text()
    cpu = ["--use_cpu", "true", "--max_steps", "1", "--report_to", "none"]
    cpu += ["--gradient_accumulation_steps", "1", "--dataloader_pin_memory", "false"]
    words = command_of(path, "accelerate", cpu)
    module = next(word for word in words if word.startswith("trl.scripts."))
    _, environment = launched(words, module)
    check_accelerate(environment)
    parser = (dpo if pairs else sft).make_parser()
    _, training, model_args, _ = parser.parse_args_and_config(behind(words, module))
    assert training.per_device_train_batch_size >= 1
    training.output_dir = str(path.parent / "output")
    training.max_length = 64
    config = tiny_config()
    text = " ".join(f"w{i % 98}" for i in range(40))
    rows = [{"prompt": "w1 w2", "chosen": text, "rejected": "w3 w4"} if pairs else {"text": text}]
    trainer = (DPOTrainer if pairs else SFTTrainer)(
        model=LlamaForCausalLM(config),
        args=training,
        train_dataset=Dataset.from_list(rows * 16),
        processing_class=tiny_tokenizer(),
        peft_config=get_peft_config(model_args),
        **({"ref_model": LlamaForCausalLM(config)} if pairs and not model_args.use_peft else {}),
    )
    trainer.train()


# --- torchtune ---------------------------------------------------------------------------------


def torchtune_recipe(name: str) -> type:
    """The class of a recipe, which is no package."""
    import torchtune

    path = Path(torchtune.__file__).parents[1] / "recipes" / f"{name}.py"
    return next(
        value
        for key, value in runpy.run_path(str(path), run_name=name).items()
        if key.endswith("Distributed") and isinstance(value, type) and value.__module__ == name
    )


def start_torchtune(path: Path, draw: Draw) -> None:
    """torchtune validates the file, its recipe takes it on all ranks, and its parts are made."""
    import torch
    import torch.distributed as dist
    from omegaconf import OmegaConf
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from torchtune import config as tune_config
    from torchtune import training, utils

    if not dist.is_initialized():
        dist.init_process_group("fake", rank=0, world_size=RANKS, store=FakeStore())
    text = path.read_text()
    command = next(line for line in text.splitlines() if "starts with:" in line)
    name = next(word for word in command.split() if word.endswith("_distributed"))
    config = OmegaConf.load(path)
    tune_config.validate(config)
    recipe_class = torchtune_recipe(name)
    types_of = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    scope = recipe_class.__init__.__globals__
    with (
        mock.patch.dict(scope, {"init_process_group": lambda *_: None}),
        mock.patch.object(utils, "get_device", lambda **_: torch.device("cuda")),
        mock.patch.object(training, "get_dtype", lambda dtype, **_: types_of[dtype]),
        mock.patch.object(training, "get_distributed_backend", lambda *_, **__: "fake"),
    ):
        recipe = recipe_class(config)
    assert recipe.world_size == RANKS
    with torch.device("meta"):
        model = tune_config.instantiate(config.model)
    assert sum(one.numel() for one in model.parameters()) > 0
    tune_config.instantiate(config.loss)


# --- LLaMA-Factory -----------------------------------------------------------------------------


def tiny_model_beside(path: Path) -> str:
    """The folder of a tiny model, which the file names as its model."""
    folder = path.parent / "model"
    save_tiny_model(folder)
    return str(folder)


def start_llama_factory(path: Path, draw: Draw) -> None:
    """LLaMA-Factory's arguments and its own checks of them, on all ranks."""
    import yaml
    from judge_workplace import join_ranks

    ranks = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(RANKS), "DISABLE_VERSION_CHECK": "1"}
    ranks |= {"MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
    said = yaml.safe_load(path.read_text())
    said |= {"use_cpu": True, "model_name_or_path": tiny_model_beside(path)}
    join_ranks()
    with mock.patch.dict(os.environ, ranks), contextlib.chdir(path.parent):
        from llamafactory.hparams.parser import get_train_args

        model, _, training, tuning, _ = get_train_args(said)
    assert training.world_size == RANKS
    assert training.per_device_train_batch_size == said["per_device_train_batch_size"]
    assert tuning.finetuning_type == said["finetuning_type"]
    kept = not model.disable_gradient_checkpointing
    assert kept == (draw["recompute"] == "full") or draw["recompute"] not in ("full", "none")


# --- axolotl -----------------------------------------------------------------------------------


def start_axolotl(path: Path, draw: Draw) -> None:
    """axolotl's schema takes the file, with its checks of what the devices can do."""
    import yaml
    from axolotl.utils.config import validate_config
    from axolotl.utils.dict import DictDefault
    from axolotl.utils.schemas.config import AxolotlInputConfig

    said = yaml.safe_load(path.read_text())
    unknown = set(said) - set(AxolotlInputConfig.model_fields)
    assert not unknown, f"axolotl knows no {unknown}"
    said["base_model"] = tiny_model_beside(path)
    devices = {"bf16": True, "fp8": True, "tf32": True, "n_gpu": RANKS, "n_node": 4}
    config = validate_config(
        DictDefault(said),
        capabilities=devices | {"compute_capability": "sm_90"},
        env_capabilities={"torch_version": "2.8.0"},
    )
    if config.dp_shard_size:
        degrees = ("dp_shard_size", "dp_replicate_size", "tensor_parallel_size")
        ranks = config.context_parallel_size or 1
        for name in degrees:
            ranks *= config[name] or 1
        assert ranks == RANKS, ranks


# --- Megatron-SWIFT ----------------------------------------------------------------------------


def start_swift(path: Path, draw: Draw) -> None:
    """ms-swift knows each argument of `megatron sft` and the values of those with a choice."""
    caches = stand_ins.StandIn("modelscope.hub.utils.utils")
    caches.get_cache_dir = lambda *_: str(path.parent)
    sys.modules.setdefault(caches.__name__, caches)
    from swift.megatron.arguments import MegatronSftArguments
    from transformers import HfArgumentParser

    words = command_of(path, "megatron")
    assert words[0] in ("sft", "pt", "rlhf"), words[0]
    with mock.patch.object(MegatronSftArguments, "__post_init__", lambda _self: None):
        parser = HfArgumentParser([MegatronSftArguments])
        said, unknown = parser.parse_args_into_dataclasses(words[1:], return_remaining_strings=True)
    assert not unknown, f"ms-swift knows no {unknown}"
    assert said.global_batch_size == 64, said.global_batch_size
