"""Adapters trained here in folders of peft, and those of peft trained on here."""

import json
import sys
import unittest

from huggingface_case import (
    LATENT,
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

try:
    import peft
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
    sys.exit(77)

MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
FUSED = {
    "attention.qkv": "self_attn.|q,k,v|_proj",
    "attention.output": "self_attn.|o|_proj",
    "mlp.fc1": "mlp.|gate,up|_proj",
    "mlp.fc2": "mlp.|down|_proj",
}
LATENT_MODULES = ["q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj", "o_proj"]
OF_LATENTS = {
    "attention.q_down": "self_attn.|q_a|_proj",
    "attention.q_up": "self_attn.|q_b|_proj",
    "attention.kv_down": "self_attn.|kv_a|_proj_with_mqa",
    "attention.kv_up": "self_attn.|kv_b|_proj",
    "attention.output": "self_attn.|o|_proj",
}
PHI_MODULES = ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]
OF_PHI = {
    "attention.qkv": "self_attn.|qkv|_proj",
    "attention.output": "self_attn.|o|_proj",
    "mlp.fc1": "mlp.|gate_up|_proj",
    "mlp.fc2": "mlp.|down|_proj",
}
GPT_MODULES = ["c_attn", "attn.c_proj", "c_fc"]
OF_GPT = {
    "attention.qkv": "attn.|c_attn|",
    "attention.output": "attn.|c_proj|",
    "mlp.fc1": "mlp.|c_fc|",
}
OF_QUERIES = {"attention.qkv": "self_attn.|q|_proj"}
LATENT = {**LATENT, "rope_interleave": False}  # whose rows stand as they stand here


class Tuned(Case):
    """A model of which a part is trained here."""

    modules = MODULES
    fused = FUSED
    layer = "model.layers"
    adapters = "{rank: 4, alpha: 6, targets: all}"

    def config(self) -> "transformers.PreTrainedConfig":
        return transformers.LlamaConfig(**SIZES, num_key_value_heads=2, rope_parameters=rotary(1e4))

    def in_our_names(self, state: dict, end: str = ".weight") -> dict[str, torch.Tensor]:
        """Adapters (or their gradients) by peft's names in our names and layouts."""
        ours = {}
        for layer in range(SIZES["num_hidden_layers"]):
            for own, theirs in self.fused.items():
                for ending, half in (("_lora_a", "lora_A"), ("_lora_b", "lora_B")):
                    name = f"base_model.model.{self.layer}.{layer}.{theirs}.{half}{end}"
                    ours[f"layers.{layer}.{own}{ending}"] = part(state, name)
        return ours

    def setUp(self) -> None:
        super().setUp()
        config = self.config()
        self.model = transformers.AutoModelForCausalLM.from_config(config).double().eval()
        with torch.no_grad():
            for parameter in self.model.parameters():
                mean = 1.0 if parameter.dim() == 1 else 0.0
                parameter.normal_(mean, 0.15)
        self.model.save_pretrained(self.folder / "model")

    def plan(self, ranks: int = 1, choices: str = "micro_batch: 2") -> str:
        text = plan_text(self.folder / "model", "fp64", ranks, choices)
        return text.replace(
            "  optimizer: adamw\n", f"  optimizer: adamw\n  adapters: {self.adapters}\n"
        )

    def base(self) -> transformers.PreTrainedModel:
        return self.loaded("model")

    def loaded(self, folder: str) -> "transformers.PreTrainedModel":
        model = transformers.AutoModelForCausalLM.from_pretrained(
            self.folder / folder, dtype=torch.float64
        )
        in_double_precision(model)
        return model

    def theirs(self, folder: str) -> "peft.PeftModel":
        return peft.PeftModel.from_pretrained(
            self.base(), self.folder / folder, is_trainable=True, autocast_adapter_dtype=False
        ).eval()

    def random_adapter(self) -> "peft.PeftModel":
        config = peft.LoraConfig(
            r=4, lora_alpha=6, target_modules=self.modules, task_type="CAUSAL_LM", lora_dropout=0.0
        )
        model = peft.get_peft_model(self.base(), config, autocast_adapter_dtype=False).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if "lora_" in name:
                    parameter.normal_(0.0, 0.2)
        model.save_pretrained(self.folder / "adapter")
        return model

    def trained_here(self) -> None:
        source = ("--weights-from", self.folder / "model")
        run = ("--checkpoint", self.folder / "run")
        self.train(self.plan(), *source, *run, "--steps", 3, "--lr", 0.05)
        again = ("--resume", "--steps", 4, "--lr", 0, "--logits", self.folder / "logits")
        self.train(self.plan(), *source, *run, *again)


