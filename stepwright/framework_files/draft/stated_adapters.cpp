#include "stepwright/framework_files/draft/stated_adapters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/forms/regular.h"
#include "stepwright/huggingface/config_writer.h"
#include "stepwright/launch_scripts/python/source.h"
#include "stepwright/plan/files/read_adapters.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kAllLinear = "all-linear";
constexpr std::string_view kFieldOfAdapters = "job.adapters";

constexpr std::string_view kModules = "huggingface/modules";

/// Returns pairs of a module's name (last part) and the names of the matrices in it that can have
/// adapters.
std::vector<WordRow> known_modules() {
  const auto first = words_of_table_section(kModules, "one_by_one");
  const auto others = words_of_table_section(kModules, "others");
  std::vector<WordRow> modules(first.begin(), first.end());
  modules.insert(modules.end(), others.begin(), others.end());
  return modules;
}

/// Prefixes of layer names in transformers' models, also in models with encoders of images or
/// sound, and under older names.
constexpr std::string_view kLayerPlaces[] = {"model.layers.",
                                             "model.language_model.layers.",
                                             "language_model.model.layers.",
                                             "model.text_model.layers.",
                                             "model.language_model.model.layers.",
                                             "transformer.h.",
                                             "gpt_neox.layers."};
constexpr std::string_view kModulePlaces[] = {"self_attn.",
                                              "mlp.",
                                              "attn.",
                                              "attention.",
                                              "mlp.experts.0.",
                                              "mlp.shared_experts.",
                                              "block_sparse_moe.experts.0."};

/// Returns the number of layers in which an expression matches a module of this name, for the
/// prefix under which it matches most.
std::int64_t layers_matched(const std::string& expression, std::string_view name,
                            std::int64_t layers) {
  std::int64_t most = 0;
  for (const std::string_view place : kLayerPlaces) {
    for (const std::string_view part : kModulePlaces) {
      std::int64_t count = 0;
      for (std::int64_t layer = 0; layer < layers; ++layer) {
        const std::string full = fmt::format("{}{}.{}{}", place, layer, part, name);
        if (fullmatch_regex(expression, full).value_or(false)) ++count;
      }
      most = std::max(most, count);
    }
  }
  return most;
}

/// Returns the model's matrices in a module (`names`) that can have adapters; none for a fused
/// module of queries, keys and values in a model with latent attention.
model::AdapterTargets known_targets(std::string_view names, const model::AdapterTargets& possible) {
  model::AdapterTargets targets;
  const std::string padded = fmt::format(" {} ", names);
  for (const auto& [target, name] : model::kAdapterTargetNames) {
    if (padded.find(fmt::format(" {} ", name)) != std::string::npos) {
      targets.set(model::place_of(target));
    }
  }
  const std::size_t key = model::place_of(model::LoraTargetProduct::kKey);
  return targets[key] && !possible[key] ? model::AdapterTargets() : targets & possible;
}

/// Matrices whose modules a regular expression matches, and whether it misses some layers for any
/// of them.
struct Matched {
  model::AdapterTargets targets;
  bool some_layers = false;
};

Matched matched_targets(const std::string& expression, const model::ModelArchitecture& model,
                        const model::AdapterTargets& possible) {
  Matched matched;
  for (const auto& [name, names] : known_modules()) {
    const model::AdapterTargets here = known_targets(names, possible);
    if (here.none() || (here & ~matched.targets).none()) continue;
    const std::int64_t layers = layers_matched(expression, name, model.layers);
    if (layers == 0) continue;
    matched.targets |= here;
    matched.some_layers = matched.some_layers || layers < model.layers;
  }
  return matched;
}

bool means_all(std::string_view module) {
  return module == kAllLinear || module == "all" || module == "all-linear-layers";
}

/// True if all feed-forwards of a model are experts, which are parameters and not modules in
/// transformers 5 (modeling_qwen3_moe.py, modeling_mixtral.py, modeling_gpt_oss.py).
bool experts_alone(const model::ModelArchitecture& model) {
  if (!model.experts || model.experts->shared_ffn > 0) return false;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    if (model.layer_class(layer).feed_forward == model::FeedForward::kDense) return false;
  }
  return true;
}

bool adapts_all(const model::ModelArchitecture& model) {
  return model.adapters->targets == model::possible_adapter_targets(model);
}

/// True if a module of transformers fuses products that other models have as separate modules, so
/// that its adapter has a single A.
bool is_fused(std::string_view module, const model::ModelArchitecture& model) {
  static constexpr std::string_view kFused[] = {"qkv_proj", "query_key_value", "c_attn", "Wqkv"};
  const std::string_view last = launch_scripts::last_python_name(module);
  return std::ranges::find(kFused, last) != std::end(kFused) ||
         (last == "gate_up_proj" && !model.experts);
}

