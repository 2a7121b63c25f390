#include "stepwright/framework_files/bridge/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "stepwright/cluster/generation.h"
#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::framework_files {
namespace {

/// Returns an argument by name or position if it is a text; else nullopt.
std::optional<std::string> text_argument(const DocumentTree& arguments, std::string_view name,
                                         std::size_t place) {
  const DocumentTree* found = arguments.find(name);
  const DocumentTree* unnamed = arguments.find("[]");
  if (found == nullptr && unnamed != nullptr && place < unnamed->items.size()) {
    found = &unnamed->items[place];
  }
  if (found == nullptr || found->kind != DocumentTree::TreeValueKind::kScalar) return std::nullopt;
  return found->text;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Adds the defaults of a workload: scripts/performance/utils/utils.py, WorkloadBaseConfig.
DocumentTree with_defaults(DocumentTree workload) {
  for (const std::string_view name :
       {"num_gpus", "tensor_model_parallel_size", "pipeline_model_parallel_size",
        "context_parallel_size", "expert_model_parallel_size", "global_batch_size",
        "micro_batch_size"}) {
    if (workload.find(name) == nullptr) workload.set(name, 1);
  }
  for (const std::string_view name :
       {"virtual_pipeline_model_parallel_size", "expert_tensor_parallel_size", "use_megatron_fsdp",
        "nccl_ub", "cuda_graph_impl", "cuda_graph_scope", "cpu_offloading_num_layers",
        "recompute_num_layers", "recompute_modules", "moe_flex_dispatcher_backend",
        "moe_token_dispatcher_type", "moe_a2a_overlap", "peft", "pp_layout"}) {
    if (workload.find(name) == nullptr) workload.set(name, DocumentTree());
  }
  workload.set("sequence_parallel", workload.find("tensor_model_parallel_size")->text != "1");
  return workload;
}

struct PrecisionName {
  std::string_view name;  ///< Name between "bf16_with_" and "_mixed".
  std::string_view fp8;
  std::string_view recipe;
  bool ends_in_bf16;
};

/// Names of mixed precisions: src/megatron/bridge/training/mixed_precision.py.
constexpr PrecisionName kPrecisions[] = {
    {"fp8_delayed_scaling", "hybrid", "delayed", false},
    {"mxfp8", "e4m3", "mxfp8", false},
    {"fp8_current_scaling", "hybrid", "tensorwise", true},
    {"fp8_subchannel_scaling", "hybrid", "blockwise", false},
};

std::optional<DocumentTree> mixed_precision(std::string name) {
  std::ranges::replace(name, '-', '_');
  const bool half = name.starts_with("fp16_");
  if ((!half && !name.starts_with("bf16_")) || !name.ends_with("_mixed")) return std::nullopt;
  DocumentTree config = DocumentTree::make_empty_mapping();
  config.set("()", DocumentTree::make_scalar("MixedPrecisionConfig", true));
  config.set(half ? "fp16" : "bf16", true).set("grad_reduce_in_fp32", !half);
  if (name.size() <= 11) return config;
  const std::string kind = name.substr(5, name.size() - 11);
  if (kind == "with_nvfp4") return config.set("fp4", "e2m1").set("fp4_recipe", "nvfp4");
  const auto* const known = std::ranges::find_if(kPrecisions, [&](const PrecisionName& one) {
    return kind == fmt::format("with_{}", one.name);
  });
  if (known == std::end(kPrecisions)) return std::nullopt;
  config.set("fp8", known->fp8).set("fp8_recipe", known->recipe);
  if (known->ends_in_bf16) config.set("first_last_layers_bf16", true);
  return config;
}

/// Returns the precision that a word of performance scripts means
/// (scripts/performance/utils/precision.py); nullopt for other words.
std::optional<DocumentTree> precision_of_workload(const std::string& word) {
  if (word == "fp8_cs") {
    auto config = mixed_precision("bf16_with_fp8_current_scaling_mixed");
    return config->set("first_last_layers_bf16", false);
  }
  if (word == "bf16") return mixed_precision("bf16_mixed");
  const std::string kind = word == "fp8_mx"   ? "mxfp8"
                           : word == "fp8_sc" ? "fp8_subchannel_scaling"
                           : word == "fp8_ds" ? "fp8_delayed_scaling"
                                              : word;
  return mixed_precision(fmt::format("bf16_with_{}_mixed", kind));
}

}  // namespace

std::optional<DocumentTree> megatron_bridge_workload(const std::string& function,
                                                     const DocumentTree& arguments,
                                                     const PythonVariableLookup& value) {
  if (function != "get_workload_base_config") return std::nullopt;
  const auto recipe = text_argument(arguments, "model_recipe_name", 1);
  const auto gpu = text_argument(arguments, "gpu", 2);
  const auto precision = text_argument(arguments, "compute_dtype", 3);
  const auto task = text_argument(arguments, "task", 4);
  if (!recipe || !gpu || !precision || !task) return std::nullopt;
  const std::string variant = text_argument(arguments, "config_variant", 5).value_or("v1");
  const std::string base =
      upper(fmt::format("{}_{}_config_{}_{}", *recipe, *task, *gpu, *precision));
  std::vector<std::string> names = {fmt::format("{}_{}", base, upper(variant))};
  if (upper(variant) == "V2") names.push_back(base + "_V1");
  names.push_back(base);
  for (const std::string& name : names) {
    const auto workload = value(name);
    if (workload && workload->kind == DocumentTree::TreeValueKind::kMapping)
      return with_defaults(*workload);
  }
  fail_input(fmt::format(
      "its workload is {}: give the file that has it, too (configs/{})",
      one_line_printable_text(fmt::to_string(fmt::join(names, " or "))),
      one_line_printable_text(text_argument(arguments, "model_family_name", 0).value_or(""))));
}

std::optional<std::int64_t> megatron_bridge_device_count(const DocumentTree& workload) {
  const auto devices = launch_scripts::integer_from_digits(workload.find("num_gpus")->text);
  return devices.value_or(0) > 0 ? devices : std::nullopt;
}

std::optional<DocumentTree> megatron_bridge_precision(const std::string& function,
                                                      const DocumentTree& arguments) {
  if (function == "get_mixed_precision_config") {
    const auto name = text_argument(arguments, "name", 0);
    return name ? mixed_precision(*name) : std::nullopt;
  }
  if (function == "get_precision_config") {
    const auto word = text_argument(arguments, "compute_dtype", 0);
    return word ? precision_of_workload(*word) : std::nullopt;
  }
  return arguments.items.empty() ? mixed_precision(function) : std::nullopt;
}

std::string flex_dispatcher_python_source(const cluster::DeviceModel& device) {
  // Devices of compute capability 8, 9 and 10.
  const std::string_view generation = cluster::device_generation_of(device).name;
  const bool before_blackwell = generation == "A100" || generation == "H100";
  if (!before_blackwell && generation != "B200") return "";
  const std::string_view name = device.name;
  const bool alone = name.starts_with("b200") || name.starts_with("b300");
  std::string text =
      "\ndef apply_flex_dispatcher_backend(model, backend=None):\n    done = backend\n";
  for (const std::string_view backend : {"deepep", "hybridep"}) {
    if (backend == "deepep" && !before_blackwell && !alone) continue;
    text += fmt::format(
        "    if backend == \"{0}\":\n"
        "        model.moe_token_dispatcher_type = \"flex\"\n"
        "        model.moe_flex_dispatcher_backend = \"{0}\"\n"
        "        model.moe_shared_expert_overlap = False\n",
        backend);
  }
  return text;
}

}  // namespace stepwright::framework_files
