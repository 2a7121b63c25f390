#include "stepwright/runtime/states/checkpoint_states.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "stepwright/core/error.h"
#include "stepwright/runtime/states/checkpoint_pieces.h"

namespace stepwright {
namespace {

/// The state's tensor on this rank, spread as the optimizer is; empty where it has none.
at::Tensor& state_of(StoredParameter& parameter, std::string_view state) {
  if (state == kWeightsState) return parameter.master;
  return state == "first_moment" ? parameter.first_moment : parameter.second_moment;
}

void copy_parameter(StoredParameter& parameter, const std::vector<std::string>& states,
                    const std::string& dtype, StateCopy& copy) {
  const Spread spread = parameter.layout->sharding.optimizer;
  if (parameter.slice.duplicate || !parameter.layout->first_holder(spread)) return;
  const std::vector<LocalRun> runs =
      local_runs(parameter.slice, parameter.first_element(spread), parameter.master.numel());
  const std::vector<Piece> pieces = whole_pieces(runs);
  if (pieces.empty()) return;
  const std::string& name = parameter.slice.name;
  copy.indexed.push_back({name, whole_shape(parameter.slice), {{0, pieces}}});
  for (const std::string& state : states) {
    if (state_of(parameter, state).numel() == 0) continue;
    const at::Tensor held =
        state_of(parameter, state).cpu().to(parameter.master.scalar_type()).contiguous();
    const auto width = static_cast<std::int64_t>(held.element_size());
    const auto* from = static_cast<const std::byte*>(held.data_ptr());
    std::vector<std::byte>& buffer = copy.buffers.emplace_back();
    buffer.reserve(static_cast<std::size_t>(elements_of(pieces) * width));
    for (const LocalRun& run : runs) {
      buffer.insert(buffer.end(), from + run.local * width,
                    from + (run.local + run.length) * width);
    }
    copy.tensors.push_back({shard_tensor_name(state, name), dtype, {elements_of(pieces)}, buffer});
  }
}

/// Values of local elements from `first` on; padding stays 0.
at::Tensor assemble(const IndexedTensor& tensor, std::string_view state, ShardReader& reader,
                    const std::vector<LocalRun>& runs, const at::Tensor& like) {
  const std::vector<Piece> pieces = whole_pieces(runs);
  const auto width = static_cast<std::int64_t>(like.element_size());
  std::vector<std::byte> packed(static_cast<std::size_t>(elements_of(pieces) * width));
  reader.read(tensor, state, pieces, packed);
  at::Tensor values = at::zeros_like(like, at::TensorOptions(at::kCPU));
  auto* to = static_cast<std::byte*>(values.data_ptr());
  const std::byte* from = packed.data();
  for (const LocalRun& run : runs) {
    std::memcpy(to + run.local * width, from, static_cast<std::size_t>(run.length * width));
    from += run.length * width;
  }
  return values;
}

const IndexedTensor& indexed(const ShardReader& reader, const ParameterSlice& slice) {
  const IndexedTensor* tensor = reader.find(slice.name);
  const std::string where = reader.directory().string();
  if (tensor == nullptr) {
    fail_input(fmt::format("{}: of another model: it has no parameter '{}'", where, slice.name));
  }
  if (tensor->shape != whole_shape(slice)) {
    fail_input(fmt::format("{}: of another model: '{}' has the shape [{}], this plan's has [{}]",
                           where, slice.name, fmt::join(tensor->shape, ", "),
                           fmt::join(whole_shape(slice), ", ")));
  }
  return *tensor;
}

void load_parameter(StoredParameter& parameter, const std::vector<std::string>& states,
                    ShardReader& reader) {
  const IndexedTensor& tensor = indexed(reader, parameter.slice);
  const Sharding& sharding = parameter.layout->sharding;
  const at::Tensor exact = at::empty({parameter.value.numel()}, parameter.master.options());
  const std::vector<LocalRun> all =
      local_runs(parameter.slice, parameter.first_element(sharding.parameters), exact.numel());
  const at::Tensor weights = assemble(tensor, kWeightsState, reader, all, exact);
  parameter.value.copy_(weights);
  parameter.master.copy_(parameter.part(weights, sharding.parameters, sharding.optimizer));
  const std::vector<LocalRun> own = local_runs(
      parameter.slice, parameter.first_element(sharding.optimizer), parameter.master.numel());
  for (const std::string& state : states) {
    if (state == kWeightsState || state_of(parameter, state).numel() == 0) continue;
    state_of(parameter, state).copy_(assemble(tensor, state, reader, own, parameter.master));
  }
}

}  // namespace

std::string state_dtype(const RankState& rank) {
  return rank.setting.exact == DType::kFp64 ? "F64" : "F32";
}

std::vector<std::string> state_names(const RankState& rank) {
  std::vector<std::string> names{std::string(kWeightsState)};
  if (rank.job.optimizer != Optimizer::kSgd) {
    names.insert(names.end(), {"first_moment", "second_moment"});
  }
  return names;
}

StateCopy copy_states(RankState& rank) {
  StateCopy copy;
  const std::vector<std::string> states = state_names(rank);
  for (StoredParameter* parameter : rank.store.kept()) {
    copy_parameter(*parameter, states, state_dtype(rank), copy);
  }
  return copy;
}

void load_states(RankState& rank, ShardReader& reader) {
  const CheckpointIndex& index = reader.index();
  const std::string where = reader.directory().string();
  if (index.dtype != state_dtype(rank)) {
    fail_input(fmt::format("{}: its states are {}, those of this plan's precision {}", where,
                           index.dtype, state_dtype(rank)));
  }
  if (index.states != state_names(rank)) {
    fail_input(fmt::format("{}: of another optimizer: it holds {}, this plan needs {}", where,
                           fmt::join(index.states, ", "), fmt::join(state_names(rank), ", ")));
  }
  for (StoredParameter* parameter : rank.store.kept()) {
    load_parameter(*parameter, index.states, reader);
  }
}

}  // namespace stepwright
