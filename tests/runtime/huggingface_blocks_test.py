"""Models of transformers whose weights have no names here yet: ours learn a little, their weights
are put into transformers' modules, and losses, logits and gradients compared.

Names and layouts are written from transformers' own modules.
"""

import json
import unittest

from huggingface_case import (
    SIZES,
    TOLERANCE,
    Case,
    in_double_precision,
    load_file,
    part,
    plan_text,
    rotary,
    torch,
    transformers,
)

State = dict[str, torch.Tensor]
SIZES = {**SIZES, "pad_token_id": None}  # whose embedding learns nothing there
FEW = {"num_key_value_heads": 2}
OF_MAMBA = {
    name: size
    for name, size in SIZES.items()
    if name not in ("intermediate_size", "num_attention_heads", "max_position_embeddings")
}
WINDOWS = {"sliding_window": 5, "layer_types": ["sliding_attention", "full_attention"]}


def attention_models() -> dict[str, transformers.PreTrainedConfig]:
    t = transformers
    return {
        "gemma2": t.Gemma2Config(**SIZES, **FEW, **WINDOWS, head_dim=8, query_pre_attn_scalar=12),
        "olmo2": t.Olmo2Config(**SIZES, **FEW),
        "gpt_oss": t.GptOssConfig(
            **SIZES,
            **FEW,
            **WINDOWS,
            head_dim=8,
            num_local_experts=4,
            num_experts_per_tok=2,
            rope_parameters=rotary(1e4),
        ),
        "deepseek_v3": t.DeepseekV3Config(
            **SIZES,
            num_key_value_heads=4,
            q_lora_rank=12,
            kv_lora_rank=10,
            qk_nope_head_dim=8,
            qk_rope_head_dim=4,
            v_head_dim=6,
            n_routed_experts=8,
            num_experts_per_tok=3,
            n_group=1,  # the reader takes neither groups nor the scale of this type yet
            topk_group=1,
            routed_scaling_factor=1.0,
            moe_intermediate_size=16,
            n_shared_experts=1,
            first_k_dense_replace=1,
            rope_parameters=rotary(1e4),
        ),
    }


def state_models() -> dict[str, transformers.PreTrainedConfig]:
    t = transformers
    return {
        "qwen3_next": t.Qwen3NextConfig(
            **SIZES,
            **FEW,
            head_dim=16,
            layer_types=["linear_attention", "full_attention"],
            linear_num_value_heads=4,
            linear_num_key_heads=2,
            linear_key_head_dim=8,
            linear_value_head_dim=6,
            num_experts=4,
            num_experts_per_tok=2,
            moe_intermediate_size=24,
            shared_expert_intermediate_size=16,
            rope_parameters=rotary(1e4, partial_rotary_factor=0.25),
        ),
        "mamba2": t.Mamba2Config(
            **OF_MAMBA, num_heads=8, head_dim=8, state_size=8, n_groups=1, chunk_size=4
        ),
        "mamba2 with biases": t.Mamba2Config(
            **OF_MAMBA,
            num_heads=8,
            head_dim=8,
            state_size=6,
            n_groups=1,
            chunk_size=16,
            use_bias=True,
        ),
        "mamba": t.MambaConfig(**OF_MAMBA, state_size=5, time_step_rank=3),
        "lfm2": t.Lfm2Config(
            **SIZES,
            **FEW,
            layer_types=["conv", "full_attention"],
            conv_bias=True,
            block_auto_adjust_ff_dim=False,
        ),
    }


def each_head(rows: torch.Tensor, heads: int, sizes: list[int]) -> torch.Tensor:
    """Parts that stand side by side in each head, each with all its heads."""
    parts = rows.unflatten(0, (heads, sum(sizes))).split(sizes, 1)
    return torch.cat([one.flatten(0, 1) for one in parts])


def rope_halves(rows: torch.Tensor, heads: int, rope: int) -> torch.Tensor:
    """Rotated rows at the end of each head, whose pairs stand together there and apart here."""
    by_head = rows.unflatten(0, (heads, -1))
    still, turned = by_head[:, :-rope], by_head[:, -rope:]
    return torch.cat([still, turned[:, 0::2], turned[:, 1::2]], 1).flatten(0, 1)


