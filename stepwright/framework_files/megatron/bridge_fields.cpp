#include "stepwright/framework_files/megatron/bridge_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stepwright/core/mapping_builder.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/launch_scripts/python/source.h"

namespace stepwright::framework_files {

void set_megatron_bridge_activation(const FrameworkSettingsReader& model, DocumentTree& fields) {
  const auto function = model.find("activation_func");
  if (!function) return;
  const std::string text =
      function->is_mapping() ? function->get("_target_").text() : function->text();
  const auto says = [&](std::string_view word) { return text.ends_with(word); };
  if (says("quick_gelu") && model.flag("gated_linear_unit", false)) {
    fields.set("activation", "quick_geglu");
  } else if (says("silu") && model.flag("gated_linear_unit", false)) {
    fields.set("activation", "swiglu");
  } else if (says("squared_relu")) {
    fields.set("activation", "squared_relu");
  } else if (says("gelu") && !model.flag("gated_linear_unit", false)) {
    const bool fused = model.flag("bias_activation_fusion", true);
    fields.set("activation", fused && model.flag("add_bias_linear", true) ? "bias_gelu" : "gelu");
  } else {
    function->fail_unsupported(
        "is only supported as gated silu, gated quick_gelu, gelu or squared_relu");
  }
}

namespace {

/// Names of the enumerators of AttnBackend, whose numbers start at 1
/// (megatron/core/transformer/enums.py).
constexpr std::array<std::string_view, 5> kBridgeBackends = {"flash", "fused", "unfused", "local",
                                                             "auto"};
constexpr std::pair<std::string_view, std::string_view> kBridgeTypes[] = {
    {"torch.float32", "fp32"}, {"torch.bfloat16", "bf16"}, {"torch.float16", "fp16"}};

DocumentTree placed_at(DocumentTree tree, DocumentNode node) {
  tree.line = node.source_line();
  tree.column = 1;
  for (DocumentTree& item : tree.items) {
    item.line = tree.line;
    item.column = 1;
  }
  return tree;
}

/// Returns the word of Megatron's arguments for a class or function with its arguments.
std::string target_word(DocumentNode target) {
  const std::string name = target.get("_target_").text();
  const auto arguments = target.find("_args_");
  if (name.ends_with("AttnBackend") && arguments && arguments->is_sequence() &&
      arguments->size() == 1) {
    const auto number = arguments->at(0).integer(1, std::ssize(kBridgeBackends));
    return std::string(kBridgeBackends[static_cast<std::size_t>(number - 1)]);
  }
  for (const auto& [type, word] : kBridgeTypes) {
    if (name == type) return std::string(word);
  }
  return name;
}

/// Returns the layout "Et|tL" for [[embedding, decoder], [decoder, loss]].
std::string stages_text(DocumentNode stages) {
  std::string text;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const DocumentNode stage = stages.at(i);
    if (i > 0) text += '|';
    for (std::size_t k = 0; stage.is_sequence() && k < stage.size(); ++k) {
      const std::string word = stage.at(k).text();
      text += word == "embedding" ? 'E' : word == "loss" ? 'L' : word == "mtp" ? 'm' : 't';
    }
  }
  return text;
}

DocumentTree field_tree(std::string_view name, DocumentNode value) {
  if (value.is_mapping() && value.find("_target_")) {
    return placed_at(DocumentTree::make_scalar(target_word(value), false), value);
  }
  if (name == "pipeline_model_parallel_layout" && value.is_sequence()) {
    return placed_at(DocumentTree::make_scalar(stages_text(value), false), value);
  }
  DocumentTree tree = value.copy_tree();
  if (name == "attention_backend") {
    tree.text = std::string(launch_scripts::last_python_name(tree.text));
  }
  return placed_at(std::move(tree), value);
}

/// Returns the field of Megatron that a setting sets; empty: none.
std::string_view field_of(std::string_view section, std::string_view name) {
  const std::string path = fmt::format("{}.{}", section, name);
  const auto places = megatron_field_paths("megatron/container");
  const auto known = std::ranges::find(places, path, &MegatronFieldPath::path);
  return known != places.end() ? known->field : section == "model" ? name : std::string_view();
}

/// Adds the fields of Megatron in a section, and its other settings under `section.name`.
void add_section(const std::string& section, DocumentNode node, MegatronBridgeFields& bridge) {
  TreeMappingBuilder fields(std::move(bridge.fields));
  for (const auto& [name, value] : node.mapping_members()) {
    if (value.is_null() || name.starts_with('_')) continue;
    const std::string place = section + "." + name;
    const std::string_view field = field_of(section, name);
    const std::string key(field.empty() ? place : field);
    bridge.names[key] = place;
    fields.set(key, field_tree(name, value));
  }
  bridge.fields = fields.finished_mapping();
}

/// Adds the types in `model`, which `mixed_precision` overrides: a name, or its settings.
void add_precision(DocumentNode root, MegatronBridgeFields& bridge) {
  const auto set = [&](std::string_view field, std::string_view word, DocumentNode from,
                       const std::string& name) {
    bridge.fields.set(field, placed_at(DocumentTree::make_scalar(std::string(word), false), from));
    bridge.names[std::string(field)] = name;
  };
  for (const std::string_view section : {"optimizer", "model", "mixed_precision"}) {
    const auto node = root.find(section);
    if (!node || !node->is_mapping()) continue;
    const FrameworkSettingsReader fields(*node);
    for (const std::string_view type : {"bf16", "fp16"}) {
      if (fields.flag(type, false)) {
        set("precision", type, *fields.find(type), std::string(section) + "." + std::string(type));
      }
    }
    if (section != "mixed_precision") continue;
    for (const std::string_view name :
         {"fp8", "fp8_recipe", "fp4", "grad_reduce_in_fp32", "fp8_dot_product_attention",
          "fp8_multi_head_attention", "fp8_param_gather", "fp4_param_gather"}) {
      const auto value = fields.find(name);
      if (value) set(name, value->text(), *value, "mixed_precision." + std::string(name));
    }
  }
  const auto named = root.find("mixed_precision");
  if (!named || !named->is_scalar() || named->is_null()) return;
  const std::string word = named->text();
  const std::string name = "mixed_precision";
  if (word.starts_with("bf16")) set("precision", "bf16", *named, name);
  if (word.starts_with("16") || word.starts_with("fp16")) set("precision", "fp16", *named, name);
  if (word.find("fp8") != std::string::npos) set("fp8", "hybrid", *named, name);
  if (word.find("mxfp8") != std::string::npos) set("fp8_recipe", "mxfp8", *named, name);
}

}  // namespace

