#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/packing/packs.h"

namespace stepwright::plan {

/// Lognormal distribution from which the lengths of a batch's documents are drawn.
struct LognormalDocumentLengths {
  double median = 0;  ///< Median document length, in tokens.
  double sigma = 0;   ///< Standard deviation of the natural logarithm of a document's length.
  bool operator==(const LognormalDocumentLengths&) const = default;
};

/// Documents of unequal lengths that are packed into the sequences of a batch.
struct PackedDocumentBatch {
  /// Absolute path of the file with the document lengths; empty: lengths are not from a file.
  std::string file;
  /// Distribution from which `lengths` was computed; nullopt: lengths are from a file.
  std::optional<LognormalDocumentLengths> lognormal;
  packing::LengthHistogram lengths;
  packing::Packing packing;
  /// Statistics of how the batch's documents fill sequences of the job's length (padding, number of
  /// documents).
  packing::PackingStatistics packs;

  bool operator==(const PackedDocumentBatch&) const = default;

  /// Returns the number of positions that the model needs for sequences of `sequence` tokens:
  /// `sequence`, or the longest document's length if each document counts positions from 0.
  [[nodiscard]] std::int64_t needed_position_count(std::int64_t sequence) const {
    const bool own = packing.kind != packing::PackingKind::kNone && packing.masks;
    return own ? std::min(sequence, lengths.back().length) : sequence;
  }
};

}  // namespace stepwright::plan
