#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/packing/packs.h"

namespace stepwright::plan {

/// Lognormal distribution of document lengths.
struct LognormalLengths {
  double median = 0;  ///< Median length, in tokens.
  double sigma = 0;   ///< Standard deviation of the logarithm of the length.
  bool operator==(const LognormalLengths&) const = default;
};

/// A batch of documents of unequal lengths.
struct DocumentBatch {
  std::string file;  ///< Absolute path of the file of lengths; empty: none.
  /// Formula from which `lengths` was computed; nullopt: lengths are from a file.
  std::optional<LognormalLengths> lognormal;
  packing::LengthHistogram lengths;
  packing::Packing packing;
  packing::PackingStatistics packs;  ///< How documents fill sequences of the job's length.

  bool operator==(const DocumentBatch&) const = default;

  /// Number of positions that a sequence of `sequence` tokens needs: the length of the longest
  /// document if each document counts positions from zero, else `sequence`.
  [[nodiscard]] std::int64_t longest_positions(std::int64_t sequence) const {
    const bool own = packing.kind != packing::PackingKind::kNone && packing.masks;
    return own ? std::min(sequence, lengths.back().length) : sequence;
  }
};

}  // namespace stepwright::plan
