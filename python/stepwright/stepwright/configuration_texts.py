"""Converts configuration objects of training programs into the texts of equivalent files."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import math
import os
import sys
from collections.abc import Mapping
from typing import Any

from . import _planner
from .errors import InputError

Content = dict[str, Any]


def converts(given: Any) -> bool:
    return callable(getattr(given, "to_dict", None))


def plain(value: Any) -> Any:
    """A value as JSON has it; what JSON lacks becomes a word."""
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str) else value.name
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(each) for each in value), key=str)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return str(value).removeprefix("torch.")


def content_of(given: Any) -> Content:
    """The mapping that an object makes of itself."""
    whole = given.to_dict() if converts(given) and not isinstance(given, Mapping) else given
    content: Content = plain(whole)
    return content


def arguments_content(given: Any) -> Content:
    """TrainingArguments, with what the file of DeepSpeed that they name says."""
    content = content_of(given)
    path = content.get("deepspeed")
    if isinstance(path, str) and os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            content["deepspeed"] = json.load(file)
    return content


def json_text(content: Content) -> str:
    return json.dumps(content)


def _yaml(content: Content) -> str:
    return _planner.to_yaml(json_text(content))


def adapter_words(adapter: Any) -> Content:
    """A LoraConfig in the words of TRL's ModelConfig (trl/trainer/model_config.py)."""
    content = content_of(adapter)
    kind = str(content.get("peft_type", "LORA")).rpartition(".")[2]
    if kind != "LORA":
        raise InputError(f"<{type(adapter).__name__}>: peft_type is {kind}; only LORA is read")
    words = {"use_peft": True}
    for word, key in (
        ("lora_r", "r"),
        ("lora_alpha", "lora_alpha"),
        ("lora_dropout", "lora_dropout"),
        ("lora_target_modules", "target_modules"),
        ("lora_target_parameters", "target_parameters"),
        ("lora_modules_to_save", "modules_to_save"),
        ("use_dora", "use_dora"),
        ("layers_to_transform", "layers_to_transform"),
        ("rank_pattern", "rank_pattern"),
    ):
        value = content.get(key)
        if value is not None and value is not False and value != [] and value != {}:
            words[word] = value
    return words


def deepspeed_text(given: Any) -> str:
    """DeepSpeed's mapping; a DeepSpeedConfig and Accelerate's plugin keep what they were given."""
    for name in ("_param_dict", "deepspeed_config"):
        if isinstance(getattr(given, name, None), Mapping):
            return json_text(plain(getattr(given, name)))
    return json_text(content_of(given))


# Accelerate's words for its plugin: src/accelerate/utils/dataclasses.py.
_FSDP_FIELDS = {
    "fsdp_version": "fsdp_version",
    "sharding_strategy": "fsdp_sharding_strategy",
    "reshard_after_forward": "fsdp_reshard_after_forward",
    "cpu_offload": "fsdp_offload_params",
    "activation_checkpointing": "fsdp_activation_checkpointing",
    "backward_prefetch": "fsdp_backward_prefetch",
    "use_orig_params": "fsdp_use_orig_params",
    "auto_wrap_policy": "fsdp_auto_wrap_policy",
    "transformer_cls_names_to_wrap": "fsdp_transformer_layer_cls_to_wrap",
    "state_dict_type": "fsdp_state_dict_type",
}


def _fsdp_section(plugin: Any) -> Content:
    """The section `fsdp_config` of Accelerate's file that makes this plugin."""
    section: Content = {}
    for field, word in _FSDP_FIELDS.items():
        value = getattr(plugin, field, None)
        if field == "cpu_offload":
            value = _offloads(value)
        elif isinstance(value, enum.Enum):
            value = value.name
        elif field == "auto_wrap_policy" and value is not None:
            value = _wrap_word(value)
        if value is not None:
            section[word] = plain(value)
    if section.get("fsdp_version") == 2:
        section.pop("fsdp_sharding_strategy", None)
    elif isinstance(section.get("fsdp_reshard_after_forward"), str):
        section["fsdp_sharding_strategy"] = section.pop("fsdp_reshard_after_forward")
    return section


def _offloads(value: Any) -> bool:
    """True for what PyTorch's CPUOffload and CPUOffloadPolicy say; False for OffloadPolicy."""
    if type(value).__name__.endswith("OffloadPolicy"):
        return type(value).__name__ == "CPUOffloadPolicy"
    return bool(getattr(value, "offload_params", value))


