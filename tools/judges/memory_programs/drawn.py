"""Sizes of random models and batches, and their words in a table of measurements."""

from __future__ import annotations

import random
from dataclasses import dataclass

VOCABULARIES = [32000, 64000, 128256, 151936]


@dataclass(frozen=True)
class Model:
    """The sizes of a decoder with heads of 128; `experts` is 0 for a dense one."""

    family: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    experts: int = 0
    top_k: int = 0

    @property
    def kind(self) -> str:
        """`dense` or `mixture`."""
        return "mixture" if self.experts else "dense"

    def words(self) -> str:
        """The model's choices that have no column, in the words of job files."""
        words = "head_dim: 128, tied: false"
        if self.family != "llama":
            words += ", qk_norm: head"
        if self.experts:
            words += f", experts: {{count: {self.experts}, top_k: {self.top_k}, ffn: {self.ffn}}}"
        return "{" + words + "}"


@dataclass(frozen=True)
class Batch:
    """Sequences of one rank in one pass, and the ranks."""

    length: int
    micro_batch: int
    ranks: int


def draw_model(dice: random.Random, mixture: bool) -> Model:
    hidden = dice.choice([1024, 2048, 3072, 4096])
    heads = hidden // 128
    return Model(
        family="qwen3_moe" if mixture else dice.choice(["llama", "qwen3"]),
        hidden=hidden,
        layers=dice.choice([2, 2, 2, 3]),
        heads=heads,
        kv_heads=dice.choice([n for n in (2, 4, 8) if n <= heads]),
        ffn=dice.choice([512, 768, 1024]) if mixture else hidden * dice.choice([3, 4]),
        vocab=dice.choice(VOCABULARIES),
        experts=dice.choice([16, 32, 64]) if mixture else 0,
        top_k=dice.choice([2, 4, 8]) if mixture else 0,
    )


def draw_batch(dice: random.Random) -> Batch:
    return Batch(
        length=dice.choice([1024, 2048, 4096, 8192]),
        micro_batch=dice.choice([1, 2, 4]),
        ranks=dice.choice([2, 4, 8, 16]),
    )


def columns_of(model: Model, batch: Batch) -> dict[str, object]:
    """The columns of a row that say a model and its batch on ranks of data alone."""
    return {
        "model": f"{model.family} {model.hidden}x{model.layers}",
        "kind_of_model": model.kind,
        "gpus": batch.ranks,
        "layers": model.layers,
        "hidden": model.hidden,
        "heads": model.heads,
        "kv_heads": model.kv_heads,
        "ffn_hidden": model.ffn,
        "vocab": model.vocab,
        "seq_len": batch.length,
        "global_batch": batch.ranks * batch.micro_batch,
        "micro_batch": batch.micro_batch,
        "tp": 1,
        "pp": 1,
        "vpp": 1,
        "cp": 1,
        "ep": 1,
    }
