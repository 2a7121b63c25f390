#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/megatron/bridge_fields.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/megatron/mixers.h"
#include "stepwright/framework_files/megatron/plan.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/launch_scripts/python/call.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kContainerWords = "megatron/container_words";

/// Fields of a model that a recipe does not write, because other settings imply them.
constexpr std::array<std::string_view, 4> kOnlyOfFlags = {"group_query_attention", "precision",
                                                          "activation", "bias_gelu_fusion"};

constexpr Named<DType> kBridgePrecisions[] = {{DType::kBf16, "bf16_mixed"},
                                              {DType::kFp16, "16-mixed"},
                                              {DType::kFp8, "bf16_with_fp8_delayed_scaling_mixed"},
                                              {DType::kMxfp8, "bf16_with_mxfp8_mixed"}};

/// Settings of the recipes behind the precision names
/// (src/megatron/bridge/training/mixed_precision.py), written out if attention also multiplies in
/// fp8, or parameters stay in bf16, for which there is no name.
constexpr std::pair<DType, std::string_view> kBridgeNarrow[] = {
    {DType::kFp8,
     "fp8=\"hybrid\", fp8_recipe=\"delayed\", fp8_amax_history_len=1024, "
     "fp8_amax_compute_algo=\"max\""},
    {DType::kMxfp8, "fp8=\"e4m3\", fp8_recipe=\"mxfp8\""}};

/// Returns how the recipe of a precision stores parameters.
std::string_view parameters_of(const plan::Job& job) {
  if (!job.kernels.narrow_parameters) return "fp8_param_gather=False";
  return job.precision == DType::kMxfp8
             ? "fp8_param_gather=True, reuse_grad_buf_for_mxfp8_param_ag=True"
             : "fp8_param_gather=True";
}

/// True if no precision name describes a job, so that the recipe is written out.
bool spells_precision(const plan::Job& job) {
  const bool narrow = std::ranges::find(kBridgeNarrow, job.precision, [](const auto& each) {
                        return each.first;
                      }) != std::end(kBridgeNarrow);
  return narrow && (job.kernels.narrow_attention || !job.kernels.narrow_parameters);
}

/// Returns the precision line of a container; empty: the model's own precision.
std::string precision_line(const plan::Job& job) {
  const auto* narrow =
      std::ranges::find(kBridgeNarrow, job.precision, [](const auto& each) { return each.first; });
  if (spells_precision(job)) {
    return fmt::format(
        "        mixed_precision=MixedPrecisionConfig(\n            bf16=True, "
        "params_dtype=torch.bfloat16, pipeline_dtype=torch.bfloat16, grad_reduce_in_fp32=True,\n"
        "            {}, {},\n{}        ),\n",
        narrow->second, parameters_of(job),
        job.kernels.narrow_attention ? "            fp8_dot_product_attention=True,\n" : "");
  }
  const std::string_view word = name_of(kBridgePrecisions, job.precision);
  return word.empty() ? "" : fmt::format("        mixed_precision=\"{}\",\n", word);
}

/// Returns the lines of a recipe that configure adapters: src/megatron/bridge/peft/lora.py, LoRA.
std::string adapter_lines(const plan::PlannedJob& planned) {
  const auto& adapters = planned.job.model.adapters;
  if (!adapters) return "";
  const bool regathers = planned.plan.sequence_parallel &&
                         planned.plan.tensor_input == plan::GatheredInputPolicy::kRegather;
  return fmt::format(
      "        peft=LoRA(\n            target_modules=[\"{}\"],\n            dim={},\n            "
      "alpha={},\n            dropout={},\n{}        ),\n",
      fmt::join(megatron_adapter_modules(planned.job.model), "\", \""), adapters->rank,
      adapters->alpha, adapters->dropout,
      regathers ? "            sequence_parallel_input_regather=True,\n" : "");
}

/// Reads the adapters of a container (`peft`).
PlanDraft read_container_adapters(DocumentNode root, const std::string& file, PlanDraft draft,
                                  ImportReport& report) {
  const auto given = root.find("peft");
  if (!given || !given->is_mapping()) return draft;
  const YamlJsonDocument own = YamlJsonDocument::from_tree(
      DocumentTree::make_empty_mapping().set("peft", given->copy_tree()), file);
  const FrameworkSettingsReader all(own.root());
  const FrameworkSettingsReader peft = all.nested_settings("peft");
  const std::string type = peft.word("()", "") + peft.word("_target_", "");
  if (type == "LoRA" || type.ends_with(".LoRA")) {
    draft.adapters = read_lora_adapter_settings(peft, "megatron/adapters", "bridge");
    const bool regathers = peft.flag("sequence_parallel_input_regather", false);
    if (regathers) draft.tensor_input = plan::GatheredInputPolicy::kRegather;
  }
  report_read_and_unread_settings(all, file, known_program_settings("megatron/container_adapters"),
                                  report);
  return draft;
}

