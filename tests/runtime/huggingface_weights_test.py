"""Weights of small random models of transformers read here by name, whatever their layout there:
losses and logits are those of transformers' own modules."""

import json
import unittest

from huggingface_case import (
    LATENT,
    SIZES,
    TOLERANCE,
    VOCABULARY,
    Case,
    in_double_precision,
    plan_text,
    rotary,
    torch,
    transformers,
)

SIZES = {**SIZES, "pad_token_id": None}  # whose embedding learns nothing there
FEW = {"num_key_value_heads": 2}
WINDOWS = {"sliding_window": 5, "layer_types": ["sliding_attention", "full_attention"]}
GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": VOCABULARY}
GPT |= {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0, "rotary_dim": 6}
GPT |= {"bos_token_id": None, "eos_token_id": None}
FALCON = {name: size for name, size in SIZES.items() if name != "intermediate_size"}
DYNAMIC = {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 100.0, "factor": 2.0}}
BLOOM = {"hidden_size": 32, "n_head": 4, "n_layer": 2, "vocab_size": VOCABULARY}
BLOOM |= {"bos_token_id": None, "eos_token_id": None}
LATENT = {**LATENT, "routed_scaling_factor": 1.5, "rope_parameters": rotary(1e4)}
INDEXER = {"index_n_heads": 16, "index_head_dim": 8, "index_topk": 5}
DELTA = {
    "head_dim": 16,
    "layer_types": ["linear_attention", "full_attention"],
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 6,
    "rope_parameters": rotary(1e4, partial_rotary_factor=0.25),
}
DELTA_EXPERTS = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
    "shared_expert_intermediate_size": 16,
}
LOCAL_EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
SIGMOID_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
NEVER = 1e30  # A bound that nothing reaches.
DBRX_EXPERTS = {"moe_num_experts": 4, "moe_top_k": 2, "ffn_hidden_size": 24}


def of_attention() -> dict[str, transformers.PreTrainedConfig]:
    """Rows of heads in the order of their rotary positions, of groups or of quarters."""
    t = transformers
    return {
        "cohere": t.CohereConfig(**SIZES, **FEW, use_qk_norm=True),
        "cohere2": t.Cohere2Config(**SIZES, **FEW, **WINDOWS),
        "ernie4_5": t.Ernie4_5Config(**SIZES, **FEW, head_dim=8),
        "glm": t.GlmConfig(**SIZES, **FEW, head_dim=8, attention_bias=True),
        "glm4": t.Glm4Config(**SIZES, **FEW, head_dim=8),
        "dynamic": t.LlamaConfig(**(SIZES | {"max_position_embeddings": 8}), **DYNAMIC),
        "helium": t.HeliumConfig(**SIZES, **FEW, head_dim=8),
        "nanochat": t.NanoChatConfig(**SIZES, **FEW, final_logit_softcapping=None),
        "stablelm": t.StableLmConfig(**SIZES, **FEW, qk_layernorm=True, use_qkv_bias=True),
        "bloom": t.BloomConfig(**BLOOM),
        "bloom of six heads": t.BloomConfig(**(BLOOM | {"hidden_size": 36, "n_head": 6})),
        "mpt of six heads": t.MptConfig(
            d_model=36, n_heads=6, n_layers=2, max_seq_len=64, vocab_size=VOCABULARY
        ),
        "gptj": t.GPTJConfig(**GPT),
        "codegen": t.CodeGenConfig(**GPT),
        "falcon of one key head": t.FalconConfig(**FALCON, alibi=False),
        "falcon by groups": t.FalconConfig(
            **FALCON, alibi=False, new_decoder_architecture=True, num_kv_heads=2, bias=True
        ),
        "falcon by heads": t.FalconConfig(
            **FALCON, alibi=False, multi_query=False, parallel_attn=False
        ),
        "deepseek_v2": t.DeepseekV2Config(**SIZES, **LATENT, topk_method="group_limited_greedy"),
        "deepseek_v3": t.DeepseekV3Config(**SIZES, **LATENT),
        "deepseek_v32": t.DeepseekV32Config(**SIZES, **LATENT, **INDEXER),
        "glm_moe_dsa": t.GlmMoeDsaConfig(**SIZES, **LATENT, **INDEXER),
        "deepseek_v3 in halves": t.DeepseekV3Config(**SIZES, **LATENT, rope_interleave=False),
    }


