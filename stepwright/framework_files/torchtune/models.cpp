#include "stepwright/framework_files/torchtune/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/huggingface/differences.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// A general builder, which takes sizes, with the defaults of its other arguments:
/// torchtune/models/*/_component_builders.py of 0.6.1.
struct TuneFamily {
  std::string_view name;
  std::string_view type;  ///< The same in transformers.
  double rotary_base;
  double norm_epsilon = 1e-5;
  std::int64_t scale_factor = 0;  ///< Of Llama 3.1's rotary embedding; 0: it has none.
  bool tied = false;
  std::string_view tokenizer;
  std::string_view checkpoints;
};
constexpr TuneFamily kFamilies[] = {
    {.name = "llama3",
     .type = "llama",
     .rotary_base = 5e5,
     .tokenizer = "llama3.llama3_tokenizer",
     .checkpoints = "LLAMA3"},
    {.name = "llama3_1",
     .type = "llama",
     .rotary_base = 5e5,
     .scale_factor = 8,
     .tokenizer = "llama3.llama3_tokenizer",
     .checkpoints = "LLAMA3"},
    {.name = "llama3_2",
     .type = "llama",
     .rotary_base = 5e5,
     .scale_factor = 32,
     .tied = true,
     .tokenizer = "llama3.llama3_tokenizer",
     .checkpoints = "LLAMA3_2"},
    {.name = "llama2",
     .type = "llama",
     .rotary_base = 1e4,
     .tokenizer = "llama2.llama2_tokenizer",
     .checkpoints = "LLAMA2"},
    {.name = "mistral",
     .type = "mistral",
     .rotary_base = 1e4,
     .tokenizer = "mistral.mistral_tokenizer",
     .checkpoints = "MISTRAL"},
    {.name = "qwen2",
     .type = "qwen2",
     .rotary_base = 1e6,
     .tokenizer = "qwen2_5.qwen2_5_tokenizer",
     .checkpoints = "QWEN2"},
    {.name = "gemma",
     .type = "gemma",
     .rotary_base = 1e4,
     .norm_epsilon = 1e-6,
     .tied = true,
     .tokenizer = "gemma.gemma_tokenizer",
     .checkpoints = "GEMMA"},
    {.name = "phi3",
     .type = "phi3",
     .rotary_base = 1e4,
     .tokenizer = "phi3.phi3_mini_tokenizer",
     .checkpoints = "PHI3_MINI"},
};

/// What a general builder is given; 0: nothing.
struct TuneSizes {
  std::int64_t vocabulary, layers, heads, kv_heads, head_dim, hidden, ffn, length, rotary_base;
};

/// A builder of one size: torchtune/models/*/_model_builders.py of 0.6.1, those of Qwen3 of its
/// main branch.
struct TuneSize {
  std::string_view module, name;
  std::string_view ending;    ///< Of its whole name, where there are several: "_instruct".
  std::string_view built_in;  ///< Empty: none, and the general builder is given these sizes.
  TuneSizes sizes;
  std::int64_t shards =
      0;  ///< Files of its weights on the hub, as torchtune's recipes/configs say.
};
constexpr TuneSize kSizes[] = {
    {"llama2", "llama2_7b", "", "llama-2-7b", {}, 2},
    {"llama2", "llama2_13b", "", "llama-2-13b", {}, 3},
    {"llama2", "llama2_70b", "", "llama-2-70b", {}, 15},
    {"code_llama2", "code_llama2_7b", "", "", {32016, 32, 32, 32, 0, 4096, 11008, 16384, 1000000}},
    {"code_llama2", "code_llama2_13b", "", "", {32016, 40, 40, 40, 0, 5120, 13824, 16384, 1000000}},
    {"code_llama2", "code_llama2_70b", "", "", {32016, 80, 64, 8, 0, 8192, 28672, 16384, 1000000}},
    {"llama3", "llama3_8b", "", "llama-3-8b", {}, 4},
    {"llama3", "llama3_70b", "", "llama-3-70b", {}, 30},
    {"llama3_1", "llama3_1_8b", "", "llama-3.1-8b", {}, 4},
    {"llama3_1", "llama3_1_70b", "", "llama-3.1-70b", {}, 30},
    {"llama3_1", "llama3_1_405b", "", "llama-3.1-405b", {}, 191},
    {"llama3_2", "llama3_2_1b", "", "llama-3.2-1b", {}, 1},
    {"llama3_2", "llama3_2_3b", "", "llama-3.2-3b", {}, 2},
    {"llama3_3", "llama3_3_70b", "", "llama-3.1-70b", {}, 30},
    {"gemma", "gemma_2b", "", "", {256000, 18, 8, 1, 256, 2048, 16384, 8192, 0}},
    {"gemma", "gemma_7b", "", "", {256000, 28, 16, 16, 256, 3072, 24576, 8192, 0}},
    {"gemma2", "gemma2_2b", "", "gemma-2-2b", {}, 3},
    {"gemma2", "gemma2_9b", "", "gemma-2-9b", {}, 8},
    {"gemma2", "gemma2_27b", "", "gemma-2-27b", {}, 24},
    {"mistral", "mistral_7b", "", "mistral-7b", {}, 2},
    {"phi3", "phi3_mini", "", "", {32064, 32, 32, 32, 0, 3072, 8192, 4096, 0}},
    {"phi4", "phi4_14b", "", "", {100352, 40, 40, 10, 0, 5120, 17920, 16384, 0}},
    {"qwen2_5", "qwen2_5_0_5b", "", "qwen2.5-0.5b", {}, 1},
    {"qwen2_5", "qwen2_5_1_5b", "_instruct", "qwen2.5-1.5b", {}, 1},
    {"qwen2_5", "qwen2_5_3b", "", "qwen2.5-3b", {}, 2},
    {"qwen2_5", "qwen2_5_7b", "_instruct", "qwen2.5-7b", {}, 4},
    {"qwen2_5", "qwen2_5_14b", "_instruct", "qwen2.5-14b", {}, 8},
    {"qwen2_5", "qwen2_5_32b", "_instruct", "qwen2.5-32b", {}, 17},
    {"qwen2_5", "qwen2_5_72b", "_instruct", "qwen2.5-72b", {}, 37},
    {"qwen2", "qwen2_0_5b", "", "qwen2-0.5b", {}, 1},
    {"qwen2", "qwen2_1_5b", "", "qwen2-1.5b", {}, 1},
    {"qwen2", "qwen2_7b", "", "qwen2-7b", {}, 4},
    {"qwen3", "qwen3_0_6b", "_instruct", "qwen3-0.6b", {}, 1},
    {"qwen3", "qwen3_1_7b", "_instruct", "qwen3-1.7b", {}, 2},
    {"qwen3", "qwen3_4b", "_instruct", "qwen3-4b", {}, 3},
    {"qwen3", "qwen3_8b", "_instruct", "qwen3-8b", {}, 5},
    {"qwen3", "qwen3_14b", "_instruct", "qwen3-14b", {}, 8},
    {"qwen3", "qwen3_32b", "", "qwen3-32b", {}, 17},
};

