#include "stepwright/framework_files/torchtitan/python_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "stepwright/core/document.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/framework_files/torchtitan/words.h"
#include "stepwright/huggingface/differences.h"

namespace stepwright::framework_files {
namespace {

std::string keywords_of(const TitanConfigurationSection& section) {
  std::string text;
  for (const auto& [key, value] : tree_members(section.values)) {
    text += fmt::format("            {}={},\n", key, torchtitan_config_value_text(value, true));
  }
  return text;
}

/// The imports of a module, each once, in order.
class Imports {
 public:
  void add(std::string from, std::string name) { names_.emplace(std::move(from), std::move(name)); }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (auto at = names_.begin(); at != names_.end();) {
      const std::string& from = at->first;
      std::vector<std::string> names;
      for (; at != names_.end() && at->first == from; ++at) names.push_back(at->second);
      text += fmt::format("from torchtitan.{} import {}\n", from, fmt::join(names, ", "));
    }
    return text;
  }

 private:
  std::set<std::pair<std::string, std::string>> names_;
};

std::string_view attention_of(const plan::Job& job) {
  return job.kernels.attention == cluster::AttentionKernel::kFlash3 ? kTitanVarlen
                                                                    : kTorchtitanFlexAttention;
}

/// Default epsilon of torchtitan's norms: torchtitan/models/common/nn_modules.py, RMSNorm.Config.
constexpr double kTitanEpsilon = 1e-5;

/// Returns Python code for a Llama with sizes that no flavor has; queries, keys and values can have
/// biases (torchtitan/models/common/attention.py, FusedQKVLinear).
std::string llama_of_sizes(const plan::Job& job, Imports& imports) {
  const model::ModelArchitecture& model = job.model;
  imports.add("models", "llama3");
  imports.add("models.common", "ComplexRoPE");
  imports.add("protocols.model_spec", "ModelSpec");
  const std::string tied = model.tied ? ",\n        enable_weight_tying=True" : "";
  const bool usual = model.norm_epsilon == kTitanEpsilon;
  const std::string epsilon = usual ? "" : fmt::format(", eps={}", model.norm_epsilon);
  std::string of_layers;
  if (model.qkv_bias) {
    of_layers += "        layer.attention.qkv_linear.wqkv.bias = True\n";
  }
  if (!usual) {
    of_layers += fmt::format("        layer.attention_norm.eps = layer.ffn_norm.eps = {}\n",
                             model.norm_epsilon);
  }
  if (!of_layers.empty()) of_layers.insert(0, "    for layer in layers:\n");
  return fmt::format(
      "def stepwright_model() -> ModelSpec:\n"
      "    spec = llama3.model_registry(\"debugmodel\", attn_backend=\"{}\")\n"
      "    width, vocabulary, heads = {}, {}, {}\n"
      "    tokens = replace(spec.model.tok_embeddings, num_embeddings=vocabulary, "
      "embedding_dim=width)\n"
      "    head = replace(spec.model.lm_head, in_features=width, out_features=vocabulary)\n"
      "    layers = llama3._build_llama3_layers(\n"
      "        n_layers={},\n        dim=width,\n        n_heads=heads,\n        n_kv_heads={},\n"
      "        hidden_dim={},\n"
      "        rope=ComplexRoPE.Config(dim=width // heads, max_seq_len={}, theta={:.1f}),\n"
      "        attn_backend=\"{}\",\n    )\n{}"
      "    model = replace(\n"
      "        spec.model,\n        dim=width,\n        vocab_size=vocabulary,\n"
      "        tok_embeddings=tokens,\n"
      "        norm=replace(spec.model.norm, normalized_shape=width{}),\n        lm_head=head,\n"
      "        layers=layers{},\n    )\n"
      "    return replace(spec, flavor=\"stepwright\", model=model)\n\n\n",
      attention_of(job), model.hidden, model.vocabulary, model.heads, model.layers, model.kv_heads,
      model.ffn, std::max(model.positions, job.length), model.rotary_base, attention_of(job),
      of_layers, epsilon, tied);
}

/// Returns the call that makes the model, with the name of its expert dispatcher.
std::string call_of_model(const plan::PlannedJob& planned, Imports& imports,
                          std::string& functions) {
  const std::optional<TitanModelFlavor> flavor = torchtitan_flavor_of_model(planned.job.model_name);
  if (!flavor && titan_supports_model(planned.job.model)) {
    functions = llama_of_sizes(planned.job, imports);
    return "stepwright_model()";
  }
  imports.add(fmt::format("models.{}", flavor ? flavor->name : "llama3"), "model_registry");
  const bool experts = planned.job.model.experts.has_value();
  const bool once = planned.job.dispatcher == plan::TokenDispatcher::kOncePerNode;
  return fmt::format("model_registry({}, attn_backend=\"{}\"{})",
                     quoted_for_python(flavor ? flavor->flavor : planned.job.model_name),
                     attention_of(planned.job),
                     !experts ? ""
                     : once   ? ", moe_comm_backend=\"deepep\""
                              : ", moe_comm_backend=\"standard\"");
}

}  // namespace

