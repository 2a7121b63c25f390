#include "stepwright/simulate/price/chunk_cost.h"

#include <algorithm>

namespace stepwright {

void ChunkCost::add(const BlockCost& once, const BlockCost& back, double count,
                    double after_bytes) {
  forward.add(once, count);
  backward.add(back, count);
  const double before = forward.retained_bytes - once.retained_bytes - after_bytes;
  forward_peak.keep(once.peak, before);
  backward_peak.keep(back.peak, before);
}

void ChunkCost::add_weight(const SplitCost& split, double count, double after_bytes) {
  weight.add(split.weight, count);
  const double before = backward.retained_bytes - split.data.retained_bytes - after_bytes;
  weight_peak.keep(split.weight.peak, before);
  data_beyond_bytes = std::min(data_beyond_bytes, split.data.peak.any - split.data.retained_bytes);
}

void ChunkCost::add_whole(const BlockCost& once, const BlockCost& both, double count,
                          double after_bytes) {
  whole.add(both, count);
  const double before = forward.retained_bytes - once.retained_bytes - after_bytes;
  whole_peak.keep(both.peak, before);
}

BlockCost ChunkCost::gradients(BackwardForm form) const {
  BlockCost sum = backward;
  if (form != BackwardForm::kWhole) sum.add(weight, 1);
  if (form == BackwardForm::kBoth) sum.keep_least(whole);
  return sum;
}

/// A cut backward begins beside all that the forward kept, and ends beside all that the weight
/// gradients need.
PeakBytes ChunkCost::data_peak() const {
  PeakBytes peak = backward_peak;
  if (weight.seconds > 0)
    peak.any = std::max(peak.any, backward.retained_bytes + data_beyond_bytes);
  return peak;
}

ChunkBytes ChunkCost::bytes() const {
  ChunkBytes bytes{
      .forward = forward.retained_bytes, .weight = backward.retained_bytes, .beside = {}};
  bytes.beside.keep(forward_peak, -bytes.forward);
  bytes.beside.keep(whole_peak, -bytes.forward);
  bytes.beside.keep(data_peak(), -std::max(bytes.forward, bytes.weight));
  bytes.beside.keep(weight_peak, -bytes.weight);
  return bytes;
}

}  // namespace stepwright