model::AdapterTargets targets_of_module(std::string_view module,
                                        const model::AdapterTargets& possible) {
  if (means_all(module)) return possible;
  // GPT-2 has two modules named c_proj.
  if (module.ends_with("attn.c_proj")) return targets_of_module("o_proj", possible);
  if (module.ends_with("mlp.c_proj")) return targets_of_module("down_proj", possible);
  const std::string_view last = launch_scripts::last_python_name(module);
  model::AdapterTargets targets;
  for (const auto& [name, names] : known_modules()) {
    if (name == last) targets |= known_targets(names, possible);
  }
  return targets;
}

const model::AdapterTargets kFeedForwardTargets =
    model::AdapterTargets()
        .set(model::place_of(model::LoraTargetProduct::kGate))
        .set(model::place_of(model::LoraTargetProduct::kUp))
        .set(model::place_of(model::LoraTargetProduct::kFc2));

void list_module(const std::string& module, const std::string& file, const char* why,
                 ImportReport& report) {
  report.not_read.push_back(
      {one_line_printable_text(module), "", file, 0, SettingImpact::kYes, why});
}

std::vector<std::string> parted_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Returns the first of the keys in `keys` (separated by blanks) that the file sets; the first key
/// if it sets none.
std::string_view said_key(const FrameworkSettingsReader& fields, std::string_view keys) {
  std::string_view rest = keys;
  while (!rest.empty()) {
    const std::string_view key = rest.substr(0, rest.find(' '));
    if (fields.node().find(key)) return key;
    rest.remove_prefix(std::min(key.size() + 1, rest.size()));
  }
  return keys.substr(0, keys.find(' '));
}

}  // namespace

std::string_view lora_enabling_key(const FrameworkSettingsReader& fields, std::string_view table,
                                   std::string_view section) {
  const std::string_view keys = meaning_of_program_setting_word(table, section, "switch");
  for (const std::string& key : parted_words(keys)) {
    if (!fields.node().find(key) || !fields.flag(key, false)) continue;
    return keys.substr(keys.find(key), key.size());
  }
  return "";
}

DType read_frozen_weight_type(const FrameworkSettingsReader& fields, std::string_view bits) {
  const auto said = bits.empty() ? std::nullopt : fields.node().find(bits);
  if (!said || !said->is_scalar() || (said->text() != "8" && said->text() != "4")) {
    return DType::kBf16;
  }
  fields.mark_setting_read(bits);
  return said->text() == "4" ? DType::kNf4 : DType::kFp8;
}

StatedLoraAdapters read_lora_adapter_settings(const FrameworkSettingsReader& fields,
                                              std::string_view table, std::string_view section) {
  // If several keys are listed, the first one that the fields have counts.
  const auto word = [&](std::string_view name) {
    const std::string_view keys = meaning_of_program_setting_word(table, section, name);
    if (name.starts_with("usual_") || keys.find(' ') == std::string_view::npos) return keys;
    return said_key(fields, keys);
  };
  const auto number = [&](std::string_view name) { return read_double(word(name)).value_or(0); };
  const auto listed = [&](std::string_view key) -> std::vector<std::string> {
    const auto value = key.empty() ? std::nullopt : fields.find(key);
    const bool list = value && (value->is_scalar() || value->is_sequence());
    return list ? split_word_list(*value) : std::vector<std::string>();
  };
  StatedLoraAdapters words;
  words.rank = fields.integer(word("rank"), read_integer(word("usual_rank")).value);
  const bool of_rank = !word("alpha_of_rank").empty();
  const double usual = number("usual_alpha") * (of_rank ? static_cast<double>(words.rank) : 1);
  words.alpha = fields.number(word("alpha"), usual);
  words.dropout = fields.number(word("dropout"), number("usual_dropout"));
  words.modules = listed(word("modules"));
  const std::string_view key = word("expression");
  const auto expression = key.empty() ? std::nullopt : fields.find(key);
  if (expression && expression->is_scalar()) words.modules = {expression->text()};
  if (words.modules.empty()) words.modules = parted_words(word("usual_modules"));
  if (words.modules.empty()) words.modules = {"q_proj", "v_proj"};
  std::ranges::move(listed(word("parameters")), std::back_inserter(words.modules));
  words.of_transformers = !word("of_transformers").empty();
  words.base = read_frozen_weight_type(fields, word("bits"));
  const bool flags = !word("load_flags").empty();
  if (flags && fields.flag("load_in_8bit", false)) words.base = DType::kFp8;
  if (flags && fields.flag("load_in_4bit", false)) words.base = DType::kNf4;
  for (const auto& [name, base] :
       {std::pair("flags_of_8", DType::kFp8), std::pair("flags_of_4", DType::kNf4)}) {
    for (const std::string& flag :
         parted_words(meaning_of_program_setting_word(table, section, name))) {
      if (fields.flag(flag, false)) words.base = base;
    }
  }
  return words;
}

