#include "stepwright/runtime/data/sequence_documents.h"

#include <numeric>

namespace stepwright::runtime {

SequenceDocumentLengths::SequenceDocumentLengths(const plan::Job& job)
    : sequences_(job.sequences), length_(job.length) {
  if (!job.documents) return;
  packs_ = packing::packed_sequences(job.documents->lengths, job.documents->packing, job.length);
}

const packing::Documents& SequenceDocumentLengths::of(std::int64_t sequence) const {
  return packs_[static_cast<std::size_t>(sequence) % packs_.size()];
}

std::int64_t SequenceDocumentLengths::targets(std::int64_t step) const {
  if (!any()) return sequences_ * length_;
  std::int64_t targets = 0;
  for (std::int64_t i = 0; i < sequences_; ++i) {
    const packing::Documents& documents = of(step * sequences_ + i);
    targets += std::accumulate(documents.begin(), documents.end(), std::int64_t{0}) -
               std::ssize(documents);
  }
  return targets;
}

TokenDocumentPositions document_places(const packing::Documents& documents, std::int64_t length) {
  TokenDocumentPositions places;
  std::int64_t number = 0;
  for (const std::int64_t tokens : documents) {
    for (std::int64_t i = 0; i < tokens; ++i) {
      places.document.push_back(number);
      places.position.push_back(i);
      places.predicts.push_back(i + 1 < tokens);
    }
    ++number;
  }
  while (std::ssize(places.document) < length) {
    places.document.push_back(number++);
    places.position.push_back(0);
    places.predicts.push_back(false);
  }
  return places;
}

}  // namespace stepwright::runtime
