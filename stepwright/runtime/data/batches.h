#pragma once

#include "stepwright/plan/grid.h"
#include "stepwright/plan/job.h"
#include "stepwright/runtime/data/micro_batch.h"
#include "stepwright/runtime/data/sequence_documents.h"
#include "stepwright/runtime/data/tokens.h"

namespace stepwright::runtime {

/// Cuts the global batch of each step into the micro-batches of a rank. A context rank has two
/// chunks of a sequence, the c-th from its begin and the c-th from its end, which balances causal
/// attention.
class Batches {
 public:
  /// Makes the batches of the ranks at `place`; `tokens` must outlive this.
  Batches(const TokenFile& tokens, Samples samples, const plan::Job& job, const plan::Plan& plan,
          const plan::Coordinates& place);
  /// Returns this rank's micro-batch number `micro_batch` of a step (both from 0), on the CPU.
  [[nodiscard]] MicroBatch of(std::int64_t step, std::int64_t micro_batch);

 private:
  void cut_documents(MicroBatch& batch, std::int64_t first) const;
  /// Returns the tokens that come `by` tokens after those of a micro-batch; -1 beyond a sample.
  [[nodiscard]] at::Tensor shifted(std::int64_t step, std::int64_t micro_batch, std::int64_t by);
  const TokenFile& tokens_;
  Samples samples_;
  std::int64_t sequences_;    ///< Sequences of the global batch.
  std::int64_t length_;       ///< Tokens of one sequence.
  std::int64_t rank_first_;   ///< Number of this data rank's first sequence in the global batch.
  std::int64_t micro_batch_;  ///< Sequences of one micro-batch.
  std::vector<std::int64_t> positions_;  ///< Positions of a sequence that this context rank has.
  SequenceDocuments documents_;
  std::int64_t ahead_;  ///< Number of multi-token layers.
};

/// Returns the positions of a sequence that a context rank has, ascending.
std::vector<std::int64_t> context_positions(std::int64_t length, std::int64_t ranks,
                                            std::int64_t rank);

}  // namespace stepwright::runtime
