"""Small models of transformers trained here, and ours loaded there: losses, logits, gradients.

The names and layouts below are written from transformers' own modules, not from
stepwright/huggingface/families.yaml, which they judge.
"""

import json
import unittest
from pathlib import Path

from huggingface_case import (
    SIZES,
    TOLERANCE,
    VOCABULARY,
    Case,
    in_double_precision,
    load_file,
    part,
    plan_text,
    rotary,
    torch,
    transformers,
)

LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 3.0}


def theirs() -> dict[str, transformers.PreTrainedConfig]:
    """A configuration for each family, and for each of its switches that a file can set."""
    t = transformers
    few = {"num_key_value_heads": 2}
    gpt2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": VOCABULARY}
    gpt2 |= {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}
    gpt2 |= {"bos_token_id": None, "eos_token_id": None}
    return {
        "llama": t.LlamaConfig(**SIZES, **few, rope_parameters=LLAMA3, rms_norm_eps=1e-3),
        "llama with biases": t.LlamaConfig(
            **SIZES,
            attention_bias=True,
            mlp_bias=True,
            tie_word_embeddings=True,
            rope_parameters=LINEAR,
        ),
        "mistral": t.MistralConfig(**SIZES, **few, sliding_window=5),
        "qwen2": t.Qwen2Config(**SIZES, **few, rope_parameters=rotary(1e6)),
        "qwen3": t.Qwen3Config(
            **SIZES, **few, head_dim=16, tie_word_embeddings=True, rope_parameters=rotary(1e6)
        ),
        "mixtral": t.MixtralConfig(**SIZES, **few, num_local_experts=4, num_experts_per_tok=2),
        "qwen3_moe": t.Qwen3MoeConfig(
            **SIZES,
            **few,
            head_dim=16,
            num_experts=6,
            num_experts_per_tok=3,
            moe_intermediate_size=24,
            norm_topk_prob=False,
            mlp_only_layers=[0],
        ),
        "gpt2": t.GPT2Config(**gpt2),
        "gpt2 with exact gelu": t.GPT2Config(
            **gpt2, activation_function="gelu", tie_word_embeddings=False, layer_norm_epsilon=1e-3
        ),
        "gpt_neox": t.GPTNeoXConfig(**SIZES, hidden_act="gelu_fast"),
        "gpt_neox in series": t.GPTNeoXConfig(
            **SIZES,
            use_parallel_residual=False,
            attention_bias=False,
            layer_norm_eps=1e-3,
            rope_parameters=rotary(500.0, partial_rotary_factor=0.5),
        ),
    }


COMMON = f"layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: {VOCABULARY}"
GPT = f"{COMMON}, norm: layernorm, bias: true, gated: false"
OURS = {
    "llama": f"{COMMON}, kv_heads: 2, norm_epsilon: 1e-3, rotary_base: 500, rotary_scaling: "
    "{kind: llama3, factor: 4, low_frequency: 1, high_frequency: 4, original_positions: 32}",
    "mistral": f"{COMMON}, kv_heads: 2, window: 5",
    "qwen2": f"{COMMON}, kv_heads: 2, qkv_bias: true, window: 7, windowed_layers: [1]",
    "qwen3": f"{COMMON}, kv_heads: 2, head_dim: 16, qk_norm: true, tied: true, norm_epsilon: 1e-6",
    "mixtral": f"{COMMON}, kv_heads: 2, experts: {{count: 4, top_k: 2, ffn: 48}}",
    "qwen3_moe": f"{COMMON}, kv_heads: 2, head_dim: 16, qk_norm: true, norm_epsilon: 1e-6, "
    "experts: {count: 6, top_k: 3, ffn: 24, leading_dense: 1}",
    "gpt2": f"{GPT}, position: learned, positions: 20, tied: true, activation: gelu_tanh",
    "gpt_neox": f"{GPT}, parallel_residual: true, rotary_fraction: 0.25, head_dim: 8",
}


