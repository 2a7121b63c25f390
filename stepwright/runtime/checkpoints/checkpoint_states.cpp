#include "stepwright/runtime/checkpoints/checkpoint_states.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>

#include "stepwright/core/error.h"
#include "stepwright/runtime/checkpoints/checkpoint_pieces.h"

namespace stepwright::runtime {
namespace {

constexpr std::string_view kFirstMoment = "first_moment";
constexpr std::string_view kSecondMoment = "second_moment";
/// Names of the states with the scale of each element of an eight-bit moment, without which another
/// run could not reproduce its bytes.
constexpr std::string_view kFirstScale = "first_scale";
constexpr std::string_view kSecondScale = "second_scale";

/// States of a parameter with the same layout on this rank: one value for each element, or for each
/// row and column sum.
struct StateGroup {
  ParameterSlice slice;   ///< Slice of all values that this rank holds.
  ParameterSlice writes;  ///< Slice that this rank writes and no other rank does.
  std::int64_t first = 0;
  /// States by name: the held tensors, or wide copies of eight-bit ones.
  std::map<std::string_view, at::Tensor> states = {};
};

StateGroup of_elements(const StoredParameter& p) {
  StateGroup group{.slice = p.slice,
                   .writes = p.slice,
                   .first = p.first_held_element(p.layout->sharding.optimizer)};
  const auto add = [&](std::string_view state, const at::Tensor& held) {
    if (held.defined() && held.numel() > 0) group.states[state] = held;
  };
  add(checkpoint::kCheckpointWeightsName, p.master);
  add(kFirstMoment, p.first_moment);
  add(kSecondMoment, p.second_moment);
  if (p.first_bytes) {
    add(kFirstMoment, p.first_bytes->decode_moments());
    add(kFirstScale, p.first_bytes->scales_by_element());
    add(kSecondMoment, p.second_bytes->decode_moments());
    add(kSecondScale, p.second_bytes->scales_by_element());
  }
  return group;
}

StateGroup of_edges(const StoredParameter& p) {
  return {.slice = p.sums->slice,
          .writes = adafactor_moment_slice_to_write(p.slice),
          .first = p.sums->first,
          .states = {{kSecondMoment, p.sums->held}}};
}

/// Returns a state in the form in which files store it.
at::Tensor as_written(const at::Tensor& held, at::ScalarType type) {
  return held.cpu().to(type).contiguous();
}

void copy_group(const StateGroup& group, const RankState& rank, CheckpointStateCopy& copy) {
  const std::vector<ContiguousElementRun> runs =
      contiguous_element_runs(group.writes, group.first, group.states.begin()->second.numel());
  const std::vector<checkpoint::StridedShardPiece> pieces = pieces_covered_by_rank_shard(runs);
  if (pieces.empty()) return;
  const std::string& name = group.slice.name;
  checkpoint::CheckpointTensorEntry& indexed = copy.indexed.emplace_back(
      checkpoint::CheckpointTensorEntry{name, whole_parameter_shape(group.slice), {{0, pieces}}});
  const std::vector<std::string> names = checkpoint_state_names(rank);
  for (const std::string& state : names) {
    const auto found = group.states.find(state);
    if (found == group.states.end()) continue;
    indexed.states.push_back(state);
    const at::Tensor held = as_written(found->second, scalar_type(rank.setting.exact));
    const auto width = static_cast<std::int64_t>(held.element_size());
    const auto* from = static_cast<const std::byte*>(held.data_ptr());
    std::vector<std::byte>& buffer = copy.buffers.emplace_back();
    buffer.reserve(static_cast<std::size_t>(checkpoint::pieces_element_count(pieces) * width));
    for (const ContiguousElementRun& run : runs) {
      buffer.insert(buffer.end(), from + run.local * width,
                    from + (run.local + run.length) * width);
    }
    copy.tensors.push_back({checkpoint::checkpoint_name_of_tensor_state(state, name),
                            checkpoint_state_dtype(rank),
                            {checkpoint::pieces_element_count(pieces)},
                            buffer});
  }
  if (indexed.states == names) indexed.states.clear();
}

void copy_parameter(const StoredParameter& parameter, const RankState& rank,
                    CheckpointStateCopy& copy) {
  const plan::StateShardingScope spread = parameter.layout->sharding.optimizer;
  if (parameter.slice.duplicate || !parameter.layout->is_first_rank_holding_shard(spread)) return;
  if (parameter.master.numel() > 0) copy_group(of_elements(parameter), rank, copy);
  if (parameter.sums) copy_group(of_edges(parameter), rank, copy);
}

/// Returns the values of local elements from `first` on; padding stays 0.
at::Tensor assemble(const checkpoint::CheckpointTensorEntry& tensor, std::string_view state,
                    checkpoint::CheckpointShardReader& reader,
                    const std::vector<ContiguousElementRun>& runs, const at::Tensor& like) {
  const std::vector<checkpoint::StridedShardPiece> pieces = pieces_covered_by_rank_shard(runs);
  const auto width = static_cast<std::int64_t>(like.element_size());
  std::vector<std::byte> packed(
      static_cast<std::size_t>(checkpoint::pieces_element_count(pieces) * width));
  reader.read_tensor_state(tensor, state, pieces, packed);
  at::Tensor values = at::zeros_like(like, at::TensorOptions(at::kCPU));
  auto* to = static_cast<std::byte*>(values.data_ptr());
  const std::byte* from = packed.data();
  for (const ContiguousElementRun& run : runs) {
    std::memcpy(to + run.local * width, from, static_cast<std::size_t>(run.length * width));
    from += run.length * width;
  }
  return values;
}

const checkpoint::CheckpointTensorEntry& indexed(const checkpoint::CheckpointShardReader& reader,
                                                 const ParameterSlice& slice) {
  const checkpoint::CheckpointTensorEntry* tensor = reader.find(slice.name);
  const std::string where = reader.directory().string();
  if (tensor == nullptr) {
    fail_input(fmt::format("{}: of another model: it has no parameter '{}'", where, slice.name));
  }
  if (tensor->shape != whole_parameter_shape(slice)) {
    fail_input(fmt::format("{}: of another model: '{}' has the shape [{}], this plan's has [{}]",
                           where, slice.name, fmt::join(tensor->shape, ", "),
                           fmt::join(whole_parameter_shape(slice), ", ")));
  }
  return *tensor;
}

/// Loads all states of a group but the weights.
void load_group(const StateGroup& group, const RankState& rank,
                checkpoint::CheckpointShardReader& reader) {
  const checkpoint::CheckpointTensorEntry& tensor = indexed(reader, group.slice);
  for (const auto& [state, held] : group.states) {
    if (state == checkpoint::kCheckpointWeightsName) continue;
    const at::Tensor like = at::empty({held.numel()}, rank.tensor_options_of(rank.setting.exact));
    const std::vector<ContiguousElementRun> runs =
        contiguous_element_runs(group.slice, group.first, held.numel());
    held.copy_(assemble(tensor, state, reader, runs, like));
  }
}

void load_parameter(StoredParameter& parameter, const RankState& rank,
                    checkpoint::CheckpointShardReader& reader) {
  const checkpoint::CheckpointTensorEntry& tensor = indexed(reader, parameter.slice);
  const plan::Sharding& sharding = parameter.layout->sharding;
  const at::Tensor exact = at::empty({parameter.value.numel()}, parameter.master.options());
  const std::vector<ContiguousElementRun> all = contiguous_element_runs(
      parameter.slice, parameter.first_held_element(sharding.parameters), exact.numel());
  const at::Tensor weights =
      assemble(tensor, checkpoint::kCheckpointWeightsName, reader, all, exact);
  parameter.value.copy_(weights);
  parameter.master.copy_(
      parameter.part_under_finer_sharding(weights, sharding.parameters, sharding.optimizer));
  const StateGroup elements = of_elements(parameter);
  load_group(elements, rank, reader);
  if (parameter.first_bytes && parameter.master.numel() > 0) {
    const auto& states = elements.states;
    parameter.first_bytes->encode_with_given_scales(states.at(kFirstMoment),
                                                    states.at(kFirstScale));
    parameter.second_bytes->encode_with_given_scales(states.at(kSecondMoment),
                                                     states.at(kSecondScale));
  }
  if (parameter.sums) load_group(of_edges(parameter), rank, reader);
}

}  // namespace

std::string checkpoint_state_dtype(const RankState& rank) {
  return rank.setting.exact == DType::kFp64 ? "F64" : "F32";
}

std::vector<std::string> checkpoint_state_names(const RankState& rank) {
  std::vector<std::string> names{std::string(checkpoint::kCheckpointWeightsName)};
  if (rank.job.optimizer == plan::Optimizer::kSgd) return names;
  if (rank.job.optimizer != plan::Optimizer::kAdafactor) names.emplace_back(kFirstMoment);
  names.emplace_back(kSecondMoment);
  if (rank.job.optimizer != plan::Optimizer::kAdam8bit) return names;
  names.emplace_back(kFirstScale);
  names.emplace_back(kSecondScale);
  return names;
}

CheckpointStateCopy copy_states_to_host(RankState& rank) {
  CheckpointStateCopy copy;
  for (const StoredParameter* parameter : rank.store.kept()) {
    copy_parameter(*parameter, rank, copy);
  }
  return copy;
}

void load_checkpoint_states(RankState& rank, checkpoint::CheckpointShardReader& reader) {
  const checkpoint::CheckpointIndex& index = reader.index();
  const std::string where = reader.directory().string();
  if (index.dtype != checkpoint_state_dtype(rank)) {
    fail_input(fmt::format("{}: its states are {}, but this plan's precision needs {}", where,
                           index.dtype, checkpoint_state_dtype(rank)));
  }
  if (index.states != checkpoint_state_names(rank)) {
    fail_input(fmt::format("{}: of another optimizer: it contains {}, but this plan needs {}",
                           where, fmt::join(index.states, ", "),
                           fmt::join(checkpoint_state_names(rank), ", ")));
  }
  for (StoredParameter* parameter : rank.store.kept()) {
    load_parameter(*parameter, rank, reader);
  }
}

}  // namespace stepwright::runtime
