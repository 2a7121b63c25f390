#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::runtime {

/// The documents in each sequence of a run: the packs of the job's document lengths, repeated. Each
/// token of a document predicts the next one of the same document; the last token, and the filling
/// of a sequence, predict none.
class SequenceDocuments {
 public:
  /// For a job without documents, each sequence is one document and every token predicts the next.
  explicit SequenceDocuments(const plan::Job& job);

  [[nodiscard]] bool any() const { return !packs_.empty(); }
  /// Returns the documents of a sequence; sequences are counted over all steps. Requires `any()`.
  [[nodiscard]] const packing::Documents& of(std::int64_t sequence) const;
  /// Returns the number of tokens of a step (from 0) that predict a token, over all ranks.
  [[nodiscard]] std::int64_t targets(std::int64_t step) const;

 private:
  std::int64_t sequences_;  ///< Number of sequences in a step.
  std::int64_t length_;
  std::vector<packing::Documents> packs_;
};

/// The document and the position of each token of a sequence.
struct DocumentPlaces {
  /// Number of the token's document; filling has numbers of its own.
  std::vector<std::int64_t> document;
  std::vector<std::int64_t> position;  ///< Position of the token in its document.
  std::vector<bool> predicts;          ///< True if the next token belongs to the same document.
};
DocumentPlaces document_places(const packing::Documents& documents, std::int64_t length);

}  // namespace stepwright::runtime