def of_experts() -> dict[str, transformers.PreTrainedConfig]:
    """Experts in one tensor, whole or transposed, with parts that alternate."""
    t = transformers
    return {
        "afmoe": t.AfmoeConfig(
            **SIZES, **FEW, **WINDOWS, **SIGMOID_EXPERTS, head_dim=8, num_dense_layers=1
        ),
        "aria_text": t.AriaTextConfig(**SIZES, **FEW, moe_num_experts=4, moe_topk=2),
        "cohere2_moe": t.Cohere2MoeConfig(
            **SIZES,
            **FEW,
            **WINDOWS,
            num_experts=4,
            num_experts_per_tok=2,
            num_shared_experts=1,
            head_dim=8,
            shared_expert_combination_strategy="sum",
        ),
        "dbrx": t.DbrxConfig(
            d_model=32,
            n_heads=4,
            n_layers=2,
            max_seq_len=64,
            vocab_size=VOCABULARY,
            attn_config={"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": NEVER},
            ffn_config=DBRX_EXPERTS,
        ),
        "gpt_oss": t.GptOssConfig(
            **SIZES, **FEW, **WINDOWS, **LOCAL_EXPERTS, head_dim=8, rope_parameters=rotary(1e4)
        ),
        "granitemoeshared": t.GraniteMoeSharedConfig(
            **SIZES, **FEW, **LOCAL_EXPERTS, shared_intermediate_size=16
        ),
        "granitemoe_swa": t.GraniteMoeSWAConfig(
            **SIZES, **FEW, **WINDOWS, **LOCAL_EXPERTS, shared_intermediate_size=16
        ),
    }


def of_states() -> dict[str, transformers.PreTrainedConfig]:
    """Projections of mixers by groups or in parts."""
    t = transformers
    return {
        "qwen3_next": t.Qwen3NextConfig(**SIZES, **FEW, **DELTA, **DELTA_EXPERTS),
        "qwen3_5": t.Qwen3_5TextConfig(**SIZES, **FEW, **DELTA),
        "qwen3_5_moe": t.Qwen3_5MoeTextConfig(**SIZES, **FEW, **DELTA, **DELTA_EXPERTS),
        "lfm2_moe": t.Lfm2MoeConfig(
            **SIZES,
            **FEW,
            **SIGMOID_EXPERTS,
            layer_types=["conv", "full_attention"],
            conv_bias=True,
            num_dense_layers=1,
        ),
        "jamba": t.JambaConfig(
            **SIZES,
            **FEW,
            num_experts=4,
            num_experts_per_tok=2,
            attn_layer_period=2,
            attn_layer_offset=1,
            expert_layer_period=2,
            expert_layer_offset=1,
            mamba_d_state=5,
            mamba_dt_rank=3,
            use_mamba_kernels=False,
        ),
        "olmo_hybrid": t.OlmoHybridConfig(
            **SIZES,
            **FEW,
            layer_types=["linear_attention", "full_attention"],
            linear_num_key_heads=4,
            linear_num_value_heads=4,
            linear_key_head_dim=8,
            linear_value_head_dim=8,
            linear_allow_neg_eigval=False,
            rms_norm_eps=1e-5,  # that of the norms of its delta nets
            rope_parameters=rotary(1e4),
        ),
        "granitemoehybrid": t.GraniteMoeHybridConfig(
            **SIZES,
            **FEW,
            **LOCAL_EXPERTS,
            layer_types=["mamba", "attention"],
            shared_intermediate_size=16,
            mamba_n_heads=8,
            mamba_d_head=8,
            mamba_d_state=8,
            mamba_chunk_size=8,
        ),
    }


class Weights(Case):
    def random_model(self, config: transformers.PreTrainedConfig) -> transformers.PreTrainedModel:
        """With values at which every part of a layer matters."""
        model = transformers.AutoModelForCausalLM.from_config(config).double().eval()
        in_double_precision(model)
        with torch.no_grad():
            for parameter in model.parameters():
                mean = 1.0 if parameter.dim() == 1 and (parameter == 1).all() else 0.0
                parameter.normal_(mean, 0.15)
        model.save_pretrained(self.folder / "model")
        written = self.folder / "model" / "config.json"
        written.write_text(written.read_text().replace(str(NEVER), "null"))
        return model

    def compare(self, config: transformers.PreTrainedConfig) -> None:
        model = self.random_model(config)
        metrics = self.folder / "metrics"
        outputs = ("--logits", self.folder / "logits", "--metrics", metrics)
        source = ("--weights-from", self.folder / "model", "--steps", 1, "--lr", 0)
        self.train(plan_text(self.folder / "model"), *source, *outputs)
        found = self.logits()
        with torch.no_grad():
            result = model(found["tokens"]).logits.double()
        loss = torch.nn.functional.cross_entropy(result.flatten(0, 1), found["targets"].flatten())
        self.assert_near(found["logits"], result, "logits")
        step = json.loads(metrics.read_text())
        self.assertAlmostEqual(step["loss"], loss.item(), delta=TOLERANCE * loss.item())

    def test_compute_here_what_they_compute_there(self) -> None:
        for name, config in (of_attention() | of_experts() | of_states()).items():
            with self.subTest(name):
                self.compare(config)


if __name__ == "__main__":
    unittest.main(verbosity=2)
