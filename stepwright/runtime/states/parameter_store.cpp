#include "stepwright/runtime/states/parameter_store.h"

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/runtime/states/initial_values.h"

namespace stepwright {
namespace {

std::int64_t index_in(const std::vector<std::int64_t>& members, std::int64_t rank) {
  return std::ranges::find(members, rank) - members.begin();
}

void fill(StoredParameter& parameter, std::uint64_t seed, std::int64_t layers) {
  const InitialValues values(seed, parameter.slice.name, layers);
  const std::int64_t block = parameter.padded / parameter.layout->blocks();
  const std::int64_t first =
      parameter.layout->held(parameter.layout->sharding.parameters).first * block;
  const at::Tensor exact = at::zeros({parameter.value.numel()}, at::kDouble);
  auto* out = exact.data_ptr<double>();
  const std::int64_t elements = parameter.slice.local_elements();
  for (std::int64_t i = 0; i < exact.numel(); ++i) {
    if (first + i < elements) out[i] = values.at(parameter.slice.whole_index(first + i));
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
  throw Error(ErrorKind::kUnsupported, "a type narrower than 16 bits has no tensors here");
}

at::Tensor StoredParameter::shaped(const at::Tensor& flat) const {
  at::Tensor used = flat.narrow(0, 0, slice.local_elements());
  if (slice.expert) return used.view({slice.local_copies, slice.local_rows, slice.local_columns});
  if (slice.local_columns == 1) return used;
  return used.view({slice.local_rows, slice.local_columns});
}

at::Tensor StoredParameter::part(const at::Tensor& held, Spread from, Spread to) const {
  const std::int64_t block = padded / layout->blocks();
  const BlockRun coarse = layout->held(from);
  const BlockRun fine = layout->held(to);
  return held.narrow(0, (fine.first - coarse.first) * block, fine.count * block);
}

at::Tensor StoredParameter::optimizer_value() const {
  return part(value, layout->sharding.parameters, layout->sharding.optimizer);
}

at::Tensor StoredParameter::optimizer_gradient() const {
  return part(gradient, layout->sharding.gradients, layout->sharding.optimizer);
}

StoredParameter* StoredUnit::find(std::string_view local_name) {
  for (StoredParameter& parameter : parameters) {
    if (parameter.local_name == local_name) return &parameter;
  }
  return nullptr;
}

std::vector<StoredParameter*> StoredUnit::own(bool expert) {
  std::vector<StoredParameter*> found;
  for (StoredParameter& parameter : parameters) {
    if (parameter.slice.expert == expert && parameter.owner == nullptr) found.push_back(&parameter);
  }
  return found;
}

std::vector<StoredParameter*> StoredUnit::used(bool expert) {
  std::vector<StoredParameter*> found;
  for (StoredParameter& parameter : parameters) {
    if (parameter.slice.expert != expert) continue;
    found.push_back(parameter.owner != nullptr ? parameter.owner : &parameter);
  }
  return found;
}

ParameterStore::ParameterStore(const Place& place, const StepProgram& program, const Stage& stage,
                               std::uint64_t seed)
    : setting_(place.setting),
      optimizer_(place.optimizer),
      device_(place.device),
      coordinates_(place.grid.coordinates(place.rank)) {
  const Grid& grid = place.grid;
  const auto lay = [&](GroupKind world, GroupKind inner) {
    return state_layout(place.plan.sharding, grid.size(inner), grid.size(world),
                        index_in(grid.members(world, place.rank), place.rank));
  };
  dense_layout_ = lay(GroupKind::kDataContext, GroupKind::kShardInner);
  expert_layout_ = lay(GroupKind::kExpertData, GroupKind::kExpertShardInner);
  for (const Sequence& sequence : stage.sequences) {
    for (const Item& item : sequence.items) {
      const Template& piece = program.templates[static_cast<std::size_t>(item.which)];
      if (item.units.size() == 1 && !piece.parameters.empty()) {
        add_unit(item.units.front(), piece.parameters, seed);
      }
    }
  }
}

void ParameterStore::add_unit(std::int32_t id, const std::vector<LocalParameter>& local,
                              std::uint64_t seed) {
  if (units_.contains(id)) return;
  StoredUnit& unit = units_[id];
  order_.push_back(id);
  std::vector<ParameterSlice> slices = parameter_slices(setting_, coordinates_, id, local);
  for (std::size_t i = 0; i < local.size(); ++i) {
    StoredParameter parameter{.slice = std::move(slices[i]), .local_name = local[i].name};
    parameter.layout = local[i].expert ? &expert_layout_ : &dense_layout_;
    parameter.padded = parameter.layout->padded(local[i].elements());
    if (local[i].borrowed) {
      parameter.owner = units_.at(kEmbeddingUnit).find("embedding.word");
    } else {
      allocate(parameter, seed);
    }
    unit.parameters.push_back(std::move(parameter));
  }
  allocate_gradients(unit);
  std::int64_t gathered = 0;
  std::int64_t leaving = 0;
  for (const bool expert : {false, true}) {
    for (StoredParameter& parameter : unit.parameters) {
      if (parameter.slice.expert != expert) continue;
      if (expert ? setting_.gather_expert : setting_.gather_dense) {
        parameter.gather_offset = gathered;
        gathered += parameter.padded;
      }
      if (expert ? setting_.reduce_expert : setting_.reduce_dense) {
        parameter.reduce_offset = leaving;
        leaving += parameter.padded;
      }
    }
  }
}

void ParameterStore::allocate(StoredParameter& parameter, std::uint64_t seed) const {
  const StateLayout& layout = *parameter.layout;
  const std::int64_t block = parameter.padded / layout.blocks();
  const auto held = [&](Spread spread) { return layout.held(spread).count * block; };
  parameter.value = zeros(held(layout.sharding.parameters), setting_.storage);
  fill(parameter, seed, setting_.model->layers);
  const bool narrow = setting_.storage != setting_.exact;
  parameter.master = parameter.optimizer_value();
  if (narrow) parameter.master = parameter.master.to(scalar_type(setting_.exact));
  if (optimizer_ == Optimizer::kSgd) return;
  parameter.first_moment = zeros(held(layout.sharding.optimizer), setting_.exact);
  parameter.second_moment = zeros(held(layout.sharding.optimizer), setting_.exact);
}

/// Side by side, so that a message takes those of a block as they lie.
void ParameterStore::allocate_gradients(StoredUnit& unit) const {
  for (const bool expert : {false, true}) {
    const std::vector<StoredParameter*> parameters = unit.own(expert);
    const auto held = [](const StoredParameter& p) {
      return p.layout->held(p.layout->sharding.gradients).count * (p.padded / p.layout->blocks());
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
  for (auto& [id, unit] : units_) {
    for (StoredParameter& parameter : unit.parameters) {
      if (parameter.gradient.defined()) parameter.gradient.zero_();
    }
  }
}

}  // namespace stepwright
