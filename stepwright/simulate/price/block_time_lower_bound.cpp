#include "stepwright/simulate/price/block_time_lower_bound.h"

#include <algorithm>
#include <array>

#include "stepwright/simulate/price/step_load.h"

namespace stepwright::simulate {

double compute_stream_seconds(const step::OperatorTemplate& piece,
                              std::span<const cost::OperatorTime> times,
                              std::vector<double>& ends) {
  std::array<double, step::kStreams> free{};
  ends.assign(piece.operators.size(), 0.0);
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    double& stream = free[static_cast<std::size_t>(op.stream)];
    double start = stream;
    for (const std::int32_t other : piece.after(op)) {
      start = std::max(start, ends[static_cast<std::size_t>(other)]);
    }
    ends[i] = stream = start + times[i].seconds;
  }
  return free[static_cast<std::size_t>(step::DeviceStream::kCompute)];
}

/// Finds, for each message, the stretch of the compute stream that it spans; order on a stream
/// counts as a dependence. An operator that follows no operator of the compute stream spans from
/// the start of the template; one that nothing waits for spans to beyond the last operator.
void ModelBlockTimeBoundCalculator::find_spans(const step::OperatorTemplate& piece) {
  const std::size_t count = piece.operators.size();
  spans_.assign(count, {.from = 0, .until = count});
  std::array<ComputeStreamRange, step::kStreams> queued{};
  queued.fill({.from = 0, .until = count});
  const auto in_order = [&](std::size_t i) {
    return piece.operators[i].stream == step::DeviceStream::kCompute;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const step::Operator& op = piece.operators[i];
    std::size_t& latest = queued[static_cast<std::size_t>(op.stream)].from;
    for (const std::int32_t other : piece.after(op)) {
      const auto before = static_cast<std::size_t>(other);
      latest = std::max(latest, in_order(before) ? before + 1 : spans_[before].from);
    }
    spans_[i].from = latest;
  }
  for (std::size_t i = count; i-- > 0;) {
    const step::Operator& op = piece.operators[i];
    std::size_t& first = queued[static_cast<std::size_t>(op.stream)].until;
    first = std::min(first, spans_[i].until);
    spans_[i].until = in_order(i) ? i : first;
    for (const std::int32_t other : piece.after(op)) {
      std::size_t& earliest = spans_[static_cast<std::size_t>(other)].until;
      earliest = std::min(earliest, spans_[i].until);
    }
  }
}

void ModelBlockTimeBoundCalculator::find_stretches(const step::OperatorTemplate& piece,
                                                   std::span<const cost::OperatorTime> times) {
  enclosed_.assign(times.begin(), times.end());
  stretches_.clear();
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (piece.operators[i].stream == step::DeviceStream::kCompute) continue;
    if (spans_[i].until < times.size()) {
      stretches_.push_back(spans_[i]);
    } else {
      enclosed_[i].seconds = 0;
    }
  }
  std::ranges::sort(stretches_, {}, &ComputeStreamRange::from);
  std::size_t kept = 0;
  for (const ComputeStreamRange& span : stretches_) {
    if (kept > 0 && span.from < stretches_[kept - 1].until) {
      stretches_[kept - 1].until = std::max(stretches_[kept - 1].until, span.until);
    } else {
      stretches_[kept++] = span;
    }
  }
  stretches_.resize(kept);
}

/// Sets the ends of all operators, with computations `slow` times as long.
void ModelBlockTimeBoundCalculator::set_ends(const step::OperatorTemplate& piece, double slow,
                                             std::vector<double>& ends) {
  scaled_ = enclosed_;
  for (std::size_t i = 0; i < scaled_.size(); ++i) {
    if (step::computes_on_device(piece.operators[i].kind)) scaled_[i].seconds *= slow;
  }
  compute_stream_seconds(piece, scaled_, ends);
}

ModelBlockTimeLowerBound ModelBlockTimeBoundCalculator::of(
    const step::OperatorTemplate& piece, std::span<const cost::OperatorTime> times,
    const cost::OverlapSlowdownFactors& contention) {
  const double slow = max_computation_slowdown_factor(contention);
  find_spans(piece);
  find_stretches(piece, times);
  set_ends(piece, slow, slowed_ends_);
  set_ends(piece, 1, ends_);
  const auto length = [&](const std::vector<double>& ends, const ComputeStreamRange& stretch,
                          double factor) {
    const bool message = !step::computes_on_device(piece.operators[stretch.until].kind);
    const double last_s = enclosed_[stretch.until].seconds * (message ? 1 : factor);
    return ends[stretch.until] - last_s - (stretch.from == 0 ? 0 : ends[stretch.from - 1]);
  };
  ModelBlockTimeLowerBound floor;
  std::size_t next = 0;
  const auto rest = [&](std::size_t until) {
    for (; next < until; ++next) {
      if (piece.operators[next].stream != step::DeviceStream::kCompute) continue;
      floor.seconds += times[next].seconds;
      if (step::is_communication(piece.operators[next].kind))
        floor.waiting_s += times[next].seconds;
    }
  };
  for (const ComputeStreamRange& stretch : stretches_) {
    rest(stretch.from);
    PipelinePositionStepLoad load;
    for (std::size_t i = stretch.from; i < stretch.until; ++i) {
      const step::Operator& op = piece.operators[i];
      if (step::is_communication(op.kind)) {
        load.busy_s[static_cast<std::size_t>(times[i].link)] += enclosed_[i].seconds;
      } else if (op.stream == step::DeviceStream::kCompute && step::computes_on_device(op.kind)) {
        load.compute_s += times[i].seconds;
      }
    }
    load.waiting_s = length(slowed_ends_, stretch, slow) - slow * load.compute_s;
    floor.waiting_s += load.waiting_s;
    floor.seconds += std::max(length(ends_, stretch, 1), step_time_lower_bound_s(load, contention));
    next = stretch.until;
  }
  rest(piece.operators.size());
  floor.seconds = std::max(floor.seconds, compute_stream_seconds(piece, times, ends_));
  return floor;
}

}  // namespace stepwright::simulate