class Peft(Tuned):
    def test_adapters_of_peft_learn_here_as_there(self) -> None:
        model = self.random_adapter()
        files = {name: self.folder / name for name in ("weights", "gradients", "logits", "metrics")}
        outputs = [word for name, path in files.items() for word in (f"--{name}", path)]
        source = ("--weights-from", self.folder / "model")
        source += ("--adapters-from", self.folder / "adapter")
        self.train(self.plan(), *source, "--steps", 1, "--lr", 0, *outputs)
        found = self.logits()
        result = model(found["tokens"]).logits
        loss = torch.nn.functional.cross_entropy(result.flatten(0, 1), found["targets"].flatten())
        loss.backward()
        step = json.loads(files["metrics"].read_text())
        self.assertAlmostEqual(step["loss"], loss.item(), delta=TOLERANCE * loss.item())
        self.assert_near(found["logits"], result.detach(), "logits")
        adapters = {n: p for n, p in model.named_parameters() if "lora_" in n}
        end = ".default.weight"
        weights = self.in_our_names({n: p.detach() for n, p in adapters.items()}, end)
        gradients = self.in_our_names({n: p.grad for n, p in adapters.items()}, end)
        loaded, computed = load_file(files["weights"]), load_file(files["gradients"])
        for name, weight in weights.items():
            self.assertTrue(torch.equal(loaded[name], weight), name)
            self.assert_near(computed[name], gradients[name], f"gradient of {name}")

    def test_every_plan_begins_with_the_same_adapters(self) -> None:
        self.random_adapter()
        source = ("--weights-from", self.folder / "model", "--lr", 0, "--steps", 1)
        source += ("--adapters-from", self.folder / "adapter")
        found = []
        tensor = "parallel: {tensor: 2, data: 2}\nsequence_parallel: true\nsharding: GGG"
        for ranks, choices in ((1, "micro_batch: 2"), (4, tensor + "\nmicro_batch: 1")):
            files = {name: self.folder / name for name in ("weights", "gradients")}
            outputs = [word for name, path in files.items() for word in (f"--{name}", path)]
            self.train(self.plan(ranks, choices), *source, *outputs)
            found.append({name: load_file(path) for name, path in files.items()})
        one, many = found
        for name, weight in one["weights"].items():
            self.assertTrue(torch.equal(many["weights"][name], weight), name)
        for name, gradient in one["gradients"].items():
            if "_lora_" in name:
                self.assert_near(many["gradients"][name], gradient, f"gradient of {name}")

    def test_adapters_trained_here_load_there(self) -> None:
        self.trained_here()
        convert = ("checkpoint", "convert", self.folder / "run", "--format", "peft")
        self.run_command(*convert, "-o", self.folder / "ours")
        found = self.logits()
        plain = self.base().eval()(found["tokens"]).logits
        result = self.theirs("ours")(found["tokens"]).logits.detach()
        self.assert_near(found["logits"], result, "logits")
        self.assertGreater(((result - plain).norm() / plain.norm()).item(), 0.01)
        again = ("--weights-from", self.folder / "model", "--adapters-from", self.folder / "ours")
        weights = ("--steps", 0, "--weights", self.folder / "weights")
        self.train(self.plan(), *again, *weights)
        kept = self.in_our_names(load_file(self.folder / "ours" / "adapter_model.safetensors"))
        loaded = load_file(self.folder / "weights")
        for name, value in kept.items():
            self.assertTrue(torch.equal(loaded[name], value), name)

    def test_a_run_goes_on_beside_its_base_alone(self) -> None:
        self.trained_here()
        run = ("--checkpoint", self.folder / "run", "--resume", "--steps", 5)
        data = ("--data", self.folder / "text", "--data-format", "text")
        done = self.call("train", self.folder / "plan.yaml", *data, *run)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("give --weights-from again", done.stderr)

    def test_merged_weights_load_there(self) -> None:
        self.trained_here()
        convert = ("checkpoint", "convert", self.folder / "run", "--format", "huggingface")
        merge = ("--merge", self.folder / "model")
        self.run_command(*convert, *merge, "-o", self.folder / "merged")
        model = self.loaded("merged")
        found = self.logits()
        self.assert_near(found["logits"], model.eval()(found["tokens"]).logits.detach(), "logits")

    def test_other_adapters_are_refused(self) -> None:
        self.random_adapter()
        source = ("--weights-from", self.folder / "model", "--steps", 0)
        source += ("--adapters-from", self.folder / "adapter", "--data", self.folder / "text")
        for change, words in (
            ("rank: 8", "r: is not that of the plan's adapters, 8"),
            ("alpha: 2", "lora_alpha: is not that of the plan's adapters, 2"),
            ("targets: [q]", "belongs to nothing in the model"),
        ):
            key = change.split(":")[0]
            kept = [part for part in ("rank: 4", "alpha: 6") if not part.startswith(key)]
            text = self.plan().replace(self.adapters, "{" + ", ".join([change, *kept]) + "}")
            (self.folder / "plan.yaml").write_text(text)
            plan = ("train", self.folder / "plan.yaml", "--data-format", "text")
            done = self.call(*plan, *source)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)


