#include "stepwright/runtime/execute/paced_performer.h"

#include <ATen/Parallel.h>

#include <ctime>
#include <utility>

namespace stepwright::runtime {
namespace {

/// Returns the processor seconds that the calling thread has used.
double processor_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

PacedOperatorRunner::PacedOperatorRunner(OperatorRunner& inner, double pace)
    : inner_(inner), pace_(pace) {
  if (pace == 1) return;
  at::set_num_threads(1);
  enable_precise_sleep();
}

void PacedOperatorRunner::begin_step() {
  inner_.begin_step();
  clock_.mark_stream_free_now();
}

Work PacedOperatorRunner::make_operator_work(OperatorWithOperands placed) {
  const bool sends = step::is_communication(placed.op.kind);
  const bool computes = placed.op.stream == step::DeviceStream::kCompute;
  Work work = inner_.make_operator_work(std::move(placed));
  if (pace_ == 1 || !computes) return work;
  if (!sends) return [this, work = std::move(work)](Moment ready) { compute(work, ready); };
  return [this, work = std::move(work)](Moment ready) {
    work(ready);
    clock_.mark_stream_free_now();
  };
}

void PacedOperatorRunner::compute(const Work& work, Moment ready) {
  const double before = processor_s();
  work(ready);
  clock_.sleep_until_work_ends(ready, pace_ * (processor_s() - before));
}

}  // namespace stepwright::runtime
