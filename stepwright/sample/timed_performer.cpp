#include "stepwright/sample/timed_performer.h"

#include <chrono>
#include <utility>

namespace stepwright::sample {

runtime::Work TimedOperatorPerformer::make_operator_work(runtime::OperatorWithOperands placed) {
  const step::Operator& op = placed.op;
  runtime::Work work = inner_.make_operator_work(std::move(placed));
  if (step::is_communication(op.kind)) return work;
  return [this, &op, work = std::move(work)](runtime::Moment ready) {
    const auto begin = std::chrono::steady_clock::now();
    work(ready);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    seconds_[{op.kind, op.phase, op.dtype, op.gated, op.shape}].push_back(taken.count() /
                                                                          op.repeats);
  };
}

}  // namespace stepwright::sample
