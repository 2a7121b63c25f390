#include "stepwright/runtime/execute/clocked_performer.h"

#include <utility>

namespace stepwright::runtime {
namespace {

double since(Moment begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void TimingOperatorRunner::begin_step() {
  inner_.begin_step();
  if (steps_ == 1) {
    const std::scoped_lock lock(mutex_);
    total_ = {};
  }
  begin_ = std::chrono::steady_clock::now();
}

Work TimingOperatorRunner::make_operator_work(OperatorWithOperands placed) {
  const step::Operator& op = placed.op;
  const auto index = static_cast<std::size_t>(&op - placed.piece.operators.data());
  const double predicted_s = times_.at(static_cast<std::size_t>(placed.item.which)).at(index);
  Work work = inner_.make_operator_work(std::move(placed));
  return [this, &op, predicted_s, work = std::move(work)](Moment ready) {
    const Moment begin = std::chrono::steady_clock::now();
    work(ready);
    add(op, predicted_s, since(begin));
  };
}

void TimingOperatorRunner::add(const step::Operator& op, double predicted_s, double measured_s) {
  const std::scoped_lock lock(mutex_);
  StepTimeSummary::PredictedMeasuredTimes& times = total_.times[step_time_summary_key(op)];
  times.predicted_s += predicted_s;
  times.measured_s += measured_s;
  if (op.stream == step::DeviceStream::kCompute) total_.between_s -= measured_s;
}

void TimingOperatorRunner::end_step() {
  inner_.end_step();
  const std::scoped_lock lock(mutex_);
  const double step_s = since(begin_);
  total_.step_s += step_s;
  total_.between_s += step_s;
  ++steps_;
}

StepTimeSummary TimingOperatorRunner::mean_step_time_summary() const {
  const std::scoped_lock lock(mutex_);
  StepTimeSummary mean = total_;
  const double steps = steps_ > 1 ? steps_ - 1 : 1;
  mean.step_s /= steps;
  mean.between_s /= steps;
  for (auto& [key, times] : mean.times) {
    times.predicted_s /= steps;
    times.measured_s /= steps;
  }
  return mean;
}

}  // namespace stepwright::runtime
