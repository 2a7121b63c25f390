#include "stepwright/huggingface/adapter_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/huggingface/adapted_rows.h"

namespace stepwright::huggingface {
namespace {

constexpr std::string_view kWeight = ".weight";

/// Returns the rows of a tensor that have an adapter, as rows of its B.
std::vector<ParameterRowRun> rows_of_up(const HuggingFaceTensor& tensor,
                                        const LoraAdaptedWeight& weight,
                                        std::set<std::int64_t>* downs = nullptr) {
  std::vector<ParameterRowRun> up;
  for (const ParameterRowRun& run : tensor.rows) {
    for (const LoraAdaptedWeightRows& part : weight.rows) {
      const std::int64_t begin = std::max(run.begin, part.begin);
      const std::int64_t end = std::min(run.begin + run.count, part.begin + part.count);
      if (begin >= end) continue;
      up.push_back({.begin = part.up + begin - part.begin,
                    .count = end - begin,
                    .place = run.place + (begin - run.begin) * run.step,
                    .step = run.step});
      if (downs != nullptr) downs->insert(part.down);
    }
  }
  return up;
}

class AdapterWriter {
 public:
  AdapterWriter(const model::ModelArchitecture& model, const HuggingFaceWeightFamily& family)
      : model_(model), family_(family) {}

  [[nodiscard]] std::vector<PeftAdapterTensors> tensors() const {
    std::vector<PeftAdapterTensors> list;
    const auto weights = lora_adapted_weights(model_);
    for (const HuggingFaceTensor& tensor : huggingface_tensors(model_, family_)) {
      const auto weight = weights.find(tensor.own);
      if (weight != weights.end()) add(list, tensor, weight->second);
    }
    return list;
  }

 private:
  [[noreturn]] void fail(const HuggingFaceTensor& tensor) const {
    fail_unsupported(
        fmt::format("model {}: adapters beside '{}' have no place in a folder of peft beside '{}' "
                    "of the family {}, which has one A for all of its rows{}",
                    model_.name, tensor.own, tensor.name, family_.model_type,
                    model_.adapters->joined
                        ? ""
                        : ": a job trains that with adapters.joined: true, beside all of its "
                          "parts. Weights that hold what these adapters add are written "
                          "(stepwright checkpoint convert --format huggingface --merge BASE)"));
  }

  /// In peft (src/peft/tuners/lora/layer.py, ParamWrapper) experts that are one parameter of a
  /// layer have adapters whose gates and ups share an A, and whose B is ordered by rank, then by
  /// expert.
  [[noreturn]] void fail_of_experts(const HuggingFaceTensor& tensor) const {
    fail_unsupported(fmt::format(
        "model {}: adapters beside '{}' stand beside each expert, which folders of peft are "
        "neither "
        "written with nor read with where '{}' holds all experts. Weights that hold what the "
        "adapters add are written (stepwright checkpoint convert --format huggingface --merge "
        "BASE)",
        model_.name, tensor.own, tensor.name));
  }

  void add(std::vector<PeftAdapterTensors>& list, const HuggingFaceTensor& beside,
           const LoraAdaptedWeight& weight) const {
    std::set<std::int64_t> downs;
    std::vector<ParameterRowRun> rows = rows_of_up(beside, weight, &downs);
    if (rows.empty()) return;
    if (beside.blocks > 1) fail_of_experts(beside);
    HuggingFaceTensor up{
        .own = weight.up, .rows = std::move(rows), .columns = model_.adapters->rank};
    const bool whole = up.row_count() == beside.row_count() && downs.size() == 1;
    if (!whole || !beside.name.ends_with(kWeight)) fail(beside);
    const std::string path =
        "base_model.model." + beside.name.substr(0, beside.name.size() - kWeight.size());
    up.name = path + ".lora_B.weight";
    list.push_back({.weight = beside.name,
                    .transposed = beside.transposed,
                    .down = {.name = path + ".lora_A.weight",
                             .own = weight.down,
                             .rows = {{*downs.begin(), model_.adapters->rank}},
                             .columns = beside.columns},
                    .up = std::move(up)});
  }

