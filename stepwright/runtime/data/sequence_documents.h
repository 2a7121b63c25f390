#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::runtime {

/// Lengths of the documents packed into each training sequence: the job's document lengths are
/// packed once, and the packs repeat. Each token predicts the next one of its document; a
/// document's last token and the filling of a sequence predict none.
class SequenceDocumentLengths {
 public:
  /// Packs the documents of a job. A job without documents has one document in each sequence, in
  /// which every token predicts the next.
  explicit SequenceDocumentLengths(const plan::Job& job);

  [[nodiscard]] bool any() const { return !packs_.empty(); }
  /// Returns the document lengths of a sequence, whose number counts over all steps of the run.
  /// Requires a job with documents (`any()`).
  [[nodiscard]] const packing::Documents& of(std::int64_t sequence) const;
  /// Returns how many tokens of a training step (numbered from 0) have a next token to predict,
  /// over all ranks.
  [[nodiscard]] std::int64_t targets(std::int64_t step) const;

 private:
  std::int64_t sequences_;  ///< Number of sequences in the global batch of a step.
  std::int64_t length_;
  std::vector<packing::Documents> packs_;
};

/// Document and position of each token of a packed sequence.
struct TokenDocumentPositions {
  /// Index of the document that holds the token, from 0; each filling token at the end of the
  /// sequence has a further index of its own.
  std::vector<std::int64_t> document;
  std::vector<std::int64_t> position;  ///< Position of the token in its document, from 0.
  /// True if the token has a target: the next token belongs to the same document.
  std::vector<bool> predicts;
};
TokenDocumentPositions document_places(const packing::Documents& documents, std::int64_t length);

}  // namespace stepwright::runtime
