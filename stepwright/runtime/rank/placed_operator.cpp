#include "stepwright/runtime/rank/placed_operator.h"

namespace stepwright::runtime {

TensorWithReadyMoment::~TensorWithReadyMoment() {
  if (held_ != nullptr) held_->remove(counted_, kind_);
}

void TensorWithReadyMoment::count(LiveTensorCounter& held, step::TensorPurpose kind) {
  if (held_ != nullptr || !value.defined()) return;
  held_ = &held;
  counted_ = value;
  kind_ = kind;
  held.add(value, kind);
}

}  // namespace stepwright::runtime
