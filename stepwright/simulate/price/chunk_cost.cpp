#include "stepwright/simulate/price/chunk_cost.h"

#include <algorithm>

namespace stepwright::simulate {

void ModelChunkCost::add(const BlockPairCost& cost, const SplitBackwardCost* split,
                         schedule::BackwardSplitting form, double count) {
  forward.add(cost.forward, count);
  backward.add(split != nullptr ? split->data : cost.backward, count);
  if (split != nullptr) weight.add(split->weight, count);
  if (form == schedule::BackwardSplitting::kBoth) whole.add(cost.backward, count);
}

void ModelChunkCost::raise_memory_peaks_to_moment(const BlockPairCost& cost,
                                                  const SplitBackwardCost* split,
                                                  schedule::BackwardSplitting form,
                                                  const KeptBlockBytes& before) {
  forward_peak.raise_peak_bytes(cost.forward.peak, before.forward);
  backward_peak.raise_peak_bytes(split != nullptr ? split->data.peak : cost.backward.peak,
                                 before.forward);
  if (form == schedule::BackwardSplitting::kBoth)
    whole_peak.raise_peak_bytes(cost.backward.peak, before.forward);
  if (split == nullptr) return;
  weight_peak.raise_peak_bytes(split->weight.peak, before.data);
  data_beyond_bytes =
      std::min(data_beyond_bytes, split->data.peak.any - split->data.retained_bytes);
}

ModelBlockPassCost ModelChunkCost::whole_backward_cost(schedule::BackwardSplitting form) const {
  ModelBlockPassCost sum = backward;
  if (form != schedule::BackwardSplitting::kWhole) sum.add(weight, 1);
  if (form == schedule::BackwardSplitting::kBoth) sum.lower_to_smaller_costs(whole);
  return sum;
}

const ModelBlockPassCost& ModelChunkCost::vocabulary_pass_cost(
    schedule::Direction direction) const {
  if (schedule::is_vocabulary_pass(direction))
    return passes[schedule::vocabulary_pass_index(direction)].cost;
  if (direction == schedule::Direction::kEmbed) return embed;
  return direction == schedule::Direction::kPredict ? predict : embed_gradient;
}

/// Returns the peak of a data gradient. A cut backward starts with all bytes that the forward kept,
/// and ends with all bytes that the weight gradients need.
PeakBytes ModelChunkCost::data_peak() const {
  PeakBytes peak = backward_peak;
  if (weight.seconds > 0)
    peak.any = std::max(peak.any, backward.retained_bytes + data_beyond_bytes);
  return peak;
}

ModelChunkActivationBytes ModelChunkCost::bytes() const {
  ModelChunkActivationBytes bytes{
      .forward = forward.retained_bytes, .weight = backward.retained_bytes, .beside = {}};
  bytes.beside.raise_peak_bytes(forward_peak, -bytes.forward);
  bytes.beside.raise_peak_bytes(whole_peak, -bytes.forward);
  bytes.beside.raise_peak_bytes(data_peak(), -std::max(bytes.forward, bytes.weight));
  bytes.beside.raise_peak_bytes(weight_peak, -bytes.weight);
  return bytes;
}

}  // namespace stepwright::simulate