def _wrap_word(policy: Any) -> str:
    """The word, as "TRANSFORMER_BASED_WRAP", of a function of torch.distributed.fsdp.wrap."""
    function = policy.func if isinstance(policy, functools.partial) else policy
    name = getattr(function, "__name__", str(function))
    words = {
        "transformer_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "size_based_auto_wrap_policy": "SIZE_BASED_WRAP",
    }
    return words.get(name, "TRANSFORMER_BASED_WRAP" if "transformer" in name else "NO_WRAP")


def fsdp_text(plugin: Any) -> str:
    content: Content = {"distributed_type": "FSDP", "fsdp_config": _fsdp_section(plugin)}
    policy = getattr(plugin, "mixed_precision_policy", None)
    precision = plain(getattr(policy, "param_dtype", None))
    if precision in ("bfloat16", "float16"):
        content["mixed_precision"] = {"bfloat16": "bf16", "float16": "fp16"}[precision]
    return _yaml(content)


def accelerator_text(accelerator: Any) -> str:
    """The file of Accelerate that makes what an Accelerator has resolved."""
    state = accelerator.state
    kind = str(plain(getattr(state, "distributed_type", "NO"))).rpartition(".")[2]
    content: Content = {
        "distributed_type": kind if kind in ("FSDP", "DEEPSPEED", "NO") else "MULTI_GPU",
        "mixed_precision": str(getattr(state, "mixed_precision", "no")),
        "num_processes": int(getattr(state, "num_processes", 1)),
    }
    if kind == "FSDP":
        content["fsdp_config"] = _fsdp_section(state.fsdp_plugin)
    degrees = getattr(state, "parallelism_config", None)
    if degrees is not None:
        content["parallelism_config"] = {
            f"parallelism_config_{name}": getattr(degrees, name)
            for name in ("dp_replicate_size", "dp_shard_size", "tp_size", "cp_size", "sp_size")
            if getattr(degrees, name, None)
        }
    return _yaml(content)


def printed_arguments(arguments: Any) -> str:
    """The block that Megatron-LM prints: megatron/training/arguments.py, _print_args."""
    lines = ["------------------------ arguments ------------------------"]
    for name in sorted(vars(arguments), key=str.lower):
        lines.append(f"  {name} {'.' * max(48 - len(name), 1)} {getattr(arguments, name)}")
    return "\n".join([*lines, "-------------------- end of arguments ---------------------", ""])


def _with_classes(value: Any, key: str, whole_name: bool) -> Any:
    """Nested dataclasses as mappings, which have the names of their classes under a key."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        name = f"{kind.__module__}.{kind.__qualname__}" if whole_name else kind.__qualname__
        fields = [each.name for each in dataclasses.fields(value)]
        return {key: name} | {
            each: _with_classes(getattr(value, each, None), key, whole_name) for each in fields
        }
    if isinstance(value, Mapping):
        return {str(each): _with_classes(value[each], key, whole_name) for each in value}
    if isinstance(value, (list, tuple)):
        return [_with_classes(each, key, whole_name) for each in value]
    return plain(value)


def container_text(container: Any) -> str:
    """The YAML of Megatron-Bridge: src/megatron/bridge/training/utils/config_utils.py."""
    own = converts(container)
    content = plain(container.to_dict()) if own else _with_classes(container, "_target_", True)
    if not str(content.get("_target_")).endswith(".ConfigContainer"):
        content["_target_"] = "megatron.bridge.training.config.ConfigContainer"
    return _yaml(content)


def trainer_config_text(config: Any) -> str:
    """A Trainer.Config of torchtitan: the flavor of its model, and the classes of its sections."""
    content: Content = {}
    for each in dataclasses.fields(config):
        value = getattr(config, each.name, None)
        if each.name == "model_spec" and value is not None:
            content[each.name] = {"name": value.name, "flavor": value.flavor}
        else:
            content[each.name] = _with_classes(value, "()", False)
    return json_text(content)


def omegaconf_text(config: Any) -> str:
    """The configuration with its references resolved, by the package that made it."""
    to_container = sys.modules["omegaconf"].OmegaConf.to_container
    return _yaml(plain(to_container(config, resolve=True)))
