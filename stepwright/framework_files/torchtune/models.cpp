#include "stepwright/framework_files/torchtune/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/huggingface/differences.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// A general builder of torchtune, which takes sizes, with the defaults of its other arguments.
struct TuneFamily {
  std::string name;
  std::string type;  ///< Model type of the family in transformers.
  double rotary_base;
  double norm_epsilon = 1e-5;
  std::int64_t scale_factor = 0;  ///< Factor of Llama 3.1's rotary scaling; 0: no such scaling.
  bool tied = false;
  std::string tokenizer;
  std::string checkpoints;
};

/// A torchtune builder of a model with fixed sizes.
struct TuneSize {
  std::string module, name;
  /// End of the builder's full name if there are several variants: "_instruct".
  std::string ending;
  /// Name of the built-in model; empty: none, and the general builder gets `arguments`.
  std::string built_in;
  DocumentTree arguments;
  std::int64_t shards = 0;  ///< Number of files of the model's weights on Hugging Face; 0: unknown.
};

/// All builders listed in `models.yaml`.
struct TuneBuilders {
  explicit TuneBuilders(const YamlJsonDocument& table) {
    visit_rows_of_yaml_table(
        table, "families", [&](DocumentNode row, const std::string& /*source*/) {
          const FrameworkSettingsReader fields(row);
          families.push_back({.name = fields.word("name", ""),
                              .type = fields.word("type", ""),
                              .rotary_base = fields.number("rotary_base", 0),
                              .norm_epsilon = fields.number("norm_epsilon", 1e-5),
                              .scale_factor = fields.integer("scale_factor", 0),
                              .tied = fields.flag("tied", false),
                              .tokenizer = fields.word("tokenizer", ""),
                              .checkpoints = fields.word("checkpoints", "")});
        });
    visit_rows_of_yaml_table(table, "sizes", [&](DocumentNode row, const std::string& /*source*/) {
      const FrameworkSettingsReader fields(row);
      sizes.push_back({fields.word("module", ""), fields.word("name", ""),
                       fields.word("ending", ""), fields.word("built_in", ""),
                       fields.nested_settings("arguments").node().copy_tree(),
                       fields.integer("shards", 0)});
    });
  }

  std::vector<TuneFamily> families;
  std::vector<TuneSize> sizes;
};

/// Builder of the user's own, for models that torchtune does not build.
constexpr std::string_view kOwnBuilder = "my_model.build";

const TuneBuilders& tune_builders() { return loaded_table<TuneBuilders>("torchtune/models"); }

const TuneFamily* family_named(std::string_view name) {
  const auto& families = tune_builders().families;
  const auto found = std::ranges::find(families, name, &TuneFamily::name);
  return found == families.end() ? nullptr : &*found;
}

/// Returns the family whose general builder a fixed-size builder calls.
const TuneFamily* family_of(std::string_view module) {
  if (module == "code_llama2") return family_named("llama2");
  if (module == "phi4") return family_named("phi3");
  if (module == "llama3_3") return family_named("llama3_1");
  return family_named(module.starts_with("qwen") ? "qwen2" : module);
}

std::int64_t needed_size(const FrameworkSettingsReader& sizes, std::string_view key) {
  const auto size = sizes.size(key);
  return size ? *size : sizes.node().get(key).integer(1, kMaxIntegerSetting);
}

/// Returns the default width of the feed-forward: torchtune/models/llama3/_model_utils.py,
/// scale_hidden_dim_for_mlp.
std::int64_t usual_ffn(std::int64_t hidden) {
  constexpr std::int64_t kMultiple = 256;
  const std::int64_t width = 4 * (2 * hidden / 3);
  return (width + kMultiple - 1) / kMultiple * kMultiple;
}

/// Returns the model that a general builder makes from sizes.
model::ModelArchitecture built_of(const TuneFamily& family, const FrameworkSettingsReader& sizes,
                                  const std::string& where) {
  const std::int64_t hidden = needed_size(sizes, "embed_dim");
  DocumentTree config = DocumentTree::make_empty_mapping();
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
  if (family.type == "mistral" || family.type == "phi3")
    config.set("sliding_window", DocumentTree());
  if (family.scale_factor > 0) {
    constexpr int kOldLength = 8192;
    DocumentTree scaling = DocumentTree::make_empty_mapping();
    scaling.set("rope_type", "llama3");
    scaling.set("factor", sizes.integer("scale_factor", family.scale_factor));
    scaling.set("low_freq_factor", 1).set("high_freq_factor", 4);
    scaling.set("original_max_position_embeddings", kOldLength);
    config.set("rope_scaling", scaling);
  }
  return model::read_huggingface_config(YamlJsonDocument::from_tree(config, where));
}

