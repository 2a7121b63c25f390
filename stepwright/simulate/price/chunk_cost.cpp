#include "stepwright/simulate/price/chunk_cost.h"

#include <algorithm>

namespace stepwright::simulate {

void ChunkCost::add(const BlockPairCost& cost, const SplitBackwardCost* split,
                    schedule::BackwardForm form, double count) {
  forward.add(cost.forward, count);
  backward.add(split != nullptr ? split->data : cost.backward, count);
  if (split != nullptr) weight.add(split->weight, count);
  if (form == schedule::BackwardForm::kBoth) whole.add(cost.backward, count);
}

void ChunkCost::raise_memory_peaks(const BlockPairCost& cost, const SplitBackwardCost* split,
                                   schedule::BackwardForm form, const KeptBlockBytes& before) {
  forward_peak.keep(cost.forward.peak, before.forward);
  backward_peak.keep(split != nullptr ? split->data.peak : cost.backward.peak, before.forward);
  if (form == schedule::BackwardForm::kBoth) whole_peak.keep(cost.backward.peak, before.forward);
  if (split == nullptr) return;
  weight_peak.keep(split->weight.peak, before.data);
  data_beyond_bytes =
      std::min(data_beyond_bytes, split->data.peak.any - split->data.retained_bytes);
}

BlockCost ChunkCost::gradients(schedule::BackwardForm form) const {
  BlockCost sum = backward;
  if (form != schedule::BackwardForm::kWhole) sum.add(weight, 1);
  if (form == schedule::BackwardForm::kBoth) sum.lower_to_minimum_cost(whole);
  return sum;
}

const BlockCost& ChunkCost::joint(schedule::Direction direction) const {
  if (schedule::is_vocabulary_pass(direction))
    return passes[schedule::vocabulary_pass_index(direction)].cost;
  if (direction == schedule::Direction::kEmbed) return embed;
  return direction == schedule::Direction::kPredict ? predict : embed_gradient;
}

/// Returns the peak of a data gradient. A cut backward starts with all bytes that the forward kept,
/// and ends with all bytes that the weight gradients need.
PeakBytes ChunkCost::data_peak() const {
  PeakBytes peak = backward_peak;
  if (weight.seconds > 0)
    peak.any = std::max(peak.any, backward.retained_bytes + data_beyond_bytes);
  return peak;
}

ChunkActivationBytes ChunkCost::bytes() const {
  ChunkActivationBytes bytes{
      .forward = forward.retained_bytes, .weight = backward.retained_bytes, .beside = {}};
  bytes.beside.keep(forward_peak, -bytes.forward);
  bytes.beside.keep(whole_peak, -bytes.forward);
  bytes.beside.keep(data_peak(), -std::max(bytes.forward, bytes.weight));
  bytes.beside.keep(weight_peak, -bytes.weight);
  return bytes;
}

}  // namespace stepwright::simulate
