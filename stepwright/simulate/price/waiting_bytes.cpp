#include "stepwright/simulate/price/waiting_bytes.h"

#include "stepwright/schedule/closed_form.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::simulate {

namespace {

/// Returns the most bytes that wait at a position of a schedule with closed forms; `part`: which of
/// the bytes kept by the forwards of its chunks count.
double all_waiting(const std::vector<ModelChunkCost>& chunks, const plan::Plan& plan,
                   std::int64_t position, std::int64_t micro_batches,
                   double ModelBlockPassCost::* part) {
  const schedule::PipelinePositionSizes at{plan.parallel.pipeline, position, micro_batches,
                                           plan.schedule.chunks, plan.schedule.group};
  const auto waiting = schedule::definition_of(plan.schedule.kind).form.waiting;
  double bytes = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    bytes +=
        static_cast<double>(waiting(at, static_cast<std::int64_t>(i))) * chunks[i].forward.*part;
  }
  return bytes;
}

/// Returns the part of a turn that frees waiting bytes: the backward beside it if there is one,
/// else its own.
const schedule::PipelineWorkPart& freeing(const schedule::WaitingMicroBatches& moment) {
  return moment.beside ? *moment.beside : moment.part;
}

/// Raises the peak to that of a turn, plus the bytes that wait before it.
void keep_moment(PeakBytes& most, const std::vector<ModelChunkCost>& chunks,
                 const std::vector<schedule::Beside<PeakBytes>>& pairs,
                 const schedule::WaitingMicroBatches& moment, bool cuts) {
  double bytes = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    bytes += moment.backward[i] * chunks[i].forward.retained_bytes +
             moment.weight[i] * chunks[i].backward.retained_bytes;
  }
  const auto own = static_cast<std::size_t>(moment.part.chunk);
  if (moment.beside) {
    const auto other = static_cast<std::size_t>(moment.beside->chunk);
    return most.raise_peak_bytes(pairs[own].of(moment.beside->direction)[other], bytes);
  }
  const ModelChunkCost& chunk = chunks[own];
  const schedule::Direction direction = moment.part.direction;
  if (schedule::is_joint_work(direction) || schedule::is_vocabulary_pass(direction))
    most.raise_peak_bytes(chunk.vocabulary_pass_cost(direction).peak, bytes);
  switch (direction) {
    case schedule::Direction::kForward: most.raise_peak_bytes(chunk.forward_peak, bytes); break;
    case schedule::Direction::kWeightGradient:
      most.raise_peak_bytes(chunk.weight_peak, bytes - chunk.backward.retained_bytes);
      break;
    case schedule::Direction::kBackward:
      most.raise_peak_bytes(cuts ? chunk.whole_peak : chunk.backward_peak,
                            bytes - chunk.forward.retained_bytes);
      break;
    case schedule::Direction::kDataGradient:
      most.raise_peak_bytes(chunk.data_peak(), bytes - chunk.forward.retained_bytes);
      break;
    default: break;
  }
}

/// Returns the parameters whose gradients have begun, once for each micro-batch that waits.
step::ModelBlockParameterCounts begun_at(const std::vector<ModelChunkCost>& chunks,
                                         const schedule::WaitingMicroBatches& moment) {
  const schedule::PipelineWorkPart& part = freeing(moment);
  step::ModelBlockParameterCounts size;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const bool runs = part.direction == schedule::Direction::kWeightGradient &&
                      static_cast<std::size_t>(part.chunk) == i;
    size.add(chunks[i].begun_size, moment.weight[i] - (runs ? 1 : 0));
  }
  return size;
}

}  // namespace

PeakBytes peak_kept_activation_bytes(const std::vector<ModelChunkCost>& chunks,
                                     const plan::Plan& plan, std::int64_t position,
                                     std::int64_t micro_batches) {
  // When as many micro-batches wait as ever do at once, the first backward is that of the last
  // chunk; with several chunks, the last forward was that of another chunk.
  const ModelChunkCost& last = chunks.back();
  const bool one = chunks.size() == 1;
  const double bytes =
      all_waiting(chunks, plan, position, micro_batches, &ModelBlockPassCost::retained_bytes) -
      last.forward.retained_bytes;
  PeakBytes peak;
  if (one) peak.raise_peak_bytes(last.forward_peak, bytes);
  peak.raise_peak_bytes(last.backward_peak, bytes);
  return peak;
}

double peak_offloaded_activation_bytes(const std::vector<ModelChunkCost>& chunks,
                                       const plan::Plan& plan, std::int64_t position,
                                       std::int64_t micro_batches) {
  return all_waiting(chunks, plan, position, micro_batches, &ModelBlockPassCost::on_host_bytes);
}

double played_on_host(const std::vector<ModelChunkCost>& chunks,
                      const std::vector<schedule::WaitingMicroBatches>& fullest) {
  double most = 0;
  for (const schedule::WaitingMicroBatches& moment : fullest) {
    double bytes = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      bytes += moment.backward[i] * chunks[i].forward.on_host_bytes;
    }
    most = std::max(most, bytes);
  }
  return most;
}

PeakBytes simulated_activation_peak_bytes(const std::vector<ModelChunkCost>& chunks,
                                          const std::vector<schedule::Beside<PeakBytes>>& pairs,
                                          const std::vector<schedule::WaitingMicroBatches>& fullest,
                                          bool cuts, PipelinePositionCost& stage) {
  PeakBytes most;
  const schedule::WaitingMicroBatches* largest = nullptr;
  for (const schedule::WaitingMicroBatches& moment : fullest) {
    const double before = most.any;
    keep_moment(most, chunks, pairs, moment, cuts);
    if (most.any != before) largest = &moment;
  }
  if (largest != nullptr) stage.deferred_size = begun_at(chunks, *largest);
  return most;
}

}  // namespace stepwright::simulate