def attention(state: State, other: str, own: str, ours: State) -> None:
    ours[own + "attention.qkv"] = part(state, other + "|q,k,v|_proj.weight")
    out = "out_proj" if other + "out_proj.weight" in state else "o_proj"
    ours[own + "attention.output"] = state[other + out + ".weight"]
    if other + "q_proj.bias" in state:
        ours[own + "attention.qkv_bias"] = part(state, other + "|q,k,v|_proj.bias")
        ours[own + "attention.output_bias"] = state[other + out + ".bias"]
    if other + "sinks" in state:
        ours[own + "attention.sinks"] = state[other + "sinks"]
    for norm in ("norm", "layernorm"):
        if other + f"q_{norm}.weight" in state:
            ours[own + "attention.q_norm"] = state[other + f"q_{norm}.weight"]
            ours[own + "attention.k_norm"] = state[other + f"k_{norm}.weight"]


def latent_attention(state: State, other: str, own: str, ours: State, config) -> None:
    heads, rope = config.num_attention_heads, config.qk_rope_head_dim
    names = {"q_down": "q_a_proj", "q_norm": "q_a_layernorm", "q_up": "q_b_proj"}
    names |= {"kv_down": "kv_a_proj_with_mqa", "kv_norm": "kv_a_layernorm"}
    names |= {"kv_up": "kv_b_proj", "output": "o_proj"}
    for name, there in names.items():
        ours[f"{own}attention.{name}"] = state[f"{other}{there}.weight"]
    queries = own + "attention.q_up"
    ours[queries] = rope_halves(ours[queries], heads, rope)
    keys = own + "attention.kv_down"
    ours[keys] = rope_halves(ours[keys], 1, rope)
    values = [config.qk_nope_head_dim, config.v_head_dim]
    by_head = ours[own + "attention.kv_up"].unflatten(0, (heads, sum(values)))
    ours[own + "attention.kv_up"] = by_head.flatten(0, 1)


def mlp(state: State, other: str, own: str, ours: State) -> None:
    ours[own + "mlp.fc1"] = part(state, other + "|gate,up|_proj.weight")
    ours[own + "mlp.fc2"] = state[other + "down_proj.weight"]


def mixture(state: State, other: str, own: str, ours: State) -> None:
    ours[own + "router.weight"] = state[other + "gate.weight"]
    ours[own + "experts.fc1"] = state[other + "experts.gate_up_proj"]
    ours[own + "experts.fc2"] = state[other + "experts.down_proj"]
    for shared in ("shared_expert", "shared_experts"):
        if f"{other}{shared}.down_proj.weight" in state:
            fc1 = part(state, f"{other}{shared}.|gate,up|_proj.weight")
            ours[own + "shared.fc1"] = fc1
            ours[own + "shared.fc2"] = state[f"{other}{shared}.down_proj.weight"]
    if other + "shared_expert_gate.weight" in state:
        ours[own + "shared.gate"] = state[other + "shared_expert_gate.weight"]
    if other + "gate.e_score_correction_bias" in state:
        bias = state[other + "gate.e_score_correction_bias"]
        ours[own + "router.correction_bias"] = bias


def apart(gates_and_ups: torch.Tensor) -> torch.Tensor:
    """Gates and ups that take turns in the last dimension, one behind the other."""
    return torch.cat([gates_and_ups[..., 0::2], gates_and_ups[..., 1::2]], -1)


def biased_mixture(state: State, other: str, own: str, ours: State) -> None:
    ours[own + "router.weight"] = state[other + "router.weight"]
    ours[own + "router.weight_bias"] = state[other + "router.bias"]
    fc1 = apart(state[other + "experts.gate_up_proj"])
    ours[own + "experts.fc1"] = fc1.transpose(1, 2)
    ours[own + "experts.fc1_bias"] = apart(state[other + "experts.gate_up_proj_bias"])
    ours[own + "experts.fc2"] = state[other + "experts.down_proj"].transpose(1, 2)
    ours[own + "experts.fc2_bias"] = state[other + "experts.down_proj_bias"]