MegatronBridgeFields megatron_bridge_fields(DocumentNode root) {
  MegatronBridgeFields bridge;
  const auto target = root.find("_target_");
  bridge.whole = target && target->text().ends_with("ConfigContainer");
  for (const auto& [section, node] : root.mapping_members()) {
    if (node.is_mapping() && section != "peft") add_section(section, node, bridge);
  }
  // Either of the two switches sets both: src/megatron/bridge/training/config.py.
  const auto optimizer = root.find("optimizer");
  const auto shares = optimizer && optimizer->is_mapping()
                          ? optimizer->find("use_distributed_optimizer")
                          : std::nullopt;
  if (shares && !shares->is_null() && shares->boolean()) {
    bridge.fields.set("use_distributed_optimizer", placed_at(DocumentTree(true), *shares));
    bridge.names["use_distributed_optimizer"] = "optimizer.use_distributed_optimizer";
  }
  set_megatron_bridge_activation(FrameworkSettingsReader(root).nested_settings("model"),
                                 bridge.fields);
  if (bridge.fields.find("activation") != nullptr) {
    bridge.names["activation"] = "model.activation_func";
  }
  add_precision(root, bridge);
  return bridge;
}

void report_megatron_bridge_settings(const MegatronBridgeFields& bridge, ImportReport& report) {
  std::vector<SettingNotInPlan> kept;
  for (SettingNotInPlan& one : report.not_read) {
    const std::string key = one.name;
    const KnownSetting* known =
        find_known_setting(known_program_settings("megatron/settings"), key);
    const bool idle =
        find_known_setting(known_program_settings("megatron/container"), key) != nullptr;
    if (known == nullptr && idle) one.matters = SettingImpact::kNo;
    const bool off = one.value == "false" || one.value == "0" || one.value == "none";
    if (bridge.whole && known != nullptr && !known->field.empty() &&
        one.matters == SettingImpact::kNo) {
      report.read.push_back({key, one.value, one.file, one.line, std::string(known->field)});
    } else if (!bridge.whole || (one.matters != SettingImpact::kNo && !(off && known == nullptr))) {
      kept.push_back(std::move(one));
    }
  }
  report.not_read = std::move(kept);
  each_setting(report, [&](auto& setting) {
    const auto name = bridge.names.find(setting.name);
    if (name != bridge.names.end()) setting.name = name->second;
  });
}

}  // namespace stepwright::framework_files
