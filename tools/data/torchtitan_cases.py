"""The cases of sample_torchtitan.py: configurations of torchtitan 0.2.2, most valuable first.

python3 -B tools/data/torchtitan_cases.py CASES.json
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text

FULL = {"mode": "full"}
BY_OPERATOR = {"mode": "selective", "selective_ac_option": "op"}
EVERY_SECOND = {"mode": "selective", "selective_ac_option": "2"}
NONE = {"mode": "none"}
FP8 = {"converters": ["quantize.linear.float8"]}
TENSORWISE = {"quantize.linear.float8": {"filter_fqns": ["output"]}}
ROWWISE = {"quantize.linear.float8": {"recipe_name": "rowwise", "filter_fqns": ["output"]}}
COMPILED = {"compile": {"enable": True, "components": ["model", "loss"]}}
BALANCED = {"debug": {"moe_force_load_balance": True}}
# 70B in fewer layers, as a model of a plan and as torchtitan's sizes.
CUT_70B = (
    "{{layers: {}, hidden: 8192, heads: 64, kv_heads: 8, ffn: 28672, vocab: 128256, "
    "positions: 8192, rotary_base: 500000}}"
)


def section(name: str, keys: dict) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join([f"[{name}]", *lines, ""])


def case(name: str, ranks: int, batch: int, parallelism: dict, recompute: dict, **more: object):
    """A case; `more` has what differs from Llama 3 8B at 8,192 tokens on the first rank."""
    sections = {
        "model": {
            "name": more.pop("model", "llama3"),
            "flavor": more.pop("flavor", "8B"),
            **more.pop("converters", {}),
        },
        "optimizer": {"name": "AdamW", "lr": 3e-4, "eps": 1e-8},
        "lr_scheduler": {"warmup_steps": 200},
        "training": {
            "steps": 1000,
            "local_batch_size": batch,
            "seq_len": more.pop("length", 8192),
            **more.pop("training", {}),
        },
        "parallelism": parallelism,
        "activation_checkpoint": recompute,
        "metrics": {"log_freq": 1000},
        **more.pop("sections", {}),
    }
    toml = "\n".join(section(*each) for each in sections.items())
    return {"name": name, "ranks": ranks, "rank": more.pop("rank", 0), "toml": toml, **more}


def tensor(degree: int, **more: object) -> dict:
    return {"tensor_parallel_degree": degree, **more}


def context(degree: int, **more: object) -> dict:
    return {"context_parallel_degree": degree, **more}


def piped(name: str, schedule: str, batch: int, recompute: dict, **more: object):
    """One of four stages on 32 ranks; ranks of the last stage start at 24."""
    length = more.setdefault("length", 4096)
    degrees = {"pipeline_parallel_degree": 4, "pipeline_parallel_schedule": schedule}
    rows = [1, length, 4096]
    return case(name, 32, batch, degrees, recompute, stage_rows=rows, **more)


def cut(layers: int) -> dict:
    return {"flavor": "70B", "sizes": {"n_layers": layers}, "plan_model": CUT_70B.format(layers)}


def first_cases() -> list[dict]:
    fp8, rows = {**COMPILED, **TENSORWISE}, {**COMPILED, **ROWWISE}
    whole = {"disable_loss_parallel": True}
    experts = {"expert_parallel_degree": 8}
    long_run = {"warm_up": 1, "least": 2, "needs_s": 60}
    qwen = {"model": "qwen3", "length": 4096}
    moe = {**qwen, "flavor": "30B-A3B", "sections": BALANCED}
    latent = {
        "model": "deepseek_v3",
        "flavor": "16B",
        "length": 4096,
        "sizes": {"attn_type": "sdpa"},
    }
    return [
        case("tp8_full_b4", 64, 4, tensor(8), FULL),
        case("tp8_full_b4_whole_loss", 64, 4, tensor(8, **whole), FULL),
        case("tp8_op_b4_compile", 64, 4, tensor(8), BY_OPERATOR, sections=COMPILED),
        case(
            "l70b20_tp8_full_b16_fp8_compile",
            256,
            16,
            tensor(8),
            FULL,
            converters=FP8,
            sections=fp8,
            **cut(20),
            **long_run,
        ),
        case("fsdp8_op_b1", 8, 1, {}, BY_OPERATOR),
        case("fsdp8_op_b1_compile", 8, 1, {}, BY_OPERATOR, sections=COMPILED),
        case("fsdp64_full_b1", 64, 1, {}, FULL),
        case("fsdp64_op_b2", 64, 2, {}, BY_OPERATOR),
        case("fsdp64_none_s4096", 64, 1, {}, NONE, length=4096),
        case("tp2_full_b2", 64, 2, tensor(2), FULL),
        case("tp4_op_b2", 64, 2, tensor(4), BY_OPERATOR),
        case("tp8_none_b2", 64, 2, tensor(8), NONE),
        case("cp2_full_s32k", 8, 1, context(2), FULL, length=32768),
        case("cp4_full_s64k_compile", 8, 1, context(4), FULL, length=65536, sections=COMPILED),
        case("cp8_full_s128k", 8, 1, context(8), FULL, length=131072),
        piped("pp4_1f1b_first", "1F1B", 8, FULL),
        piped("pp4_1f1b_last", "1F1B", 8, FULL, rank=24),
        piped("pp4_interleaved_first", "Interleaved1F1B", 8, FULL),
        piped("pp4_interleaved_last", "Interleaved1F1B", 8, FULL, rank=24),
        case("fsdp64_op_b2_fp8_tensorwise", 64, 2, {}, BY_OPERATOR, converters=FP8, sections=fp8),
        case("fsdp64_op_b2_fp8_rowwise", 64, 2, {}, BY_OPERATOR, converters=FP8, sections=rows),
        case("fsdp64_op_b2_compile", 64, 2, {}, BY_OPERATOR, sections=COMPILED),
        case("qwen3_30b_ep8_full", 64, 1, experts, FULL, **moe),
        case("dsv3_16b_ep8_full", 64, 2, experts, FULL, sections=BALANCED, **latent),
    ]


def later_cases() -> list[dict]:
    rows = {**COMPILED, **ROWWISE}
    whole = {"disable_loss_parallel": True}
    qwen = {"model": "qwen3", "length": 4096}
    copies = {"data_parallel_replicate_degree": 8, "data_parallel_shard_degree": 8}
    moe = {**qwen, "flavor": "30B-A3B", "sections": BALANCED}
    return [
        case("fsdp64_layer2_b1", 64, 1, {}, EVERY_SECOND),
        case("fsdp64_full_b4_compile", 64, 4, {}, FULL, sections=COMPILED),
        case("hsdp8x8_full_b2", 64, 2, copies, FULL),
        case("fsdp64_full_b1_never", 64, 1, {"fsdp_reshard_after_forward": "never"}, FULL),
        case("fsdp8_full_b1_twice", 8, 1, {}, FULL, training={"global_batch_size": 16}),
        case("l70b8_tp8_full_b4", 256, 4, tensor(8), FULL, **cut(8)),
        case("tp4_full_b4_whole_loss_compile", 64, 4, tensor(4, **whole), FULL, sections=COMPILED),
        piped("pp4_zbv_first", "ZBVZeroBubble", 8, NONE, length=2048),
        case("tp2_cp2_full_s32k", 16, 1, tensor(2, **context(2)), FULL, length=32768),
        case("qwen3_14b_fsdp64_op", 64, 1, {}, BY_OPERATOR, flavor="14B", **qwen),
        case("qwen3_30b_full", 64, 1, {}, FULL, **moe),
        case("fsdp8_full_b1_bf16", 8, 1, {}, FULL, training={"dtype": "bfloat16"}),
        piped("pp4_gpipe_last", "GPipe", 4, FULL, rank=24),
        case("tp8_op_b2_fp8_rowwise", 64, 2, tensor(8), BY_OPERATOR, converters=FP8, sections=rows),
    ]


def cases() -> list[dict]:
    return [*first_cases(), *later_cases()]


if __name__ == "__main__":
    replace_text(sys.argv[1], json.dumps(cases(), indent=1))