class PeftOfLatents(Peft):
    """Latent attention: each of its projections is a module."""

    modules = LATENT_MODULES
    fused = OF_LATENTS
    adapters = "{rank: 4, alpha: 6, targets: [q_down, q_up, kv_down, kv_up, projection]}"
    test_other_adapters_are_refused = None

    def config(self) -> "transformers.PreTrainedConfig":
        return transformers.DeepseekV3Config(
            **SIZES, pad_token_id=None, **LATENT, rope_parameters=rotary(1e4)
        )


class PeftOfFused(Peft):
    """Modules that fuse what others have apart, whose rows share an A."""

    modules = PHI_MODULES
    fused = OF_PHI
    adapters = "{rank: 4, alpha: 6, targets: all, joined: true}"
    test_other_adapters_are_refused = None

    def config(self) -> "transformers.PreTrainedConfig":
        return transformers.Phi3Config(
            **SIZES, num_key_value_heads=2, pad_token_id=None, rope_parameters=rotary(1e4)
        )


class PeftOfTransposed(PeftOfFused):
    """GPT-2, whose modules have their weights the other way around, and two of one name."""

    modules = GPT_MODULES
    fused = OF_GPT
    layer = "transformer.h"
    adapters = "{rank: 4, alpha: 6, targets: [qkv, projection, fc1], joined: true}"

    def config(self) -> "transformers.PreTrainedConfig":
        return transformers.GPT2Config(
            n_embd=32,
            n_layer=2,
            n_head=4,
            vocab_size=SIZES["vocab_size"],
            n_positions=64,
            bos_token_id=None,
            eos_token_id=None,
            attn_pdrop=0,
            embd_pdrop=0,
            resid_pdrop=0,
        )


class ApartOfFused(PeftOfTransposed):
    """Adapters of parts that a module fuses, each with its own A."""

    adapters = "{rank: 4, alpha: 6, targets: [q, k, v]}"
    test_adapters_of_peft_learn_here_as_there = None
    test_every_plan_begins_with_the_same_adapters = None
    test_adapters_trained_here_load_there = None
    test_a_run_goes_on_beside_its_base_alone = None

    def test_a_run_says_that_they_have_no_folder(self) -> None:
        (self.folder / "plan.yaml").write_text(self.plan())
        run = ("--checkpoint", self.folder / "run", "--steps", 1)
        data = ("--data", self.folder / "text", "--data-format", "text")
        source = ("--weights-from", self.folder / "model")
        done = self.call("train", self.folder / "plan.yaml", *data, *run, *source)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("`checkpoint convert --format peft` will refuse", done.stderr)
        self.assertIn("adapters.joined: true", done.stderr)
        convert = ("checkpoint", "convert", self.folder / "run", "--format", "peft")
        done = self.call(*convert, "-o", self.folder / "ours")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("adapters.joined: true", done.stderr)
        self.assertFalse((self.folder / "ours").exists())


class PeftOfExperts(Peft):
    """Adapters of each expert. What peft itself saves of them has all experts in one tensor."""

    adapters = "{rank: 4, alpha: 6, targets: [q, gate, up, fc2]}"
    test_adapters_of_peft_learn_here_as_there = None
    test_every_plan_begins_with_the_same_adapters = None
    test_other_adapters_are_refused = None
    fused = OF_QUERIES

    def config(self) -> "transformers.PreTrainedConfig":
        return transformers.MixtralConfig(
            **SIZES,
            num_key_value_heads=2,
            num_local_experts=4,
            num_experts_per_tok=2,
            rope_parameters=rotary(1e4),
        )


class FrozenParts(Tuned):
    """Without adapters: what rests is the base's, what was trained is the run's."""

    def plan(self, ranks: int = 1, choices: str = "micro_batch: 2") -> str:
        text = plan_text(self.folder / "model", "fp64", ranks, choices)
        frozen = "  frozen: [embedding, layers 0-0]\n"
        return text.replace("  optimizer: adamw\n", f"  optimizer: adamw\n{frozen}")

    def test_what_was_trained_is_merged(self) -> None:
        self.trained_here()
        convert = ("checkpoint", "convert", self.folder / "run", "--format", "huggingface")
        alone = self.call(*convert, "-o", self.folder / "alone")
        self.assertEqual(alone.returncode, 2, alone.stderr)
        self.assertIn("--merge BASE", alone.stderr)
        self.run_command(*convert, "--merge", self.folder / "model", "-o", self.folder / "merged")
        found = self.logits()
        result = self.loaded("merged").eval()(found["tokens"]).logits.detach()
        plain = self.base().eval()(found["tokens"]).logits
        self.assert_near(found["logits"], result, "logits")
        self.assertGreater(((result - plain).norm() / plain.norm()).item(), 0.01)


if __name__ == "__main__":
    unittest.main(verbosity=2)
