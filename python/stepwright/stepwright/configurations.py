"""Objects of programs that train, as the texts that `check` reads: docs/python.md lists them.

They are known by the names of their classes and modules, so that no package of theirs is imported.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _planner
from .answers import LaunchRecord
from .errors import InputError

Content = dict[str, Any]

# Keys of a configuration of DeepSpeed: deepspeedai/DeepSpeed deepspeed/runtime/constants.py.
_DEEPSPEED_KEYS = {
    "zero_optimization",
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "gradient_accumulation_steps",
}


def is_configuration(given: Any) -> bool:
    """True for an object of a program that trains, or a record of `capture`; False for plans."""
    if isinstance(given, (str, os.PathLike)):
        return False
    return _kind_of(given) is not None


def texts_of(given: Iterable[Any]) -> list[tuple[str, str]]:
    """Names for messages, and the texts of objects that describe one job together.

    Raises `InputError` for an adapter without the arguments of the trainer beside it.
    """
    order = list(_KINDS)
    objects = [part for one in given for part in _parts_of(one)]
    objects.sort(key=lambda one: order.index(_kind_of(one) or "other"))
    arguments = [_arguments(one) for one in objects if _kind_of(one) == "arguments"]
    for adapter in (one for one in objects if _kind_of(one) == "adapter"):
        if not arguments:
            raise InputError(
                f"<{type(adapter).__name__}>: says only how adapters are made; give the "
                "TrainingArguments beside it"
            )
        arguments[0] |= _adapter_words(adapter)
    texts: list[tuple[str, str]] = []
    for one in objects:
        kind = _kind_of(one)
        if kind == "adapter":
            continue
        name = _named(one, {name for name, _ in texts})
        if kind == "arguments":
            texts.append((name, _json(arguments.pop(0))))
        else:
            texts.append((name, _KINDS[kind].text(one)))
    return texts


def started_ranks() -> int | None:
    """Ranks of this program's process group; None if there is none, or one of a single rank."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    ranks = int(distributed.get_world_size())
    return ranks if ranks > 1 else None


def _made_by(given: Any, package: str, *names: str) -> bool:
    """True if the class of an object, or one that it extends, has this package and name."""
    return any(
        each.__module__.split(".")[0] == package and each.__qualname__ in names
        for each in type(given).__mro__
    )


def _converts(given: Any) -> bool:
    return callable(getattr(given, "to_dict", None))


def _is_arguments(given: Any) -> bool:
    """TrainingArguments of transformers, and what extends them (TRL's SFTConfig and others)."""
    names = {each.__name__ for each in type(given).__mro__}
    return _converts(given) and bool(names & {"TrainingArguments", "_BaseConfig"})


def _is_config(given: Any) -> bool:
    """The configuration of a model of transformers."""
    return _converts(given) and isinstance(getattr(given, "model_type", None), str)


def _is_adapter(given: Any) -> bool:
    return _made_by(given, "peft", "LoraConfig", "PeftConfig")


def _is_deepspeed(given: Any) -> bool:
    if isinstance(given, Mapping):
        return "stepwright" not in given and bool(_DEEPSPEED_KEYS & set(given))
    return _made_by(given, "deepspeed", "DeepSpeedConfig") or _is_plugin(given, "DeepSpeedPlugin")


def _is_plugin(given: Any, name: str) -> bool:
    return _made_by(given, "accelerate", name)


def _is_namespace(given: Any) -> bool:
    """Arguments of Megatron-LM: a Namespace of argparse, or a class of a fork."""
    return (
        hasattr(given, "tensor_model_parallel_size")
        and hasattr(given, "num_layers")
        and (type(given).__name__ in ("Namespace", "SimpleNamespace"))
    )


def _is_container(given: Any) -> bool:
    """A ConfigContainer of Megatron-Bridge, or a class of one's own that extends it."""
    return any(each.__name__ == "ConfigContainer" for each in type(given).__mro__)


def _is_omegaconf(given: Any) -> bool:
    return _made_by(given, "omegaconf", "DictConfig")


def _plain(value: Any) -> Any:
    """A value as JSON has it; what JSON lacks becomes a word."""
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str) else value.name
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(each) for each in value), key=str)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return str(value).removeprefix("torch.")


def _content(given: Any) -> Content:
    """The mapping that an object makes of itself."""
    if isinstance(given, Mapping):
        return _plain(given)
    return _plain(given.to_dict() if _converts(given) else given)


def _arguments(given: Any) -> Content:
    """TrainingArguments, with what the file of DeepSpeed that they name says."""
    content = _content(given)
    path = content.get("deepspeed")
    if isinstance(path, str) and os.path.isfile(path):
        with open(path, encoding="utf-8") as file:
            content["deepspeed"] = json.load(file)
    return content


def _json(content: Content) -> str:
    return json.dumps(content)


def _yaml(content: Content) -> str:
    return _planner.to_yaml(_json(content))


