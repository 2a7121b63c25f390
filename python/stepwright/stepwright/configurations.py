"""Recognises configuration objects of training programs for `check` (list: docs/python.md).

The names of classes and modules identify the objects, so that no other package is imported.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .answers import LaunchRecord
from .configuration_texts import (
    accelerator_text,
    adapter_words,
    arguments_content,
    container_text,
    content_of,
    converts,
    deepspeed_text,
    fsdp_text,
    json_text,
    omegaconf_text,
    printed_arguments,
    trainer_config_text,
)
from .errors import InputError

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
    arguments = [arguments_content(one) for one in objects if _kind_of(one) == "arguments"]
    for adapter in (one for one in objects if _kind_of(one) == "adapter"):
        if not arguments:
            raise InputError(
                f"<{type(adapter).__name__}>: says only how adapters are made; give the "
                "TrainingArguments beside it"
            )
        arguments[0] |= adapter_words(adapter)
    texts: list[tuple[str, str]] = []
    for one in objects:
        kind = _kind_of(one)
        if kind == "adapter":
            continue
        name = _named(one, {name for name, _ in texts})
        if kind == "arguments":
            texts.append((name, json_text(arguments.pop(0))))
        else:
            texts.append((name, _KINDS[kind or "other"].text(one)))
    return texts


def ranks_of(given: Iterable[Any], cluster: str | None) -> int | None:
    """Ranks of this program's process group, which its objects leave to the launcher.

    None if there is no group, or one of a single rank, if nothing that is given is an object of a
    program, and if the cluster says how many nodes it has.
    """
    if ":" in (cluster or "") or not any(map(is_configuration, given)):
        return None
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


def _is_arguments(given: Any) -> bool:
    """TrainingArguments of transformers, and what extends them (TRL's SFTConfig and others)."""
    names = {each.__name__ for each in type(given).__mro__}
    return converts(given) and "TrainingArguments" in names


def _is_config(given: Any) -> bool:
    """The configuration of a model of transformers."""
    return converts(given) and isinstance(getattr(given, "model_type", None), str)


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
    "fsdp": _Kind(lambda one: _is_plugin(one, "FullyShardedDataParallelPlugin"), fsdp_text),
    "accelerator": _Kind(lambda one: _is_plugin(one, "Accelerator"), accelerator_text),
    "config": _Kind(_is_config, lambda given: json_text(content_of(given))),
    "deepspeed": _Kind(_is_deepspeed, deepspeed_text),
    "trainer": _Kind(lambda one: _made_by(one, "transformers", "Trainer"), str),
    "model": _Kind(lambda one: _made_by(one, "transformers", "PreTrainedModel"), str),
    "adapted": _Kind(lambda one: _made_by(one, "peft", "PeftModel"), str),
    "trainer_config": _Kind(
        lambda one: _made_by(one, "torchtitan", "Trainer.Config"), trainer_config_text
    ),
    "container": _Kind(_is_container, container_text),
    "omegaconf": _Kind(_is_omegaconf, omegaconf_text),
    "namespace": _Kind(_is_namespace, printed_arguments),
    "other": _Kind(converts, lambda given: json_text(content_of(given))),
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
