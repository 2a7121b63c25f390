#include "stepwright/runtime/states/parameter_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/runtime/states/initial_values.h"

namespace stepwright::runtime {
namespace {

std::int64_t index_in(const std::vector<std::int64_t>& members, std::int64_t rank) {
  return std::ranges::find(members, rank) - members.begin();
}

void fill(StoredParameter& parameter, std::uint64_t seed, std::int64_t layers) {
  const InitialParameterValues values(seed, parameter.slice.name, parameter.slice.start, layers);
  const std::int64_t first = parameter.first_held_element(parameter.layout->sharding.parameters);
  const at::Tensor exact = at::zeros({parameter.value.numel()}, at::kDouble);
  auto* out = exact.data_ptr<double>();
  const std::int64_t elements = parameter.slice.elements_on_this_rank();
  for (std::int64_t i = 0; i < exact.numel(); ++i) {
    if (first + i < elements) out[i] = values.at(parameter.slice.whole_parameter_index(first + i));
  }
  parameter.value.copy_(exact);
}

}  // namespace

at::ScalarType scalar_type(DType type) {
  switch (type) {
    case DType::kFp64: return at::kDouble;
    case DType::kFp32: return at::kFloat;
    case DType::kFp16: return at::kHalf;
    case DType::kBf16: return at::kBFloat16;
    case DType::kInt64: return at::kLong;
    case DType::kInt32: return at::kInt;
    case DType::kInt8: return at::kChar;
    default: break;
  }
  throw Error(ErrorKind::kUnsupported,
              "the executor has no tensors of 8-bit and 4-bit floating-point types");
}

at::Tensor StoredParameter::reshaped_to_parameter(const at::Tensor& flat) const {
  at::Tensor used = flat.narrow(0, 0, slice.elements_on_this_rank());
  if (slice.expert) return used.view({slice.local_copies, slice.local_rows, slice.local_columns});
  if (slice.local_columns == 1) return used;
  return used.view({slice.local_rows, slice.local_columns});
}

at::Tensor StoredParameter::part_under_finer_sharding(const at::Tensor& held,
                                                      plan::StateShardingScope from,
                                                      plan::StateShardingScope to) const {
  return held.narrow(0, first_held_element(to) - first_held_element(from), held_elements(to));
}

at::Tensor StoredParameter::value_updated_by_own_optimizer() const {
  return part_under_finer_sharding(value, layout->sharding.parameters, layout->sharding.optimizer);
}

at::Tensor StoredParameter::gradient_for_own_optimizer() const {
  return part_under_finer_sharding(gradient, layout->sharding.gradients,
                                   layout->sharding.optimizer);
}

StoredParameter* ModelBlockParameters::find(std::string_view local_name) {
  for (std::vector<StoredParameter>* list : {&parameters, &buffers}) {
    for (StoredParameter& parameter : *list) {
      if (parameter.local_name == local_name) return &parameter;
    }
  }
  return nullptr;
}

std::vector<StoredParameter*> ModelBlockParameters::trained_parameters_with_own_states(
    bool expert) {
  std::vector<StoredParameter*> found;
  for (StoredParameter& parameter : parameters) {
    const bool own = parameter.owner == nullptr && !parameter.frozen;
    if (parameter.slice.expert == expert && own) found.push_back(&parameter);
  }
  return found;
}

std::vector<StoredParameter*> ModelBlockParameters::value_holding_parameters_of_block(bool expert) {
  std::vector<StoredParameter*> found;
  for (StoredParameter& parameter : parameters) {
    if (parameter.slice.expert != expert) continue;
    found.push_back(&parameter.value_owning_parameter());
  }
  return found;
}

ParameterStore::ParameterStore(const ParameterStoreRank& place, const step::StepProgram& program,
                               const step::PipelineStageProgram& stage, std::uint64_t seed)
    : setting_(place.setting),
      optimizer_(place.optimizer),
      device_(place.device),
      coordinates_(place.grid.coordinates(place.rank)) {
  const plan::RankGrid& grid = place.grid;
  const auto lay = [&](plan::CommunicatorKind world, plan::CommunicatorKind inner) {
    return state_sharding_layout(
        place.plan.sharding, grid.size(inner), grid.size(world),
        index_in(grid.group_ranks_containing(world, place.rank), place.rank));
  };
  dense_layout_ = lay(plan::CommunicatorKind::kDataContext, plan::CommunicatorKind::kShardInner);
  expert_layout_ =
      lay(plan::CommunicatorKind::kExpertData, plan::CommunicatorKind::kExpertShardInner);
  whole_layout_ = state_sharding_layout(
      {}, 1, grid.size(plan::CommunicatorKind::kDataContext),
      index_in(grid.group_ranks_containing(plan::CommunicatorKind::kDataContext, place.rank),
               place.rank));
  std::map<std::int32_t, const std::vector<step::RankLocalParameter>*> met;
  for (const step::TemplateSequence& sequence : stage.sequences) {
    for (const step::TemplateSequenceItem& item : sequence.items) {
      const step::OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
      if (item.units.size() != 1 || piece.parameters.empty()) continue;
      const std::int32_t id = item.units.front();
      if (met.try_emplace(id, &piece.parameters).second) order_.push_back(id);
    }
  }
  // Owners of tables come before the blocks that borrow them.
  for (const std::int32_t id : {step::kEmbeddingBlockNumber, step::kHeadBlockNumber}) {
    if (met.contains(id)) add_unit(id, *met[id], seed);
  }
  for (const auto& [id, parameters] : met) add_unit(id, *parameters, seed);
  check_owners();
}

/// Returns the layout of a parameter. If the optimizer needs whole matrices and gradients are not
/// sharded, states of whole parameters go to owners: the next matrix of a shape has the next owner.
const StateShardingLayout* ParameterStore::layout_of(const ParameterSlice& slice,
                                                     const step::RankLocalParameter& local) {
  const StateShardingLayout& usual = local.expert ? expert_layout_ : dense_layout_;
  const plan::Sharding& sharding = usual.sharding;
  const bool owned = optimizer_ == plan::Optimizer::kMuon &&
                     sharding.optimizer != plan::StateShardingScope::kNone &&
                     sharding.gradients == plan::StateShardingScope::kNone &&
                     !slice.matrices.empty() && step::is_layer_parameter(local.name) &&
                     !local.frozen;
  if (!owned) return &usual;
  std::int64_t& dealt =
      dealt_[{slice.local_copies, slice.local_rows, slice.local_columns, slice.cut, slice.expert}];
  StateShardingLayout& layout = owned_layouts_.emplace_back(usual);
  layout.owner = dealt++ % usual.shard_count_of_spread(sharding.optimizer);
  return &layout;
}

void ParameterStore::check_owners() const {
  for (const auto& [shape, count] : dealt_) {
    const auto [copies, rows, columns, cut, expert] = shape;
    const StateShardingLayout& usual = state_sharding_layout_of_kind(expert);
    const std::int64_t ranks = usual.shard_count_of_spread(usual.sharding.optimizer);
    const std::int64_t elements = copies * rows * columns;
    if (count % ranks == 0 && usual.padded_element_count(elements) == elements) continue;
    fail_unsupported(
        fmt::format("optimizer: muon by owner is executed where {} ranks have equal parts of all "
                    "matrices: there are {} of {} x {} elements",
                    ranks, count, copies * rows, columns));
  }
}

StoredParameter* ParameterStore::owner_of(std::string_view name) {
  for (auto& [id, unit] : units_) {
    for (StoredParameter& parameter : unit.parameters) {
      if (parameter.slice.name == name && parameter.owner == nullptr) return &parameter;
    }
  }
  throw Error(ErrorKind::kRuntime, fmt::format("no block of this rank has {} to lend", name));
}

void ParameterStore::add_buffers(ModelBlockParameters& unit, std::int32_t id) const {
  const model::ModelArchitecture& model = *setting_.model;
  if (id < 0 || !model.experts || !model.experts->correction_bias) return;
  if (!model.layer_class(id).has_experts()) return;
  const step::RankLocalParameter local{
      .name = kRouterBiasName, .rows = model.experts->count, .tensor_replicated = true};
  StoredParameter buffer{.slice = parameter_slices(setting_, coordinates_, id, {local}).front(),
                         .local_name = local.name,
                         .layout = &whole_layout_,
                         .frozen = !model.adjusts_router_biases(model.layer_class(id)),
                         .padded = local.rows};
  for (at::Tensor* one :
       {&buffer.value, &buffer.gradient, &buffer.first_moment, &buffer.second_moment}) {
    *one = zeros(local.rows, setting_.exact);
  }
  buffer.master = buffer.value;
  unit.buffers.push_back(std::move(buffer));
}

void ParameterStore::add_unit(std::int32_t id, const std::vector<step::RankLocalParameter>& local,
                              std::uint64_t seed) {
  if (units_.contains(id)) return;
  ModelBlockParameters& unit = units_[id];
  add_buffers(unit, id);
  std::vector<ParameterSlice> slices = parameter_slices(setting_, coordinates_, id, local);
  for (std::size_t i = 0; i < local.size(); ++i) {
    StoredParameter parameter{.slice = std::move(slices[i]), .local_name = local[i].name};
    parameter.layout = layout_of(parameter.slice, local[i]);
    parameter.padded = parameter.layout->padded_element_count(local[i].elements());
    parameter.frozen = local[i].frozen;
    if (local[i].borrowed) {
      parameter.owner = owner_of(parameter.slice.name);
    } else {
      allocate(parameter, seed);
    }
    unit.parameters.push_back(std::move(parameter));
  }
  allocate_gradients(unit);
  for (const bool expert : {false, true}) {
    for (StoredParameter& parameter : unit.parameters) {
      if (parameter.slice.expert != expert) continue;
      if (expert ? setting_.gather_expert : setting_.gather_dense) {
        parameter.gather_offset = unit.gathered_elements;
        unit.gathered_elements += parameter.padded;
      }
      const bool reduced = expert ? setting_.reduce_expert : setting_.reduce_dense;
      if (reduced && !parameter.frozen) {
        parameter.reduce_offset = unit.leaving_elements;
        unit.leaving_elements += parameter.padded;
      }
    }
  }
}

void ParameterStore::allocate(StoredParameter& parameter, std::uint64_t seed) const {
  const plan::Sharding& sharding = parameter.layout->sharding;
  parameter.value = zeros(parameter.held_elements(sharding.parameters), setting_.storage);
  fill(parameter, seed, setting_.model->layers);
  if (parameter.frozen) return;
  const bool narrow = setting_.storage != setting_.exact;
  parameter.master = parameter.value_updated_by_own_optimizer();
  if (narrow) parameter.master = parameter.master.to(scalar_type(setting_.exact));
  allocate_moments(parameter);
}

void ParameterStore::allocate_moments(StoredParameter& parameter) const {
  if (optimizer_ == plan::Optimizer::kSgd) return;
  const plan::StateShardingScope spread = parameter.layout->sharding.optimizer;
  const std::int64_t moments = parameter.held_elements(spread);
  const DType kept = optimizer_ == plan::Optimizer::kAdamNarrow ? DType::kBf16 : setting_.exact;
  if (optimizer_ == plan::Optimizer::kAdafactor) {
    const bool matrix = !parameter.slice.matrices.empty();
    if (matrix) parameter.sums = edge_sums(parameter);
    parameter.second_moment = zeros(matrix ? 0 : moments, kept);
    return;
  }
  if (optimizer_ == plan::Optimizer::kAdam8bit) {
    const at::TensorOptions scales = zeros(0, setting_.exact).options();
    const std::int64_t blocks = parameter.layout->shard_blocks_on_this_rank(spread).count;
    parameter.first_bytes =
        EightBitOptimizerMoments::make_zero_moments(moments, blocks, MomentSigns::kBoth, scales);
    parameter.second_bytes =
        EightBitOptimizerMoments::make_zero_moments(moments, blocks, MomentSigns::kPlus, scales);
    return;
  }
  const bool orthogonal = optimizer_ == plan::Optimizer::kMuon && parameter.is_layer_matrix();
  parameter.first_moment = zeros(moments, kept);
  parameter.second_moment = zeros(orthogonal ? 0 : moments, kept);
}

RowColumnMoments ParameterStore::edge_sums(const StoredParameter& parameter) const {
  const ShardBlockRun held =
      parameter.layout->shard_blocks_on_this_rank(parameter.layout->sharding.optimizer);
  RowColumnMoments sums{.slice = adafactor_moment_slice(parameter.slice)};
  sums.padded = parameter.layout->padded_element_count(sums.slice.elements_on_this_rank());
  const std::int64_t block = sums.padded / parameter.layout->blocks();
  sums.first = held.first * block;
  sums.held = zeros(held.count * block, setting_.exact);
  return sums;
}

/// Allocates gradients side by side, so that a message can send those of a block without a copy.
void ParameterStore::allocate_gradients(ModelBlockParameters& unit) const {
  for (const bool expert : {false, true}) {
    const std::vector<StoredParameter*> parameters =
        unit.trained_parameters_with_own_states(expert);
    const auto held = [](const StoredParameter& p) {
      return p.held_elements(p.layout->sharding.gradients);
    };
    std::int64_t elements = 0;
    for (const StoredParameter* parameter : parameters) elements += held(*parameter);
    const at::Tensor all = zeros(elements, setting_.gradient);
    std::int64_t begin = 0;
    for (StoredParameter* parameter : parameters) {
      parameter->gradient = all.narrow(0, begin, held(*parameter));
      begin += parameter->gradient.numel();
    }
  }
}

at::Tensor ParameterStore::zeros(std::int64_t elements, DType type) const {
  return at::zeros({elements}, at::TensorOptions(scalar_type(type)).device(device_));
}

void ParameterStore::zero_gradients() {
  for (StoredParameter* parameter : kept()) parameter->gradient.zero_();
}

std::vector<StoredParameter*> ParameterStore::parameters_on_this_rank() {
  std::vector<StoredParameter*> found;
  for (const std::int32_t id : order_) {
    for (StoredParameter& parameter : units_.at(id).parameters) {
      if (parameter.owner == nullptr) found.push_back(&parameter);
    }
  }
  return found;
}

std::vector<StoredParameter*> ParameterStore::buffers() {
  std::vector<StoredParameter*> found;
  for (const std::int32_t id : order_) {
    for (StoredParameter& buffer : units_.at(id).buffers) found.push_back(&buffer);
  }
  return found;
}

std::vector<StoredParameter*> ParameterStore::kept() {
  std::vector<StoredParameter*> all = trained_parameters_with_own_states();
  for (StoredParameter* buffer : buffers()) all.push_back(buffer);
  return all;
}

std::vector<StoredParameter*> ParameterStore::trained_parameters_with_own_states() {
  std::vector<StoredParameter*> found = parameters_on_this_rank();
  std::erase_if(found, [](const StoredParameter* parameter) { return parameter->frozen; });
  return found;
}

}  // namespace stepwright::runtime