const TuneFamily* family_named(std::string_view name) {
  const auto* found = std::ranges::find(kFamilies, name, &TuneFamily::name);
  return found == std::end(kFamilies) ? nullptr : found;
}

/// The family whose general builder one of a size calls.
const TuneFamily* family_of(std::string_view module) {
  if (module == "code_llama2") return family_named("llama2");
  if (module == "phi4") return family_named("phi3");
  if (module == "llama3_3") return family_named("llama3_1");
  return family_named(module.starts_with("qwen") ? "qwen2" : module);
}

/// The keyword arguments of these sizes.
Tree tune_words(const TuneSizes& sizes) {
  Tree words = Tree::mapping();
  words.set("vocab_size", sizes.vocabulary).set("num_layers", sizes.layers);
  words.set("num_heads", sizes.heads).set("num_kv_heads", sizes.kv_heads);
  words.set("embed_dim", sizes.hidden).set("intermediate_dim", sizes.ffn);
  words.set("max_seq_len", sizes.length);
  if (sizes.head_dim > 0) words.set("head_dim", sizes.head_dim);
  if (sizes.rotary_base > 0) words.set("rope_base", sizes.rotary_base);
  return words;
}

std::int64_t needed_size(const Fields& sizes, std::string_view key) {
  const auto size = sizes.size(key);
  return size ? *size : sizes.node().get(key).integer(1, kMostOfField);
}

/// torchtune/models/llama3/_model_utils.py: scale_hidden_dim_for_mlp.
std::int64_t usual_ffn(std::int64_t hidden) {
  constexpr std::int64_t kMultiple = 256;
  const std::int64_t width = 4 * (2 * hidden / 3);
  return (width + kMultiple - 1) / kMultiple * kMultiple;
}

/// The model that a general builder makes of sizes.
model::Architecture built_of(const TuneFamily& family, const Fields& sizes,
                             const std::string& where) {
  const std::int64_t hidden = needed_size(sizes, "embed_dim");
  Tree config = Tree::mapping();
  config.set("model_type", family.type);
  config.set("hidden_size", hidden);
  config.set("vocab_size", needed_size(sizes, "vocab_size"));
  config.set("num_hidden_layers", needed_size(sizes, "num_layers"));
  config.set("num_attention_heads", needed_size(sizes, "num_heads"));
  config.set("num_key_value_heads", needed_size(sizes, "num_kv_heads"));
  config.set("intermediate_size", sizes.integer("intermediate_dim", usual_ffn(hidden)));
  config.set("max_position_embeddings", needed_size(sizes, "max_seq_len"));
  config.set("rms_norm_eps", sizes.number("norm_eps", family.norm_epsilon));
  config.set("rope_theta", sizes.number("rope_base", family.rotary_base));
  config.set("tie_word_embeddings", sizes.flag("tie_word_embeddings", family.tied));
  if (const auto head = sizes.size("head_dim")) config.set("head_dim", *head);
  if (family.type == "mistral" || family.type == "phi3") config.set("sliding_window", Tree());
  if (family.scale_factor > 0) {
    constexpr int kOldLength = 8192;
    Tree scaling = Tree::mapping();
    scaling.set("rope_type", "llama3");
    scaling.set("factor", sizes.integer("scale_factor", family.scale_factor));
    scaling.set("low_freq_factor", 1).set("high_freq_factor", 4);
    scaling.set("original_max_position_embeddings", kOldLength);
    config.set("rope_scaling", scaling);
  }
  return model::read_config(Document::from(config, where));
}