def delta_net(state: State, other: str, own: str, ours: State, config) -> None:
    heads, run = config.linear_num_key_heads, config.linear_num_value_heads
    run //= heads
    key, value = config.linear_key_head_dim, run * config.linear_value_head_dim
    qkvz = each_head(state[other + "in_proj_qkvz.weight"], heads, [key, key, value, value])
    ba = each_head(state[other + "in_proj_ba.weight"], heads, [run, run])
    ours[own + "mixer.in"] = torch.cat([qkvz, ba])
    scan(state, other, own, ours)


def scan(state: State, other: str, own: str, ours: State) -> None:
    """What mixers with a state have in common; convolutions are [channels, 1, tokens] there."""
    names = {"in_proj.weight": "in", "in_proj.bias": "in_bias", "conv1d.bias": "convolution_bias"}
    names |= {"x_proj.weight": "select", "dt_proj.weight": "step", "dt_proj.bias": "step_bias"}
    names |= {"dt_bias": "step_bias", "A_log": "decay", "D": "skip", "norm.weight": "norm"}
    names |= {"out_proj.weight": "out", "out_proj.bias": "out_bias"}
    for there, name in names.items():
        if other + there in state:
            ours[f"{own}mixer.{name}"] = state[other + there]
    ours[own + "mixer.convolution"] = state[other + "conv1d.weight"].squeeze(1)


def short_convolution(state: State, other: str, own: str, ours: State) -> None:
    names = {"in_proj.weight": "in", "in_proj.bias": "in_bias"}
    names |= {"out_proj.weight": "out", "out_proj.bias": "out_bias"}
    for there, name in names.items():
        ours[f"{own}mixer.{name}"] = state[other + there]
    ours[own + "mixer.convolution"] = state[other + "conv.weight"].squeeze(1)
    ours[own + "mixer.convolution_bias"] = state[other + "conv.bias"]


BEFORE = {"input_layernorm": "norm.attention", "post_attention_layernorm": "norm.mlp"}
NORMS = {
    "gemma2": {
        "input_layernorm": "norm.attention",
        "post_attention_layernorm": "norm.attention_out",
        "pre_feedforward_layernorm": "norm.mlp",
        "post_feedforward_layernorm": "norm.mlp_out",
    },
    "olmo2": {
        "post_attention_layernorm": "norm.attention_out",
        "post_feedforward_layernorm": "norm.mlp_out",
    },
    "lfm2": {"operator_norm": "norm.attention", "ffn_norm": "norm.mlp"},
    "mamba": {"norm": "norm.attention"},
    "mamba2": {"norm": "norm.attention"},
}


def add_mixer(state: State, other: str, own: str, ours: State, config) -> None:
    if other + "linear_attn.A_log" in state:
        delta_net(state, other + "linear_attn.", own, ours, config)
    elif other + "mixer.A_log" in state:
        scan(state, other + "mixer.", own, ours)
    elif other + "conv.conv.weight" in state:
        short_convolution(state, other + "conv.", own, ours)
    elif other + "self_attn.kv_b_proj.weight" in state:
        latent_attention(state, other + "self_attn.", own, ours, config)
    else:
        attention(state, other + "self_attn.", own, ours)
        if config.model_type == "qwen3_next":  # a gate beside each query head
            heads, dim = config.num_attention_heads, config.head_dim
            both = each_head(state[other + "self_attn.q_proj.weight"], heads, [dim, dim])
            queries, gates = both.chunk(2)
            keys = part(state, other + "self_attn.|k,v|_proj.weight")
            ours[own + "attention.qkv"] = torch.cat([queries, keys, gates])


def add_feed_forward(state: State, other: str, own: str, ours: State) -> None:
    if other + "mlp.router.weight" in state:
        biased_mixture(state, other + "mlp.", own, ours)
    elif other + "mlp.gate.weight" in state:
        mixture(state, other + "mlp.", own, ours)
    elif other + "mlp.down_proj.weight" in state:
        mlp(state, other + "mlp.", own, ours)
    elif other + "feed_forward.w1.weight" in state:
        ours[own + "mlp.fc1"] = part(state, other + "feed_forward.|w1,w3|.weight")
        ours[own + "mlp.fc2"] = state[other + "feed_forward.w2.weight"]