/// Returns the keyword arguments with which a general builder makes a model.
DocumentTree sizes_of(const TuneFamily& family, const model::ModelArchitecture& model) {
  DocumentTree sizes = DocumentTree::make_empty_mapping();
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

/// True if a general builder, given a model's sizes, makes exactly this model.
bool builds(const TuneFamily& family, const model::ModelArchitecture& model) try {
  const YamlJsonDocument sizes = YamlJsonDocument::from_tree(sizes_of(family, model), "torchtune");
  return huggingface::differences_between_models(
             built_of(family, FrameworkSettingsReader(sizes.root()), "torchtune"), model)
      .empty();
} catch (const Error&) {
  return false;
}

}  // namespace

TorchtuneModelBuilder tune_builder(std::string_view component) {
  std::string_view name = component.substr(component.rfind('.') + 1);
  TorchtuneModelBuilder builder;
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

void read_torchtune_model(const FrameworkSettingsReader& model, StatedModel& model_words) {
  const DocumentNode place = model.node().get("_component_");
  const std::string component = model.word("_component_", "");
  std::string name = tune_builder(component).name;
  if (component.find("_vision") != std::string::npos) {
    place.fail_unsupported("builds a model that sees images, which is not read");
  }
  if (name.find("reward") != std::string::npos || name.ends_with("_classifier")) {
    place.fail_unsupported("builds a model that scores texts, which is not read");
  }
  if (const TuneFamily* family = family_named(name)) {
    model_words.model = built_of(*family, model, place.file());
    model_words.model->name = "imported";
    return;
  }
  for (const std::string_view ending : {"_instruct", "_base"}) {
    if (name.ends_with(ending)) name.erase(name.size() - ending.size());
  }
  const auto& built = tune_builders().sizes;
  const auto size = std::ranges::find(built, name, &TuneSize::name);
  if (size == built.end()) {
    model_words.unknown_model = one_line_printable_text(component);
    return;
  }
  if (!size->built_in.empty()) {
    model_words.model = model::built_in_model(size->built_in);
    return;
  }
  const YamlJsonDocument sizes = YamlJsonDocument::from_tree(size->arguments, place.file());
  model_words.model =
      built_of(*family_of(size->module), FrameworkSettingsReader(sizes.root()), place.file());
  model_words.model->name = name;
}

TorchtuneModelSettings tune_model(const plan::Job& job) {
  const model::ModelArchitecture& model = job.model;
  for (const TuneSize& size : tune_builders().sizes) {
    const auto known = model::built_in_model(size.built_in);
    if (!known || size.built_in != job.model_name ||
        !huggingface::differences_between_models(*known, model).empty())
      continue;
    const TuneFamily* family = family_of(size.module);
    DocumentTree section = DocumentTree::make_empty_mapping();
    section.set("_component_",
                fmt::format("torchtune.models.{}.{}{}", size.module, size.name, size.ending));
    if (family == nullptr) return {section, "gemma.gemma_tokenizer", "GEMMA2", size.shards};
    // Each family of Qwen models has its own tokenizer.
    const std::string tokenizer = size.module.starts_with("qwen")
                                      ? fmt::format("{0}.{0}_tokenizer", size.module)
                                      : std::string(family->tokenizer);
    return {section, tokenizer, family->checkpoints, size.shards};
  }
  const auto& families = tune_builders().families;
  for (const TuneFamily& family : families) {
    if (!builds(family, model)) continue;
    return {sizes_of(family, model), std::string(family.tokenizer), family.checkpoints};
  }
  return {DocumentTree::make_empty_mapping().set("_component_", kOwnBuilder), families[0].tokenizer,
          families[0].checkpoints};
}

std::string torchtune_lacks(const plan::PlannedJob& planned) {
  if (tune_model(planned.job).section.find("_component_")->text != kOwnBuilder) return "";
  return fmt::format("torchtune has no builder of {}: write one as {}", planned.job.model_name,
                     kOwnBuilder);
}

}  // namespace stepwright::framework_files
