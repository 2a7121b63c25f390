#include "stepwright/runtime/checkpoints/whole_model.h"

#include <map>
#include <string>

#include "stepwright/checkpoint/shards.h"
#include "stepwright/model/parameters.h"
#include "stepwright/runtime/messages/watch.h"

namespace stepwright::runtime {
namespace {

struct Whole {
  std::string name;
  std::vector<std::int64_t> extents;
};

void add(std::vector<Whole>& list, const std::string& prefix,
         const std::vector<model::ModelParameter>& parameters, WholeState which) {
  for (const model::ModelParameter& p : parameters) {
    if (!p.trained && which == WholeState::kGradients) continue;
    std::vector<std::int64_t> extents{p.rows};
    if (!p.vector || p.columns > 1) extents.push_back(p.columns);
    if (p.expert) extents.insert(extents.begin(), p.copies);
    list.push_back({prefix + std::string(p.name), extents});
  }
}

std::vector<Whole> whole_parameters(const model::ModelArchitecture& model, WholeState which) {
  std::vector<Whole> list;
  add(list, "", model::embedding_parameters(model), which);
  for (std::int64_t i = 0; i < model.layers + model.extra_predicted_tokens(); ++i) {
    add(list, "layers." + std::to_string(i) + ".",
        i < model.layers ? model::layer_parameters(model, model.layer_class(i))
                         : model::multi_token_module_parameters(model),
        which);
  }
  add(list, "", model::head_parameters(model), which);
  return list;
}

/// Adds to a whole parameter the elements of which this rank is the first holder.
void contribute(const StoredParameter& parameter, WholeState which, at::Tensor& whole) {
  const StateShardingLayout& layout = *parameter.layout;
  const bool weights = which == WholeState::kWeights;
  if (parameter.frozen && !weights) return;  // a frozen parameter has no gradient: zeros
  const plan::StateShardingScope spread =
      parameter.frozen ? layout.sharding.parameters : layout.sharding.optimizer;
  if (parameter.slice.duplicate || !layout.is_first_rank_holding_shard(spread)) return;
  const at::Tensor held = parameter.frozen ? parameter.value
                          : weights        ? parameter.master
                                           : parameter.gradient_for_own_optimizer();
  const at::Tensor exact = held.to(at::kCPU, at::kDouble).contiguous();
  const std::int64_t first = parameter.first_held_element(spread);
  auto* out = whole.data_ptr<double>();
  const auto* in = exact.data_ptr<double>();
  for (std::int64_t i = 0; i < exact.numel(); ++i) {
    if (first + i >= parameter.slice.elements_on_this_rank()) break;
    const std::int64_t index = parameter.slice.whole_parameter_index(first + i);
    if (index >= 0) out[index] = in[i];
  }
}

void write_values(const std::filesystem::path& path, const std::vector<Whole>& list,
                  const std::vector<at::Tensor>& values) {
  std::vector<checkpoint::FlatTensorView> tensors;
  for (std::size_t i = 0; i < list.size(); ++i) {
    tensors.push_back(
        {.name = list[i].name,
         .dtype = "F64",
         .shape = list[i].extents,
         .bytes = {static_cast<const std::byte*>(values[i].const_data_ptr()), values[i].nbytes()}});
  }
  checkpoint::write_safetensors_file(path, tensors);
}

}  // namespace

void assemble_and_write_whole_model(RankState& rank, const RankCommunicators::RankWorld& world,
                                    WholeState which, const std::filesystem::path& path) {
  const std::vector<Whole> list = whole_parameters(rank.job.model, which);
  std::map<std::string, std::vector<const StoredParameter*>> held;
  for (const auto& stored : {rank.store.parameters_on_this_rank(), rank.store.buffers()}) {
    for (const StoredParameter* parameter : stored) {
      held[parameter->slice.name].push_back(parameter);
    }
  }
  std::vector<at::Tensor> values;
  for (const Whole& one : list) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : one.extents) elements *= extent;
    at::Tensor whole = at::zeros({elements}, at::kDouble);
    for (const StoredParameter* parameter : held[one.name]) {
      contribute(*parameter, which, whole);
    }
    if (rank.groups.control_process_group() != nullptr) {
      std::vector<at::Tensor> buffers{whole};
      wait_for_message(world.watch, "the sum of " + one.name + " over all ranks",
                       *rank.groups.control_process_group()->allreduce(buffers));
    }
    values.push_back(std::move(whole));
  }
  if (world.rank == 0) write_values(path, list, values);
}

}  // namespace stepwright::runtime
