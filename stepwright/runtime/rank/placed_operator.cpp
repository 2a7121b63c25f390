#include "stepwright/runtime/rank/placed_operator.h"

namespace stepwright::runtime {

PlacedTensor::~PlacedTensor() {
  if (held_ != nullptr) held_->remove(counted_, kind_);
}

void PlacedTensor::count(LiveTensorCounter& held, step::TensorKind kind) {
  if (held_ != nullptr || !value.defined()) return;
  held_ = &held;
  counted_ = value;
  kind_ = kind;
  held.add(value, kind);
}

}  // namespace stepwright::runtime
