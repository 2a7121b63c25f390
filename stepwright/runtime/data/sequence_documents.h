#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::runtime {

/// The documents of the sequences of a run: those that the job's lengths are packed into, over and
/// over. A document's tokens predict each the next of the same document, so that its last one
/// predicts none; nor does what fills a sequence up.
class SequenceDocuments {
 public:
  /// For a job without documents, each sequence is one document and every token predicts one.
  explicit SequenceDocuments(const plan::Job& job);

  [[nodiscard]] bool any() const { return !packs_.empty(); }
  /// The documents of a sequence, counted over all steps. There are some.
  [[nodiscard]] const packing::Documents& of(std::int64_t sequence) const;
  /// Tokens of a step (from 0) that predict one, over all ranks.
  [[nodiscard]] std::int64_t targets(std::int64_t step) const;

 private:
  std::int64_t sequences_;  ///< Sequences of a step.
  std::int64_t length_;
  std::vector<packing::Documents> packs_;
};

/// Where each token of a sequence stands.
struct DocumentPlaces {
  std::vector<std::int64_t> document;  ///< Number of its document; filling has numbers of its own.
  std::vector<std::int64_t> position;  ///< Position of the token in its document.
  std::vector<bool> predicts;          ///< Whether the next token is of the same document.
};
DocumentPlaces document_places(const packing::Documents& documents, std::int64_t length);

}  // namespace stepwright::runtime