def from_llama(state: dict, config: transformers.PreTrainedConfig) -> dict[str, torch.Tensor]:
    ours = {"embedding.word": state["model.embed_tokens.weight"]}
    ours["norm.final"] = state["model.norm.weight"]
    for i in range(config.num_hidden_layers):
        own, other = f"layers.{i}.", f"model.layers.{i}."
        ours[own + "norm.attention"] = state[other + "input_layernorm.weight"]
        ours[own + "norm.mlp"] = state[other + "post_attention_layernorm.weight"]
        ours[own + "attention.qkv"] = part(state, other + "self_attn.|q,k,v|_proj.weight")
        ours[own + "attention.output"] = state[other + "self_attn.o_proj.weight"]
        if other + "self_attn.q_proj.bias" in state:
            ours[own + "attention.qkv_bias"] = part(state, other + "self_attn.|q,k,v|_proj.bias")
        if other + "self_attn.o_proj.bias" in state:
            ours[own + "attention.output_bias"] = state[other + "self_attn.o_proj.bias"]
        if other + "self_attn.q_norm.weight" in state:
            ours[own + "attention.q_norm"] = state[other + "self_attn.q_norm.weight"]
            ours[own + "attention.k_norm"] = state[other + "self_attn.k_norm.weight"]
        if other + "mlp.experts.gate_up_proj" in state:
            ours[own + "router.weight"] = state[other + "mlp.gate.weight"]
            ours[own + "experts.fc1"] = state[other + "mlp.experts.gate_up_proj"]
            ours[own + "experts.fc2"] = state[other + "mlp.experts.down_proj"]
            continue
        ours[own + "mlp.fc1"] = part(state, other + "mlp.|gate,up|_proj.weight")
        ours[own + "mlp.fc2"] = state[other + "mlp.down_proj.weight"]
        if other + "mlp.down_proj.bias" in state:
            ours[own + "mlp.fc1_bias"] = part(state, other + "mlp.|gate,up|_proj.bias")
            ours[own + "mlp.fc2_bias"] = state[other + "mlp.down_proj.bias"]
    return ours


def from_gpt2(state: dict, config: transformers.PreTrainedConfig) -> dict[str, torch.Tensor]:
    ours = {"embedding.word": state["transformer.wte.weight"]}
    ours["embedding.position"] = state["transformer.wpe.weight"]
    ours["norm.final"] = state["transformer.ln_f.weight"]
    ours["norm.final_bias"] = state["transformer.ln_f.bias"]
    names = {"norm.attention": "ln_1", "norm.mlp": "ln_2"}
    linears = {"attention.qkv": "attn.c_attn", "attention.output": "attn.c_proj"}
    linears |= {"mlp.fc1": "mlp.c_fc", "mlp.fc2": "mlp.c_proj"}
    for i in range(config.n_layer):
        for own, other in (names | linears).items():
            weight = state[f"transformer.h.{i}.{other}.weight"]
            ours[f"layers.{i}.{own}"] = weight.T if own in linears else weight
            ours[f"layers.{i}.{own}_bias"] = state[f"transformer.h.{i}.{other}.bias"]
    return ours


def from_gpt_neox(state: dict, config: transformers.PreTrainedConfig) -> dict[str, torch.Tensor]:
    ours = {"embedding.word": state["gpt_neox.embed_in.weight"]}
    ours["norm.final"] = state["gpt_neox.final_layer_norm.weight"]
    ours["norm.final_bias"] = state["gpt_neox.final_layer_norm.bias"]
    names = {"norm.attention": "input_layernorm", "norm.mlp": "post_attention_layernorm"}
    names |= {"attention.qkv": "attention.query_key_value", "attention.output": "attention.dense"}
    names |= {"mlp.fc1": "mlp.dense_h_to_4h", "mlp.fc2": "mlp.dense_4h_to_h"}
    for i in range(config.num_hidden_layers):
        for own, other in names.items():
            for end, suffix in (("", ".weight"), ("_bias", ".bias")):
                value = state.get(f"gpt_neox.layers.{i}.{other}{suffix}")
                if value is None:
                    continue
                if own == "attention.qkv":  # [heads, 3, head width, ...] to [3, heads, ...]
                    shape = (config.num_attention_heads, 3, -1, *value.shape[1:])
                    value = value.reshape(shape).transpose(0, 1).reshape(value.shape)
                ours[f"layers.{i}.{own}{end}"] = value
    return ours


