"""Small random configurations of a type: sizes, switches, lists of layers and rotary positions, in
files that leave out keys and call them otherwise. Many make no model, here or there."""

import json
import random
import re
from pathlib import Path

import theirs

# Sizes by the names of their keys; the first that fits. None: as it is.
SIZES: list[tuple[str, list[int] | None]] = [
    (r"^pad_token_id$|offset$", [0]),
    (r"_token_id$|^rotary_dim$|_feed_forward$|dim_model_base|^index_topk$", None),
    (r"window|^attention_chunk_size$", None),
    (r"num_hidden_layers|^n_layers?$|^num_layers$", [1, 2, 3, 4, 5]),
    (r"conv_kernel|d_conv|L_cache|^kernel", [1, 2, 3, 4]),
    (r"^hidden_size$|^n_embd$|^d_model$", [24, 32, 48]),
    (r"vocab_size", [250, 256, 261]),
    (r"position|max_seq_len|^n_ctx$", [64, 80]),
    (r"key_value_heads|kv_heads|kv_n_heads", [1, 2, 4]),
    (r"^head_dim$", [8, 12, 16]),
    (r"experts_per_tok|top_?k|moe_k$", [1, 2, 3]),
    (r"n_groups?$|mamba_n_groups", [1, 2]),
    (r"expert(?!.*size)", [3, 4, 6, 8]),
    (r"^num_attention_heads$|^n_heads?$|^num_heads$|^attention_heads$", [4, 8]),
    (r"^index_n_heads$", [16, 20]),  # of few heads many scores are 0, alike for a choice
    (r"heads?$", [2, 4]),
    (r"intermediate|ffn|n_inner|^dff$|ff_dim", [16, 24, 40]),
    (r"head_dim|d_head", [4, 8]),
    (r"rank|dim$|state|latent|size|d_ssm", [4, 8, 12]),
    (r"layer|interval|period|pattern|replace|step", [1, 2, 3]),
]
SCALES = r"epsilon|_eps$|multiplier|scal|softcap|factor"
SILENT = {"use_cache", "return_dict", "output_attentions", "output_hidden_states"}
SILENT |= {"output_router_logits", "is_encoder_decoder", "add_cross_attention", "is_decoder"}
ROTARY = (
    {"rope_type": "linear", "factor": 2.5},
    {"rope_type": "dynamic", "factor": 2.0},
    {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    | {"original_max_position_embeddings": 16},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    {"rope_type": "yarn", "factor": 2.0, "beta_fast": 4.0, "mscale": 0.7, "mscale_all_dim": 0.9}
    | {"original_max_position_embeddings": 32},
)


def drawn(model_type: str, changes: dict, seed: str, windows: list[int]) -> dict:
    """Changes of a configuration: those that are given, and others beside them."""
    dice = random.Random(f"{seed} {model_type}")
    usual = theirs.default_configuration(model_type, changes).to_dict()
    turned = dice.choice([0.0, 0.2, 0.5])
    found = dict(changes)
    for key, value in usual.items():
        if key in SILENT or key.startswith("_") or key in changes:
            continue
        if isinstance(value, bool):
            if dice.random() < turned:
                found[key] = not value
        elif isinstance(value, int):
            found |= drawn_size(dice, key, windows)
        elif isinstance(value, float) and re.search(SCALES, key) and dice.random() < 0.5:
            found[key] = value * dice.choice([0.5, 2.0, 500.0 if "eps" in key else 1.5])
    found |= drawn_positions(dice, usual.get("rope_parameters"))
    agree(dice, found, usual)
    return found | drawn_layers(dice, found, usual)


def drawn_size(dice: random.Random, key: str, windows: list[int]) -> dict:
    if re.search(r"window(?!.*layers)|^attention_chunk_size$|^index_topk$", key):
        return {key: dice.choice(windows)}
    for pattern, choices in SIZES:
        if re.search(pattern, key):
            return {key: dice.choice(choices)} if choices else {}
    return {}


def drawn_positions(dice: random.Random, rotary: dict | None) -> dict:
    """Other bases, and changes of frequencies; of each layer type where a file has them so."""
    if not rotary or dice.random() < 0.4:
        return {}
    plain = {"rope_type": "default", "rope_theta": dice.choice([50.0, 1e4])}
    changed = {**plain, **dice.choice(ROTARY)}
    if "rope_theta" in rotary or "rope_type" in rotary:
        share = {k: v for k, v in rotary.items() if k == "partial_rotary_factor"}
        return {"rope_parameters": share | dice.choice([plain, changed])}
    parts = {layers: {**plain, "rope_theta": 300.0} for layers in rotary if rotary[layers]}
    if "full_attention" in parts:
        parts["full_attention"] = dice.choice([plain, changed])
    return {"rope_parameters": {**rotary, **parts}}


def drawn_layers(dice: random.Random, found: dict, usual: dict) -> dict:
    """Lists with a word for each layer."""
    lists = {}
    layers = found.get("num_hidden_layers") or dice.choice([1, 2, 3, 4, 5])
    for key in ("layer_types", "layers_block_type", "mlp_layer_types"):
        words = usual.get(key)
        if isinstance(words, list) and words and dice.random() < 0.7:
            lists[key] = [dice.choice(sorted(set(words))) for _ in range(layers)]
    return lists


def agree(dice: random.Random, found: dict, usual: dict) -> None:
    """Makes sizes fit that have to."""

    def has(*keys: str) -> bool:
        return all(found.get(key, usual.get(key)) is not None for key in keys)

    def value(key: str) -> int:
        return found.get(key) if found.get(key) is not None else usual[key]

    if has("qk_rope_head_dim", "qk_nope_head_dim"):
        found["head_dim"] = value("qk_rope_head_dim")
        found["num_key_value_heads"] = value("num_attention_heads")
        found["attention_bias"] = False
    if has("mamba_expand", "mamba_n_heads"):
        width = value("mamba_expand") * value("hidden_size")
        width = value("mamba_d_ssm") if has("mamba_d_ssm") else width
        found |= {"mamba_n_heads": 4, "mamba_d_head": width // 4}
    if has("expand", "num_heads", "n_groups"):
        found |= {"num_heads": 4, "head_dim": value("expand") * value("hidden_size") // 4}
    if has("linear_num_value_heads"):
        found["linear_num_value_heads"] = found["linear_num_key_heads"] = dice.choice([2, 4])
    if has("word_embed_proj_dim"):
        found["word_embed_proj_dim"] = value("hidden_size")
    if has("attention_types"):
        found |= {"num_layers": 4, "attention_types": [[["global", "local"], 2]]}
    if has("n_group", "n_routed_experts"):
        found |= {"n_routed_experts": 8, "topk_group": 1}
    if has("mlp_bias") and dice.random() < 0.7:
        found["mlp_bias"] = False


def left_out(file: Path, seed: str, configuration: theirs.Configuration) -> None:
    """Takes keys out of a file, and calls others as the class also does. Sizes stay."""
    dice = random.Random(seed)
    written = json.loads(file.read_text())
    sizes = r"^model_type$|_layers?$|hidden_size|n_embd|d_model|vocab|intermediate_size|heads?$"
    for key in list(written):
        if not re.search(sizes, key) and dice.random() < 0.1:
            del written[key]
    for other, key in configuration.attribute_map.items():
        if key in written and other not in written and dice.random() < 0.5:
            written[other] = written.pop(key)
    written.pop("dtype", None)
    file.write_text(json.dumps(written))
