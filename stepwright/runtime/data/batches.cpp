#include "stepwright/runtime/data/batches.h"

#include <utility>

namespace stepwright::runtime {

std::vector<std::int64_t> context_rank_token_positions(std::int64_t length, std::int64_t ranks,
                                                       std::int64_t rank) {
  const std::int64_t chunk = length / (2 * ranks);
  std::vector<std::int64_t> positions;
  if (ranks == 1) {
    for (std::int64_t i = 0; i < length; ++i) positions.push_back(i);
    return positions;
  }
  for (const std::int64_t which : {rank, 2 * ranks - 1 - rank}) {
    for (std::int64_t i = 0; i < chunk; ++i) positions.push_back(which * chunk + i);
  }
  return positions;
}

MicroBatchSlicer::MicroBatchSlicer(const TokenFile& tokens, ShuffledSamples samples,
                                   const plan::Job& job, const plan::Plan& plan,
                                   const plan::RankCoordinates& place)
    : tokens_(tokens),
      samples_(std::move(samples)),
      sequences_(job.sequences),
      length_(job.length),
      rank_first_(place.data * (job.sequences / plan.parallel.data)),
      micro_batch_(plan.micro_batch),
      positions_(context_rank_token_positions(job.length, plan.parallel.context, place.context)),
      documents_(job),
      ahead_(job.model.extra_predicted_tokens()) {}

at::Tensor MicroBatchSlicer::shifted_tokens(std::int64_t step, std::int64_t micro_batch,
                                            std::int64_t by) {
  const auto width = static_cast<std::int64_t>(positions_.size());
  const at::Tensor found = at::full({micro_batch_ * width}, -1, at::kLong);
  auto* out = found.data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < micro_batch_; ++row) {
    const std::int64_t sequence = rank_first_ + micro_batch * micro_batch_ + row;
    const std::int64_t begin = samples_.begin(step * sequences_ + sequence);
    for (std::int64_t i = 0; i < width; ++i, ++out) {
      const std::int64_t position = positions_[static_cast<std::size_t>(i)] + by;
      if (position <= length_) *out = tokens_.at(begin + position);
    }
  }
  return found;
}

MicroBatch MicroBatchSlicer::of(std::int64_t step, std::int64_t micro_batch) {
  const auto width = static_cast<std::int64_t>(positions_.size());
  const at::Tensor positions = at::empty({micro_batch_ * width}, at::kLong);
  const at::Tensor places = at::empty_like(positions);
  for (std::int64_t row = 0; row < micro_batch_; ++row) {
    const std::int64_t sequence = rank_first_ + micro_batch * micro_batch_ + row;
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t position = positions_[static_cast<std::size_t>(i)];
      const std::int64_t at = row * width + i;
      positions.data_ptr<std::int64_t>()[at] = position;
      places.data_ptr<std::int64_t>()[at] = sequence * length_ + position;
    }
  }
  MicroBatch made{.tokens = shifted_tokens(step, micro_batch, 0),
                  .targets = shifted_tokens(step, micro_batch, 1),
                  .positions = positions,
                  .places = places};
  for (std::int64_t depth = 1; depth <= ahead_; ++depth) {
    made.embedded_ahead.push_back(shifted_tokens(step, micro_batch, depth).clamp_min(0));
    made.targets_ahead.push_back(shifted_tokens(step, micro_batch, depth + 1));
  }
  made.step_targets = documents_.targets(step);
  if (documents_.any()) {
    cut_documents(made, step * sequences_ + rank_first_ + micro_batch * micro_batch_);
  }
  return made;
}

/// Cuts the sequences of a micro-batch into their documents; `first`: number of its first sequence
/// in the run.
void MicroBatchSlicer::cut_documents(MicroBatch& batch, std::int64_t first) const {
  const auto width = static_cast<std::int64_t>(positions_.size());
  batch.documents = at::empty({micro_batch_, length_}, at::kLong);
  for (std::int64_t row = 0; row < micro_batch_; ++row) {
    const TokenDocumentPositions places = document_places(documents_.of(first + row), length_);
    for (std::int64_t i = 0; i < length_; ++i) {
      batch.documents.data_ptr<std::int64_t>()[row * length_ + i] =
          places.document[static_cast<std::size_t>(i)];
    }
    for (std::int64_t i = 0; i < width; ++i) {
      const auto at = static_cast<std::size_t>(positions_[static_cast<std::size_t>(i)]);
      batch.positions.data_ptr<std::int64_t>()[row * width + i] = places.position[at];
      if (!places.predicts[at]) batch.targets.data_ptr<std::int64_t>()[row * width + i] = -1;
    }
  }
}

}  // namespace stepwright::runtime