def in_our_names(config: transformers.PreTrainedConfig, state: State) -> State:
    body = "backbone." if config.model_type.startswith("mamba") else "model."
    word = "embeddings" if body == "backbone." else "embed_tokens"
    final = {"mamba": "norm_f", "mamba2": "norm_f", "lfm2": "embedding_norm"}
    ours = {"embedding.word": state[f"{body}{word}.weight"]}
    ours["norm.final"] = state[f"{body}{final.get(config.model_type, 'norm')}.weight"]
    if not config.tie_word_embeddings:
        ours["head.weight"] = state["lm_head.weight"]
    for i in range(config.num_hidden_layers):
        own, other = f"layers.{i}.", f"{body}layers.{i}."
        for there, name in NORMS.get(config.model_type, BEFORE).items():
            ours[own + name] = state[f"{other}{there}.weight"]
        add_mixer(state, other, own, ours, config)
        add_feed_forward(state, other, own, ours)
    return ours


class Blocks(Case):
    def learned(
        self, name: str, config: transformers.PreTrainedConfig
    ) -> tuple[State, State, dict]:
        """Weights of ours behind three steps, the gradients at them, and what the step said."""
        config.save_pretrained(self.folder / "model")
        run = ("--checkpoint", self.folder / f"{name} run")
        plan = plan_text(self.folder / "model" / "config.json")
        weights = self.folder / "weights"
        self.train(plan, *run, "--steps", 3, "--lr", 0.05, "--weights", weights)
        files = {name: self.folder / name for name in ("gradients", "logits", "metrics")}
        outputs = [word for name, path in files.items() for word in (f"--{name}", path)]
        self.train(plan, *run, "--resume", "--steps", 4, "--lr", 0, *outputs)
        step = json.loads(files["metrics"].read_text().splitlines()[-1])
        return load_file(weights), load_file(files["gradients"]), step

    def filled(self, config: transformers.PreTrainedConfig, weights: State):
        """Their model with our weights: their elements by number say where ours go."""
        model = transformers.AutoModelForCausalLM.from_config(config).double().eval()
        in_double_precision(model)
        state = model.state_dict()
        if config.tie_word_embeddings:
            state.pop("lm_head.weight")
        places, first = {}, 0
        for name, value in state.items():
            numbers = torch.arange(first, first + value.numel(), dtype=torch.double)
            places[name] = numbers.view(value.shape)
            first += value.numel()
        flat = torch.full((first,), float("nan"), dtype=torch.double)
        mapped = in_our_names(config, places)
        self.assertEqual(set(mapped), set(weights))
        for name, numbers in mapped.items():
            self.assertEqual(numbers.numel(), weights[name].numel(), name)
            flat[numbers.long().flatten()] = weights[name].flatten()
        self.assertFalse(flat.isnan().any(), "a weight of theirs that none of ours is")
        with torch.no_grad():
            for name, value in state.items():
                value.copy_(flat[places[name].long()])
        return model

    def compare(self, name: str, config: transformers.PreTrainedConfig) -> None:
        weights, gradients, step = self.learned(name, config)
        model = self.filled(config, weights)
        found = self.logits()
        result = model(found["tokens"]).logits.double()
        loss = torch.nn.functional.cross_entropy(result.flatten(0, 1), found["targets"].flatten())
        loss.backward()
        self.assertAlmostEqual(step["loss"], loss.item(), delta=TOLERANCE * loss.item())
        self.assert_near(found["logits"], result.detach(), "logits")
        theirs_by_name = {name: p.grad for name, p in model.named_parameters()}
        for name, buffer in model.named_buffers():
            theirs_by_name[name] = torch.zeros_like(buffer)
        expected = in_our_names(config, theirs_by_name)
        for name, gradient in gradients.items():
            there = expected[name].reshape(gradient.shape)
            self.assert_near(gradient, there, f"gradient of {name}")

    def test_blocks_learn_here_as_there(self) -> None:
        for name, config in (attention_models() | state_models()).items():
            with self.subTest(name):
                self.compare(name, config)


if __name__ == "__main__":
    unittest.main(verbosity=2)