/// The keyword arguments with which a general builder makes a model.
Tree sizes_of(const TuneFamily& family, const model::Architecture& model) {
  Tree sizes = Tree::mapping();
  sizes.set("_component_", fmt::format("torchtune.models.{0}.{0}", family.name));
  sizes.set("vocab_size", model.vocabulary).set("num_layers", model.layers);
  sizes.set("num_heads", model.heads).set("num_kv_heads", model.kv_heads);
  sizes.set("embed_dim", model.hidden).set("intermediate_dim", model.ffn);
  sizes.set("max_seq_len", model.positions).set("norm_eps", model.norm_epsilon);
  sizes.set("rope_base", model.rotary_base);
  if (family.scale_factor > 0 && model.rotary_scaling) {
    sizes.set("scale_factor", static_cast<std::int64_t>(model.rotary_scaling->factor));
  }
  if (family.name == "llama3_2" || family.name == "qwen2") {
    sizes.set("tie_word_embeddings", model.tied);
  }
  return sizes;
}

/// Whether a general builder makes this very model of its sizes.
bool builds(const TuneFamily& family, const model::Architecture& model) try {
  const Document sizes = Document::from(sizes_of(family, model), "torchtune");
  return huggingface::differences(built_of(family, Fields(sizes.root()), "torchtune"), model)
      .empty();
} catch (const Error&) {
  return false;
}

}  // namespace

TuneBuilder tune_builder(std::string_view component) {
  std::string_view name = component.substr(component.rfind('.') + 1);
  TuneBuilder builder;
  for (const std::string_view head : {"qlora_", "lora_"}) {
    if (!name.starts_with(head)) continue;
    builder.adapters = true;
    builder.narrow = head == "qlora_";
    name.remove_prefix(head.size());
    break;
  }
  builder.name = name;
  return builder;
}

void take_tune_model(const Fields& model, Draft& draft) {
  const Node place = model.node().get("_component_");
  const std::string component = model.word("_component_", "");
  std::string name = tune_builder(component).name;
  if (component.find("_vision") != std::string::npos) {
    place.fail_unsupported("builds a model that sees images, which is not read");
  }
  if (name.find("reward") != std::string::npos || name.ends_with("_classifier")) {
    place.fail_unsupported("builds a model that scores texts, which is not read");
  }
  if (const TuneFamily* family = family_named(name)) {
    draft.model = built_of(*family, model, place.file());
    draft.model->name = "imported";
    return;
  }
  for (const std::string_view ending : {"_instruct", "_base"}) {
    if (name.ends_with(ending)) name.erase(name.size() - ending.size());
  }
  const auto* size = std::ranges::find(kSizes, name, &TuneSize::name);
  if (size == std::end(kSizes)) {
    draft.unknown_model = printable(component);
    return;
  }
  if (!size->built_in.empty()) {
    draft.model = model::built_in_model(size->built_in);
    return;
  }
  const Document sizes = Document::from(tune_words(size->sizes), place.file());
  draft.model = built_of(*family_of(size->module), Fields(sizes.root()), place.file());
  draft.model->name = name;
}

TuneModel tune_model(const plan::Job& job) {
  const model::Architecture& model = job.model;
  for (const TuneSize& size : kSizes) {
    const auto known = model::built_in_model(size.built_in);
    if (!known || size.built_in != job.model_name ||
        !huggingface::differences(*known, model).empty())
      continue;
    const TuneFamily* family = family_of(size.module);
    Tree section = Tree::mapping();
    section.set("_component_",
                fmt::format("torchtune.models.{}.{}{}", size.module, size.name, size.ending));
    if (family == nullptr) return {section, "gemma.gemma_tokenizer", "GEMMA2", size.shards};
    // Each family of Qwen has a tokenizer of its own.
    const std::string tokenizer = size.module.starts_with("qwen")
                                      ? fmt::format("{0}.{0}_tokenizer", size.module)
                                      : std::string(family->tokenizer);
    return {section, tokenizer, family->checkpoints, size.shards};
  }
  for (const TuneFamily& family : kFamilies) {
    if (!builds(family, model)) continue;
    return {sizes_of(family, model), std::string(family.tokenizer), family.checkpoints};
  }
  return {Tree::mapping().set("_component_", "my_model.build"), std::string(kFamilies[0].tokenizer),
          kFamilies[0].checkpoints};
}

}  // namespace stepwright::framework_files