/// Returns the path of a Megatron field in a container.
std::string place_of(std::string_view field) {
  const auto places = megatron_field_paths("megatron/container");
  const auto found = std::ranges::find(places, field, &MegatronFieldPath::field);
  return found == places.end() ? fmt::format("model.{}", field) : std::string(found->path);
}

std::string bridge_value(const DocumentTree& value) {
  if (value.kind == DocumentTree::TreeValueKind::kSequence) {
    std::vector<std::string> items;
    for (const DocumentTree& item : value.items) items.push_back(bridge_value(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  if (value.text == "true") return "True";
  if (value.text == "false") return "False";
  const YamlJsonDocument part =
      YamlJsonDocument::from_tree(DocumentTree::make_empty_mapping().set("value", value), "value");
  return part.root().get("value").is_number() ? value.text : quoted_for_python(value.text);
}

/// Returns a field's value in Python; some are not plain literals.
std::string bridge_value_of(std::string_view field, const DocumentTree& value) {
  if (field == "attention_backend") return fmt::format("AttnBackend.{}", value.text);
  if (field == "window_size") return fmt::format("({})", value.text);
  return bridge_value(value);
}

/// Returns the two settings that express the activation.
std::string activation_lines(const DocumentTree& fields) {
  const DocumentTree* word = fields.find("activation");
  if (word == nullptr) return "";
  if (word->text == "swiglu") {
    return "            gated_linear_unit=True,\n            activation_func=F.silu,\n";
  }
  if (word->text == "quick_geglu") {
    return "            gated_linear_unit=True,\n            "
           "activation_func=fused_bias_geglu.quick_gelu,\n";
  }
  if (word->text == "squared_relu") {
    return "            activation_func=activations.squared_relu,\n";
  }
  const bool fused = word->text == "bias_gelu";
  return fmt::format(
      "            activation_func=F.gelu,\n            bias_activation_fusion={},\n",
      fused ? "True" : "False");
}

std::string section_lines(const DocumentTree& fields, std::string_view section) {
  std::string text;
  for (const auto& [field, value] : tree_members(fields)) {
    const std::string place = place_of(field);
    const std::size_t dot = place.find('.');
    const bool other = std::ranges::find(kOnlyOfFlags, field) != kOnlyOfFlags.end();
    if (other || place.substr(0, dot) != section) continue;
    text +=
        fmt::format("            {}={},\n", place.substr(dot + 1), bridge_value_of(field, value));
  }
  for (const auto& [need, its_section] : words_of_table_section(kContainerWords, "needs")) {
    const bool lacks = its_section == section && !text.empty() && !fields.find(need);
    if (lacks) text += fmt::format("            {}=False,\n", need);
  }
  return section == "model" ? text + activation_lines(fields) : text;
}

/// Returns the lines of a section that make the recipe start.
std::string start_lines(std::string_view section, const plan::Job& job) {
  std::string text;
  for (const auto& [line, its_section] : words_of_table_section(kContainerWords, "start")) {
    if (its_section == section) text += fmt::format("            {},\n", line);
  }
  if (section == "dataset") text += fmt::format("            seq_length={},\n", job.length);
  // NullTokenizer adds a token for the end of a document.
  if (section == "tokenizer") {
    text += fmt::format("            vocab_size={},\n", job.model.vocabulary - 1);
  }
  return text;
}

/// Returns the class of Megatron-Bridge that builds a model.
std::string_view provider_of(const model::ModelArchitecture& model) {
  if (is_megatron_hybrid_model(model)) return "MambaModelProvider";
  return model.latent ? "MLAModelProvider" : "GPTModelProvider";
}

/// Returns imports that only some jobs need.
std::string imports_of(const plan::Job& job) {
  const model::ModelArchitecture& model = job.model;
  std::string text;
  if (model.adapters) text += "from megatron.bridge.peft.lora import LoRA\n";
  if (spells_precision(job)) {
    text +=
        "import torch\nfrom megatron.bridge.training.mixed_precision import "
        "MixedPrecisionConfig\n";
  }
  if (is_megatron_hybrid_model(model)) {
    text += "from megatron.bridge.models.mamba.mamba_provider import MambaModelProvider\n";
  }
  if (model.activation == model::ActivationFunction::kQuickGelu ||
      model.activation == model::ActivationFunction::kClampedSwiglu) {
    text += "from megatron.core.fusions import fused_bias_geglu\n";
  }
  return text;
}

/// Reports that a YAML file without a whole container overrides a recipe, which the command chooses
/// (NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/training/utils/omegaconf_utils.py).
void take_recipe_below(const std::string& file, MegatronBridgeFields& bridge,
                       ImportReport& report) {
  report.not_read.push_back(
      {"recipe", "", file, 0, SettingImpact::kYes,
       "what the recipe below these values says, which a command chooses: what they do not say is "
       "as Megatron-Core has it"});
  if (bridge.fields.find("precision") != nullptr) return;
  bridge.fields.set("precision", "bf16");
  bridge.assumed = "precision";
  report.add_assumption("job.precision", "bf16_mixed, as recipes of Megatron-Bridge have it");
}

/// True if a file is Python that calls ConfigContainer, or calls a function that returns one.
bool is_python_container(const SourceFile& file) {
  return file.name.ends_with(".py") || file_contains_text(file, "ConfigContainer(");
}

/// Returns the files with the whole container first, then those that override it, in order.
std::vector<SourceFile> container_layers(Sources files) {
  std::vector<SourceFile> layers(files.begin(), files.end());
  std::stable_partition(layers.begin(), layers.end(), [](const SourceFile& file) {
    return is_python_container(file) || file_contains_text(file, "_target_: megatron.bridge.");
  });
  return layers;
}

/// Merges YAML overrides into a container: src/megatron/bridge/training/utils/omegaconf_utils.py.
YamlJsonDocument with_layers(const YamlJsonDocument& container, Sources layers) {
  DocumentTree under = container.root().copy_tree_with_file_positions();
  for (const SourceFile& file : layers) {
    const YamlJsonDocument document = parse_like_python_yaml(file.text, file.name);
    if (!document.root().is_mapping()) document.root().fail("must be a mapping");
    DocumentTree over = document.root().copy_tree_with_file_positions();
    drop_line_numbers(over);
    merge_mappings(under, over);
  }
  return YamlJsonDocument::from_tree(std::move(under), container.document_name());
}

}  // namespace

std::string write_nemo(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  const DocumentTree fields = megatron_fields(planned, "");
  std::string body;
  std::string types = "ConfigContainer";
  for (const auto& [name, type] : words_of_table_section(kContainerWords, "classes")) {
    const std::string lines = section_lines(fields, name) + start_lines(name, planned.job);
    if (lines.empty()) continue;
    const std::string_view made =
        name == "model" ? provider_of(planned.job.model) : std::string_view(type);
    body += fmt::format("        {}={}(\n{}        ),\n", name, made, lines);
    if (name != "model") types += fmt::format(", {}", type);
  }
  body += precision_line(planned.job) + adapter_lines(planned);
  return fmt::format(
      "{}\nimport torch.nn.functional as F\nfrom megatron.bridge.models.gpt_provider import "
      "GPTModelProvider\nfrom megatron.bridge.models.mla_provider import MLAModelProvider  # noqa: "
      "F401\n{}from megatron.bridge.training.config import (\n    {},\n)\n"
      "from megatron.core import activations  # noqa: F401\nfrom megatron.core.transformer.enums "
      "import AttnBackend  # noqa: F401\n\n\n"
      "def stepwright_plan() -> ConfigContainer:\n    return ConfigContainer(\n{}    )\n",
      shell_comment_lines(header), imports_of(planned.job), types, body);
}

PlanDraft read_nemo(Sources files, const UserFacts& given, PlanDraft draft, ImportReport& report) {
  const std::vector<SourceFile> layers = container_layers(files);
  const SourceFile& file = layers.front();
  const bool python = is_python_container(file);
  // A recipe that calls functions to make the container is a file of the target `bridge`.
  if (python && !file_contains_text(file, "ConfigContainer("))
    return read_bridge(layers, given, std::move(draft), report);
  YamlJsonDocument container =
      python ? launch_scripts::read_python_call(file.text, "ConfigContainer", file.name)
             : parse_like_python_yaml(file.text, file.name);
  if (layers.size() > 1) container = with_layers(container, Sources(layers).subspan(1));
  const YamlJsonDocument document = with_user_settings(std::move(container), given);
  MegatronBridgeFields bridge = megatron_bridge_fields(document.root());
  if (!python && !bridge.whole) take_recipe_below(file.name, bridge, report);
  const YamlJsonDocument flat = YamlJsonDocument::from_tree(bridge.fields, file.name);
  const FrameworkSettingsReader said(flat.root());
  draft = read_megatron_fields(said, std::move(draft), report, given, file.name);
  report_read_and_unread_settings(said, file.name, known_program_settings("megatron/settings"),
                                  report);
  report_megatron_bridge_settings(bridge, report);
  draft = read_container_adapters(document.root(), file.name, std::move(draft), report);
  std::erase_if(report.read,
                [&](const ImportedSetting& one) { return one.name == bridge.assumed; });
  return draft;
}

}  // namespace stepwright::framework_files