bool titan_supports_model(const model::ModelArchitecture& model) {
  model::ModelArchitecture llama;
  llama.layers = model.layers;
  llama.hidden = model.hidden;
  llama.heads = model.heads;
  llama.kv_heads = model.kv_heads;
  llama.head_dim = model.hidden / model.heads;
  llama.ffn = model.ffn;
  llama.vocabulary = model.vocabulary;
  llama.positions = model.positions;
  llama.rotary_base = model.rotary_base;
  llama.tied = model.tied;
  llama.qkv_bias = model.qkv_bias;
  llama.norm_epsilon = model.norm_epsilon;
  return llama.head_dim * llama.heads == llama.hidden &&
         huggingface::differences_between_models(llama, model).empty();
}

std::string torchtitan_config_value_text(const DocumentTree& value, bool python) {
  if (value.kind == DocumentTree::TreeValueKind::kSequence) {
    std::vector<std::string> items;
    for (const DocumentTree& item : value.items)
      items.push_back(torchtitan_config_value_text(item, python));
    const bool nested =
        !value.items.empty() && value.items[0].kind == DocumentTree::TreeValueKind::kSequence;
    return nested ? fmt::format("[\n  {},\n]", fmt::join(items, ",\n  "))
                  : fmt::format("[{}]", fmt::join(items, ", "));
  }
  const bool truth = value.text == "true" || value.text == "false";
  if (truth) return !python ? value.text : value.text == "true" ? "True" : "False";
  const YamlJsonDocument part =
      YamlJsonDocument::from_tree(DocumentTree::make_empty_mapping().set("value", value), "value");
  if (part.root().get("value").is_number()) return value.text;
  return python ? quoted_for_python(value.text) : quoted_for_toml(value.text);
}

std::string titan_python_module_text(const plan::PlannedJob& planned,
                                     const TitanConfigurationSection& training,
                                     const TitanConfigurationSection& parallelism) {
  const plan::Plan& plan = planned.plan;
  Imports imports;
  std::string functions;
  const std::string model = call_of_model(planned, imports, functions);
  imports.add("components.loss", "CrossEntropyLoss");
  imports.add("components.optimizer", "default_adamw");
  imports.add("config", "ParallelismConfig");
  imports.add("config", "TrainingConfig");
  imports.add("hf_datasets.text_datasets", "HuggingFaceTextDataLoader");
  imports.add("models.common.config_utils", "decoder_vocab_size");
  imports.add("trainer", "Trainer");
  std::string loss = "CrossEntropyLoss.Config(global_vocab_size=decoder_vocab_size(model_spec))";
  if (planned.job.kernels.fused_loss()) {
    imports.add("components.loss", "ChunkedLossWrapper");
    loss = fmt::format("ChunkedLossWrapper.Config(loss_fn={})", loss);
  }
  std::string more;
  if (plan.recompute.kind == plan::RecomputeKind::kFull) {
    imports.add("distributed.activation_checkpoint", "FullAC");
    more += "        activation_checkpoint=FullAC.Config(),\n";
  } else if (plan.recompute.modules == plan::kPerOperator) {
    imports.add("distributed.activation_checkpoint", "SelectiveAC");
    more += "        activation_checkpoint=SelectiveAC.Config(),\n";
  } else {
    more += "        activation_checkpoint=None,\n";
  }
  if (plan.overlap.tensor && plan.parallel.tensor > 1) {
    imports.add("config", "CompileConfig");
    more += "        compile=CompileConfig(enable=True, enable_async_tensor_parallel=True),\n";
  }
  return fmt::format(
      "\n{}{}\n\n{}def stepwright_plan() -> Trainer.Config:\n"
      "    model_spec = {}\n"
      "    return Trainer.Config(\n"
      "        model_spec=model_spec,\n        loss={},\n        "
      "optimizer=default_adamw(lr=3e-4),\n"
      "        dataloader=HuggingFaceTextDataLoader.Config(dataset=\"c4_test\"),\n"
      "        training=TrainingConfig(\n            steps=10,\n{}        ),\n"
      "        parallelism=ParallelismConfig(\n{}        ),\n{}    )\n",
      functions.empty() ? "" : "from dataclasses import replace\n\n", imports.text(), functions,
      model, loss, keywords_of(training), keywords_of(parallelism), more);
}

}  // namespace stepwright::framework_files
