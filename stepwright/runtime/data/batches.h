#pragma once

#include "stepwright/plan/grid.h"
#include "stepwright/plan/job.h"
#include "stepwright/runtime/data/micro_batch.h"
#include "stepwright/runtime/data/sequence_documents.h"
#include "stepwright/runtime/data/tokens.h"

namespace stepwright::runtime {

/// Cuts the global batch of each step into a rank's micro-batches. With context parallelism over N
/// ranks, a sequence has 2N chunks, and rank c gets chunk c from the start and chunk c from the
/// end, which balances causal attention.
class MicroBatchSlicer {
 public:
  /// Makes the micro-batches of the ranks at the grid coordinates `place`. `tokens` must outlive
  /// this object.
  MicroBatchSlicer(const TokenFile& tokens, ShuffledSamples samples, const plan::Job& job,
                   const plan::Plan& plan, const plan::RankCoordinates& place);
  /// Returns this rank's micro-batch number `micro_batch` of a step (both from 0), on the CPU.
  [[nodiscard]] MicroBatch of(std::int64_t step, std::int64_t micro_batch);

 private:
  void cut_documents(MicroBatch& batch, std::int64_t first) const;
  /// Returns, for each token of a micro-batch, the token `by` positions later in its sample; -1
  /// beyond the end of the sample.
  [[nodiscard]] at::Tensor shifted_tokens(std::int64_t step, std::int64_t micro_batch,
                                          std::int64_t by);
  const TokenFile& tokens_;
  ShuffledSamples samples_;
  std::int64_t sequences_;  ///< Number of sequences in the global batch.
  /// Number of tokens in a training sequence.
  std::int64_t length_;
  /// Index of this data-parallel rank's first sequence in the global batch.
  std::int64_t rank_first_;
  std::int64_t micro_batch_;  ///< Number of sequences in a micro-batch.
  /// Positions in a sequence of the tokens that this context-parallel rank has.
  std::vector<std::int64_t> positions_;
  SequenceDocumentLengths documents_;
  /// Number of multi-token prediction layers of the model, each of which predicts one token further
  /// ahead.
  std::int64_t ahead_;
};

/// Returns the positions, in a sequence of `length` tokens, of the tokens that context-parallel
/// rank `rank` of `ranks` has, in ascending order.
std::vector<std::int64_t> context_rank_token_positions(std::int64_t length, std::int64_t ranks,
                                                       std::int64_t rank);

}  // namespace stepwright::runtime
