"""Dense models of transformers whose products torchao multiplies in fp8, as Trainer runs them with
accelerate's FSDP2 (accelerate/utils/ao.py, convert_model_to_fp8_ao).

Operators are single ones, as without torch.compile: a cast multiplies a copy in fp32
(torchao/float8/float8_tensor.py, _ToFloat8ConstrFunc).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from importlib.metadata import version
from unittest import mock

import torch
from accelerate.utils.ao import filter_linear_layers, find_first_last_linear_layers
from memory_programs import transformers_program as base
from memory_programs.counted import count_step
from memory_programs.drawn import draw_batch, draw_model
from torchao.float8 import Float8LinearConfig, convert_to_float8_training

VERSIONS = f"float8 of torchao {version('torchao')}, {base.VERSIONS}"
RECIPES = ("tensorwise", "rowwise")


@dataclass(frozen=True)
class Case(base.Case):
    """A drawn model and plan, and the scales of its products."""

    recipe: str = "tensorwise"


def draw(dice: random.Random, place: int) -> Case:
    model = draw_model(dice, False)
    return Case(
        model=model,
        batch=draw_batch(dice),
        checkpointing=dice.random() < 0.5,
        parallel="fsdp2",
        reshards=dice.random() < 0.75,
        loss="model",
        adapter_rank=0,
        recipe=dice.choice(RECIPES),
    )


def narrowed(model: torch.nn.Module, recipe: str) -> torch.nn.Module:
    """The model with products in fp8, but for the first one and the last."""
    ends = list(find_first_last_linear_layers(model))

    def converts(module: torch.nn.Module, name: str) -> bool:
        return filter_linear_layers(module, name, layers_to_filter=ends)

    config = Float8LinearConfig.from_recipe_name(recipe)
    return convert_to_float8_training(model, config=config, module_filter_fn=converts)


def measured(case: Case, count=count_step) -> dict[str, float]:
    """What `count` counts of a step of a case."""
    whole = base.build

    def build(of_case: base.Case) -> torch.nn.Module:
        return narrowed(whole(of_case), case.recipe)

    with mock.patch.object(base, "build", build):
        return base.measured(case, count)


def row_of(case: Case) -> dict[str, object]:
    row = base.row_of(case)
    job = str(row["job"]).replace("precision: bf16", "precision: fp8")
    job = job.replace("kernels: {", f"kernels: {{casts: {case.recipe}, ")
    return row | {"program": "transformers_float8", "job": job}
