#include "stepwright/huggingface/adapter_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/model/parameters.h"

namespace stepwright {
namespace {

constexpr std::string_view kWeight = ".weight";

class AdapterWriter {
 public:
  AdapterWriter(const Architecture& model, const Family& family) : model_(model), family_(family) {
    for (ForeignTensor& tensor : foreign_tensors(model, family)) {
      std::string own = tensor.own;
      weights_[std::move(own)].push_back(std::move(tensor));
    }
  }

  void add_layer(std::int64_t layer) {
    const std::vector<Parameter> parameters = layer_parameters(model_, model_.layer_class(layer));
    for (const Parameter& weight : parameters) {
      const AdaptedWeight* entry = adapted_weight(weight.name);
      if (entry == nullptr) continue;
      if (std::ranges::find(parameters, entry->down, &Parameter::name) == parameters.end())
        continue;
      add(fmt::format("layers.{}.", layer), weight, *entry);
    }
  }

  std::vector<AdapterTensors> take() { return std::move(tensors_); }

 private:
  [[noreturn]] void fail(std::string_view weight) const {
    fail_unsupported(
        fmt::format("model {}: adapters beside '{}' have no place in a folder of peft "
                    "beside weights of the family {}",
                    model_.name, weight, family_.model_type));
  }

  /// peft src/peft/tuners/lora/layer.py, ParamWrapper: in models of transformers 5 the experts of a
  /// layer are one parameter, whose gates and ups share an A, and B goes by rank, then by expert.
  [[noreturn]] void fail_of_experts(std::string_view weight) const {
    fail_unsupported(fmt::format(
        "model {}: adapters beside '{}' stand beside each expert, which folders of peft "
        "are neither written with nor read with: peft has the experts of a layer as one "
        "parameter (target_parameters), whose gates and ups share one A. Weights that "
        "hold what the adapters add are written (stepwright checkpoint convert --format "
        "huggingface --merge BASE)",
        model_.name, weight));
  }

  /// The tensor that holds just these rows of a weight, in whatever order.
  [[nodiscard]] const ForeignTensor& tensor_of(const std::string& own, const Parameter& weight,
                                               std::int64_t begin, std::int64_t count) const {
    const std::vector<ForeignTensor>& all = weights_.at(own);
    const auto found = std::ranges::find_if(all, [&](const ForeignTensor& tensor) {
      return !tensor.transposed && tensor.row_count() == count &&
             std::ranges::all_of(tensor.rows, [&](const RowRun& run) {
               return run.begin >= begin && run.begin + run.count <= begin + count;
             });
    });
    if (found == all.end() || !found->name.ends_with(kWeight)) fail(weight.name);
    return *found;
  }

  void add(const std::string& prefix, const Parameter& weight, const AdaptedWeight& entry) {
    if (weight.copies > 1) fail_of_experts(weight.name);
    const Adapters& adapters = *model_.adapters;
    std::int64_t offset = 0;  // In the weight,
    std::int64_t row = 0;     // in B,
    std::int64_t down = 0;    // in A.
    for (std::size_t i = 0; i < entry.parts.size(); ++i) {
      const auto target = target_of(entry, weight, i);
      const std::int64_t rows = weight.fused[0] > 0 ? weight.fused[i] : i == 0 ? weight.rows : 0;
      if (target && adapters.has(*target)) {
        const ForeignTensor& beside =
            tensor_of(prefix + std::string(weight.name), weight, offset, rows);
        std::vector<RowRun> up = beside.rows;
        for (RowRun& run : up) run.begin += row - offset;
        add(prefix, entry, beside, {down, adapters.rank}, std::move(up));
        row += rows;
        if (!adapters.joined) down += adapters.rank;
      }
      offset += rows;
    }
  }

  void add(const std::string& prefix, const AdaptedWeight& entry, const ForeignTensor& beside,
           const RowRun& down, std::vector<RowRun> up) {
    const std::string path =
        "base_model.model." + beside.name.substr(0, beside.name.size() - kWeight.size());
    tensors_.push_back({.weight = beside.name,
                        .down = {.name = path + ".lora_A.weight",
                                 .own = prefix + std::string(entry.down),
                                 .rows = {down},
                                 .columns = beside.columns},
                        .up = {.name = path + ".lora_B.weight",
                               .own = prefix + std::string(entry.up),
                               .rows = std::move(up),
                               .columns = down.count}});
  }

  const Architecture& model_;
  const Family& family_;
  std::map<std::string, std::vector<ForeignTensor>> weights_;  ///< By their parameter.
  std::vector<AdapterTensors> tensors_;
};

/// "q_proj" of "model.layers.0.self_attn.q_proj.weight".
std::string module_of(const std::string& tensor) {
  const std::size_t end = tensor.size() - kWeight.size();
  const std::size_t begin = tensor.rfind('.', end - 1) + 1;
  return tensor.substr(begin, end - begin);
}

}  // namespace

std::vector<AdapterTensors> adapter_tensors(const Architecture& model, const Family& family) {
  AdapterWriter writer(model, family);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) writer.add_layer(layer);
  return writer.take();
}

nlohmann::ordered_json adapter_config(const Architecture& model,
                                      const std::vector<AdapterTensors>& tensors) {
  const Adapters& adapters = *model.adapters;
  std::set<std::string> modules;
  for (const AdapterTensors& one : tensors) modules.insert(module_of(one.weight));
  nlohmann::ordered_json config = {{"peft_type", "LORA"},
                                   {"task_type", "CAUSAL_LM"},
                                   {"r", adapters.rank},
                                   {"lora_alpha", adapters.alpha},
                                   {"lora_dropout", adapters.dropout},
                                   {"target_modules", modules},
                                   {"bias", "none"},
                                   {"fan_in_fan_out", false},
                                   {"inference_mode", true}};
  if (model.frozen.layers == 0) return config;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    if (!model.frozen.has(layer)) config["layers_to_transform"].push_back(layer);
  }
  return config;
}

}  // namespace stepwright