  const model::ModelArchitecture& model_;
  const HuggingFaceWeightFamily& family_;
};

/// Returns the last `parts` parts of a module's name: 1 part of
/// "model.layers.0.self_attn.q_proj.weight" is "q_proj", 2 parts are "self_attn.q_proj".
std::string module_of(std::string_view tensor, int parts) {
  tensor.remove_suffix(kWeight.size());
  std::size_t begin = tensor.size();
  for (int i = 0; i < parts && begin != std::string_view::npos; ++i) {
    begin = tensor.rfind('.', begin - 1);
  }
  return std::string(tensor.substr(begin + 1));
}

/// Returns a tensor's name within its layer: "mlp.experts.gate_up_proj" of
/// "model.layers.0.mlp.experts.gate_up_proj".
std::string within_layer(const std::string& tensor) {
  const std::size_t number = tensor.find_first_of("0123456789");
  return tensor.substr(tensor.find('.', number) + 1);
}

void add_once(std::vector<std::string>& list, std::string name) {
  if (std::ranges::find(list, name) == list.end()) list.push_back(std::move(name));
}

}  // namespace

std::vector<PeftAdapterTensors> peft_adapter_tensors(const model::ModelArchitecture& model,
                                                     const HuggingFaceWeightFamily& family) {
  return AdapterWriter(model, family).tensors();
}

/// A module is named by its last part, or by the last two if modules without adapters end the same
/// way: GPT-2 has a c_proj in attention and one in the MLP.
PeftTargetModules adapted_modules(const model::ModelArchitecture& model,
                                  const HuggingFaceWeightFamily& family) {
  const auto weights = lora_adapted_weights(model);
  PeftTargetModules found;
  std::vector<std::string> adapted;  // Names (last two parts) of modules with adapters,
  std::vector<std::string> others;   // and of modules without.
  for (const HuggingFaceTensor& tensor : huggingface_tensors(model, family)) {
    const auto weight = weights.find(tensor.own);
    const bool here = weight != weights.end() && !rows_of_up(tensor, weight->second).empty();
    if (tensor.name.ends_with(kWeight)) {
      add_once(here ? adapted : others, module_of(tensor.name, 2));
    } else if (here && !tensor.vector) {
      add_once(found.parameters, within_layer(tensor.name));
    }
  }
  for (const std::string& module : adapted) {
    const std::string last = module.substr(module.rfind('.') + 1);
    const bool elsewhere = std::ranges::any_of(others, [&](const std::string& other) {
      return other.ends_with("." + last) && std::ranges::find(adapted, other) == adapted.end();
    });
    add_once(found.modules, elsewhere ? module : last);
  }
  return found;
}

nlohmann::ordered_json peft_adapter_config_json(const model::ModelArchitecture& model,
                                                const HuggingFaceWeightFamily& family,
                                                const std::vector<PeftAdapterTensors>& tensors,
                                                const std::string& base) {
  const model::LoraAdapters& adapters = *model.adapters;
  std::vector<std::string> modules = adapted_modules(model, family).modules;
  std::ranges::sort(modules);
  nlohmann::ordered_json config = {
      {"peft_type", "LORA"},
      {"task_type", "CAUSAL_LM"},
      {"r", adapters.rank},
      {"lora_alpha", adapters.alpha},
      {"lora_dropout", adapters.dropout},
      {"target_modules", modules},
      {"bias", "none"},
      {"fan_in_fan_out", std::ranges::any_of(tensors, &PeftAdapterTensors::transposed)},
      {"inference_mode", true}};
  if (!base.empty()) config["base_model_name_or_path"] = base;
  if (model.frozen.layers == 0) return config;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    if (!model.frozen.has(layer)) config["layers_to_transform"].push_back(layer);
  }
  return config;
}

}  // namespace stepwright::huggingface