def in_our_names(model: transformers.PreTrainedModel, state: dict) -> dict[str, torch.Tensor]:
    """Parameters (or gradients) by transformers' names in our names and layouts."""
    translate = {"gpt2": from_gpt2, "gpt_neox": from_gpt_neox}
    ours = translate.get(model.config.model_type, from_llama)(state, model.config)
    if not model.config.tie_word_embeddings:
        ours["head.weight"] = state["lm_head.weight"]
    return ours


class HuggingFace(Case):
    def random_model(self, config: transformers.PreTrainedConfig) -> transformers.PreTrainedModel:
        """With values at which every part of a layer matters."""
        model = transformers.AutoModelForCausalLM.from_config(config).double().eval()
        in_double_precision(model)
        with torch.no_grad():
            for parameter in model.parameters():
                mean = 1.0 if parameter.dim() == 1 and (parameter == 1).all() else 0.0
                parameter.normal_(mean, 0.15)
        model.save_pretrained(self.folder / "model")
        return model

    def compare_step(self, model: transformers.PreTrainedModel, precision: str) -> None:
        files = {name: self.folder / name for name in ("weights", "gradients", "logits", "metrics")}
        outputs = [word for name, path in files.items() for word in (f"--{name}", path)]
        self.train(
            plan_text(self.folder / "model", precision),
            *("--weights-from", self.folder / "model", "--steps", 1, "--lr", 0, *outputs),
        )
        found = self.logits()
        result = model(found["tokens"]).logits
        loss = torch.nn.functional.cross_entropy(result.flatten(0, 1), found["targets"].flatten())
        loss.backward()
        step = json.loads(files["metrics"].read_text())
        self.assertAlmostEqual(step["loss"], loss.item(), delta=TOLERANCE * loss.item())
        self.assert_near(found["logits"], result.detach(), "logits")
        parameters = dict(model.named_parameters())
        weights = in_our_names(model, {name: p.detach() for name, p in parameters.items()})
        gradients = in_our_names(model, {name: p.grad for name, p in parameters.items()})
        loaded, computed = load_file(files["weights"]), load_file(files["gradients"])
        self.assertEqual(set(loaded), set(weights))
        self.assertEqual(set(computed), set(gradients))
        for name, weight in weights.items():
            kept = weight if precision == "fp64" else weight.float().double()
            self.assertTrue(torch.equal(loaded[name], kept), name)
            self.assert_near(computed[name], gradients[name], f"gradient of {name}")

    def compare_export(self, name: str, *options: object) -> Path:
        """Trains a model of ours and compares it with its export; returns where that stands."""
        plan = plan_text(f"{{{OURS[name]}}}")
        run = ("--checkpoint", self.folder / f"{name}-run")
        self.train(plan, *run, "--steps", 3, "--lr", 0.05)
        there = self.folder / name
        convert = ("checkpoint", "convert", self.folder / f"{name}-run", "-o", there)
        self.run_command(*convert, "--format", "huggingface", *options)
        # The weights of the checkpoint, without our reader of files.
        again = ("--resume", "--steps", 4, "--lr", 0, "--logits", self.folder / "logits")
        self.train(plan, *run, *again)
        found = self.logits()
        loaded, report = transformers.AutoModelForCausalLM.from_pretrained(
            there, output_loading_info=True, dtype=torch.float64
        )
        for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
            self.assertFalse(report[kind], kind)
        with torch.no_grad():
            in_double_precision(loaded)
        self.assert_near(found["logits"], loaded.eval()(found["tokens"]).logits, "logits")
        return there

    def test_weights_of_every_family_learn_here_as_there(self) -> None:
        for name, config in theirs().items():
            with self.subTest(name):
                self.compare_step(self.random_model(config), "fp64")

    def test_single_precision_agrees_too(self) -> None:
        for name in ("llama", "gpt_neox"):
            with self.subTest(name):
                self.compare_step(self.random_model(theirs()[name]), "fp32")

    def test_every_plan_begins_with_the_same_weights(self) -> None:
        tensor = "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nsharding: GGG"
        pipeline = "parallel: {pipeline: 2, data: 2}\nsharding: NGG"
        experts = "parallel: {tensor: 2, data: 2, expert: 4}\nsequence_parallel: true"
        plans = (
            ("gpt_neox", tensor),
            ("qwen3", pipeline),
            ("gpt2", tensor),
            ("mixtral", experts),
        )
        for name, choices in plans:
            with self.subTest(name):
                self.random_model(theirs()[name])
                source = ("--weights-from", self.folder / "model", "--lr", 0)
                found = []
                for ranks, chosen in ((1, "micro_batch: 2"), (4, choices + "\nmicro_batch: 1")):
                    files = {name: self.folder / name for name in ("weights", "gradients")}
                    outputs = [word for file, path in files.items() for word in (f"--{file}", path)]
                    plan = plan_text(self.folder / "model", "fp64", ranks, chosen)
                    self.train(plan, *source, *outputs)
                    found.append({file: load_file(path) for file, path in files.items()})
                one, many = found
                for own, weight in one["weights"].items():
                    self.assertTrue(torch.equal(many["weights"][own], weight), own)
                for own, gradient in one["gradients"].items():
                    self.assert_near(many["gradients"][own], gradient, f"gradient of {own}")

    def test_our_models_of_every_family_load_there(self) -> None:
        for name in OURS:
            with self.subTest(name):
                there = self.compare_export(name)
                config = json.loads((there / "config.json").read_text())
                self.assertEqual(config["model_type"], name)

    def test_files_of_several_shards(self) -> None:
        there = self.compare_export("llama", "--shard-size", "20KB")
        self.assertGreater(len(list(there.glob("model-*"))), 3)
        plan = plan_text(f"{{{OURS['llama']}}}")
        weights = self.folder / "weights"
        self.train(plan, "--weights-from", there, "--steps", 0, "--weights", weights)
        kept = load_file(weights)
        again = ("--checkpoint", self.folder / "llama-run", "--resume", "--steps", 4)
        self.train(plan, *again, "--weights", weights)
        for name, weight in load_file(weights).items():
            self.assertTrue(torch.equal(kept[name], weight), name)

    def test_narrow_types_keep_their_values(self) -> None:
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            with self.subTest(str(dtype)):
                model = self.random_model(theirs()["llama"]).to(dtype)
                model.save_pretrained(self.folder / "model")
                weights = ("--steps", 0, "--weights", self.folder / "weights")
                source = ("--weights-from", self.folder / "model")
                self.train(plan_text(self.folder / "model"), *source, *weights)
                state = {name: p.detach().double() for name, p in model.named_parameters()}
                loaded = load_file(self.folder / "weights")
                for name, weight in in_our_names(model, state).items():
                    self.assertTrue(torch.equal(loaded[name], weight), name)

    def test_narrow_files_are_rounded_as_there(self) -> None:
        self.train(plan_text(f"{{{OURS['gpt2']}}}"), "--checkpoint", self.folder / "run")
        convert = ("checkpoint", "convert", self.folder / "run", "--format", "huggingface")
        self.run_command(*convert, "-o", self.folder / "wide")
        wide = load_file(self.folder / "wide" / "model.safetensors")
        for word, dtype in (
            ("fp32", torch.float32),
            ("bf16", torch.bfloat16),
            ("fp16", torch.half),
        ):
            self.run_command(*convert, "-o", self.folder / word, "--dtype", word)
            narrow = load_file(self.folder / word / "model.safetensors")
            self.assertEqual(set(narrow), set(wide))
            for name, value in wide.items():
                self.assertTrue(torch.equal(narrow[name], value.to(dtype)), f"{word} {name}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
