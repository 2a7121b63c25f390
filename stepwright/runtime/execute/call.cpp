#include "stepwright/runtime/execute/call.h"

#include <fmt/format.h>

namespace stepwright {

Cell::~Cell() {
  if (held_ != nullptr) held_->remove(counted_, kind_);
}

void Cell::count(HeldTensors& held, TensorKind kind) {
  if (held_ != nullptr || !value.defined()) return;
  held_ = &held;
  counted_ = value;
  kind_ = kind;
  held.add(value, kind);
}

at::Tensor Call::weight(std::string_view name) const {
  StoredParameter* parameter = rank.store.unit(item.units.front()).find(name);
  if (parameter == nullptr) return {};
  if (parameter->gather_offset >= 0) {
    return parameter->shaped(
        gathered_reads.front()->value.narrow(0, parameter->gather_offset, parameter->padded));
  }
  const StoredParameter& holder = parameter->owner != nullptr ? *parameter->owner : *parameter;
  return parameter->shaped(holder.value);
}

at::Tensor Call::weight() const {
  return weight(piece.parameters.at(static_cast<std::size_t>(op.parameter)).name);
}

at::Tensor Call::bias() const { return weight(fmt::format("{}_bias", op.name)); }

at::Tensor Call::gradient(std::string_view name) const {
  StoredParameter* parameter = rank.store.unit(item.units.front()).find(name);
  if (parameter == nullptr) return {};
  if (parameter->reduce_offset < 0) {
    const StoredParameter& holder = parameter->owner != nullptr ? *parameter->owner : *parameter;
    return parameter->shaped(holder.gradient);
  }
  at::Tensor& leaving = gathered_writes.front()->value;
  if (!leaving.defined()) {
    std::int64_t elements = 0;
    for (const StoredParameter& each : rank.store.unit(item.units.front()).parameters) {
      if (each.reduce_offset >= 0) elements += each.padded;
    }
    leaving = at::zeros({elements}, rank.options_of(rank.setting.gradient));
  }
  return parameter->shaped(leaving.narrow(0, parameter->reduce_offset, parameter->padded));
}

namespace {

/// Of all tokens the rows that a rank holds of the residual stream.
at::Tensor rows_here(const at::Tensor& all, std::int64_t rows, const Coordinates& place) {
  return rows == all.numel() ? all : all.narrow(0, place.tensor * rows, rows);
}

}  // namespace

at::Tensor Call::positions(std::int64_t rows) const {
  return rows_here(batch->positions, rows, rank.place);
}

at::Tensor Call::places(std::int64_t rows) const {
  return rows_here(batch->places, rows, rank.place);
}

void accumulate(const at::Tensor& into, const at::Tensor& value) {
  into.add_(value.view(into.sizes()));
}

}  // namespace stepwright