void apply_lora_adapters(const StatedLoraAdapters& words, const std::string& file, plan::Job& job,
                         ImportReport& report) {
  const model::AdapterTargets possible = model::possible_adapter_targets(job.model);
  model::AdapterTargets targets;
  for (const std::string& module : words.modules) {
    model::AdapterTargets here = targets_of_module(module, possible);
    if (contains_special_regex_character(module)) {
      const Matched matched = matched_targets(module, job.model, possible);
      here = matched.targets;
      if (matched.some_layers)
        list_module(module, file, "that some layers have no adapters", report);
    }
    const bool parameter = module.find("experts") != std::string::npos;
    if (words.of_transformers && experts_alone(job.model) && !parameter &&
        (here & kFeedForwardTargets).any()) {
      here &= ~kFeedForwardTargets;
      report.assumed.push_back({"job.adapters.targets", "",
                                "experts are no modules in transformers 5: all linear ones are "
                                "those of attention"});
      if (!means_all(module)) {
        list_module(module, file,
                    "adapters beside experts, where they are modules (transformers before 5)",
                    report);
        continue;
      }
    }
    targets |= here;
    if (here.any()) continue;
    list_module(module, file, "adapters beside this module: none stands there in the plan", report);
  }
  if (targets.none()) {
    fail_input(
        fmt::format("{}: adapters stand beside {}, and the model has none of these", file,
                    one_line_printable_text(fmt::format("{}", fmt::join(words.modules, ", ")))));
  }
  DocumentTree adapters = DocumentTree::make_empty_mapping();
  adapters.set("rank", words.rank).set("alpha", words.alpha).set("dropout", words.dropout);
  if (std::ranges::any_of(words.modules,
                          [&](const std::string& one) { return is_fused(one, job.model); })) {
    adapters.set("joined", true);
  }
  DocumentTree list = DocumentTree::empty_flow_sequence();
  for (const auto& [target, name] : model::kAdapterTargetNames) {
    if (targets[model::place_of(target)]) list.add(name);
  }
  adapters.set("targets", list);
  if (words.base != DType::kBf16)
    adapters.set("base", name_of(model::kAdapterBaseTypeNames, words.base));
  const YamlJsonDocument document = YamlJsonDocument::from_tree(
      DocumentTree::make_empty_mapping().set("adapters", adapters), file);
  plan::read_adapters_and_frozen_parts(document.root(), job);
}

void report_adapter_settings_as_unread(ImportReport& report) {
  for (const ImportedSetting& one : report.read) {
    if (!one.field.starts_with(kFieldOfAdapters)) continue;
    const bool off = one.value == "false";
    report.not_read.push_back({one.name, one.value, one.file, one.line,
                               off ? SettingImpact::kNo : SettingImpact::kYes,
                               off ? "" : "adapters: all weights are trained in the plan"});
  }
  std::erase_if(report.read,
                [](const ImportedSetting& one) { return one.field.starts_with(kFieldOfAdapters); });
}

std::vector<std::string> megatron_adapter_modules(const model::ModelArchitecture& model) {
  std::vector<std::string> names;
  for (const auto& [name, its_names] : words_of_table_section(kModules, "others")) {
    if (!name.starts_with("linear_")) continue;
    if (name == "linear_q_proj" && !model.latent) continue;
    if (known_targets(its_names, model.adapters->targets).any()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> compact_megatron_adapter_modules(const model::ModelArchitecture& model) {
  if (adapts_all(model)) return {std::string(kAllLinear)};
  return megatron_adapter_modules(model);
}

huggingface::PeftTargetModules transformers_names_of_adapted_modules(
    const model::ModelArchitecture& model) {
  const bool listed = model.adapters->joined || experts_alone(model);
  if (adapts_all(model) && !listed) return {.modules = {std::string(kAllLinear)}};
  try {
    return huggingface::adapted_modules(model, huggingface::huggingface_family_of_model(model));
  } catch (const Error&) {
    huggingface::PeftTargetModules like_llama;
    for (const auto& [name, names] : words_of_table_section(kModules, "one_by_one")) {
      if (known_targets(names, model.adapters->targets).any()) like_llama.modules.push_back(name);
    }
    return like_llama;
  }
}

std::vector<std::string> transformers_adapter_modules_only(const model::ModelArchitecture& model,
                                                           std::string_view words) {
  auto [modules, parameters] = transformers_names_of_adapted_modules(model);
  if (!parameters.empty()) {
    fail_unsupported(fmt::format("adapters of {}, which are parameters and no modules: {} alone",
                                 fmt::join(parameters, ", "), words));
  }
  return std::move(modules);
}

}  // namespace stepwright::framework_files