def _adapter_words(adapter: Any) -> Content:
    """A LoraConfig in the words of TRL's ModelConfig (trl/trainer/model_config.py)."""
    content = _content(adapter)
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


def _deepspeed_text(given: Any) -> str:
    """DeepSpeed's mapping; a DeepSpeedConfig and Accelerate's plugin keep what they were given."""
    for name in ("_param_dict", "deepspeed_config"):
        if isinstance(getattr(given, name, None), Mapping):
            return _json(_plain(getattr(given, name)))
    return _json(_content(given))


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
            section[word] = _plain(value)
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


def _fsdp_text(plugin: Any) -> str:
    content: Content = {"distributed_type": "FSDP", "fsdp_config": _fsdp_section(plugin)}
    policy = getattr(plugin, "mixed_precision_policy", None)
    precision = _plain(getattr(policy, "param_dtype", None))
    if precision in ("bfloat16", "float16"):
        content["mixed_precision"] = {"bfloat16": "bf16", "float16": "fp16"}[precision]
    return _yaml(content)


def _accelerator_text(accelerator: Any) -> str:
    """The file of Accelerate that makes what an Accelerator has resolved."""
    state = accelerator.state
    kind = str(_plain(getattr(state, "distributed_type", "NO"))).rpartition(".")[2]
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


def _block(arguments: Any) -> str:
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
    return _plain(value)


def _container_text(container: Any) -> str:
    """The YAML of Megatron-Bridge: src/megatron/bridge/training/utils/config_utils.py."""
    own = _converts(container)
    content = _plain(container.to_dict()) if own else _with_classes(container, "_target_", True)
    if not str(content.get("_target_")).endswith(".ConfigContainer"):
        content["_target_"] = "megatron.bridge.training.config.ConfigContainer"
    return _yaml(content)


def _trainer_config_text(config: Any) -> str:
    """A Trainer.Config of torchtitan: the flavor of its model, and the classes of its sections."""
    content: Content = {}
    for each in dataclasses.fields(config):
        value = getattr(config, each.name, None)
        if each.name == "model_spec" and value is not None:
            content[each.name] = {"name": value.name, "flavor": value.flavor}
        else:
            content[each.name] = _with_classes(value, "()", False)
    return _json(content)


def _omegaconf_text(config: Any) -> str:
    """The configuration with its references resolved, by the package that made it."""
    to_container = sys.modules["omegaconf"].OmegaConf.to_container
    return _yaml(_plain(to_container(config, resolve=True)))


@dataclasses.dataclass(frozen=True)
class _Kind:
    fits: Callable[[Any], bool]
    text: Callable[[Any], str]


# The first that fits counts. The text of the first kind here, of those that are given, says whose
# configuration it is.
_KINDS = {
    "record": _Kind(lambda given: isinstance(given, LaunchRecord), lambda given: given.text),
    "adapter": _Kind(_is_adapter, str),
    "arguments": _Kind(_is_arguments, str),
    "fsdp": _Kind(lambda one: _is_plugin(one, "FullyShardedDataParallelPlugin"), _fsdp_text),
    "accelerator": _Kind(lambda one: _is_plugin(one, "Accelerator"), _accelerator_text),
    "config": _Kind(_is_config, lambda given: _json(_content(given))),
    "deepspeed": _Kind(_is_deepspeed, _deepspeed_text),
    "trainer": _Kind(lambda one: _made_by(one, "transformers", "Trainer"), str),
    "model": _Kind(lambda one: _made_by(one, "transformers", "PreTrainedModel"), str),
    "adapted": _Kind(lambda one: _made_by(one, "peft", "PeftModel"), str),
    "trainer_config": _Kind(
        lambda one: _made_by(one, "torchtitan", "Trainer.Config"), _trainer_config_text
    ),
    "container": _Kind(_is_container, _container_text),
    "omegaconf": _Kind(_is_omegaconf, _omegaconf_text),
    "namespace": _Kind(_is_namespace, _block),
    "other": _Kind(_converts, lambda given: _json(_content(given))),
}


def _kind_of(given: Any) -> str | None:
    return next((name for name, kind in _KINDS.items() if kind.fits(given)), None)


def _parts_of(given: Any) -> list[Any]:
    """Configurations that a trainer, a model or an Accelerator holds; else the object itself."""
    kind = _kind_of(given)
    if kind == "trainer":
        return [given.args, *_parts_of(given.model)]
    if kind == "adapted":
        return [given.get_base_model().config, *given.peft_config.values()]
    if kind == "model":
        return [given.config]
    plugin = getattr(getattr(given, "state", None), "deepspeed_plugin", None)
    if kind == "accelerator" and plugin is not None:
        return [plugin]
    return [given]


def _named(given: Any, taken: set[str]) -> str:
    name = type(given).__qualname__.rpartition("<locals>.")[2]
    number = next(i for i in range(1, len(taken) + 2) if _numbered(name, i) not in taken)
    return _numbered(name, number)


def _numbered(name: str, number: int) -> str:
    return f"<{name}>" if number == 1 else f"<{name} {number}>"
