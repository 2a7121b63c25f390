#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/packing/packs.h"

namespace stepwright::plan {

/// How long documents are as a formula.
struct LognormalLengths {
  double median = 0;  ///< Median length, in tokens.
  double sigma = 0;   ///< Standard deviation of the logarithm.
  bool operator==(const LognormalLengths&) const = default;
};

/// A batch of documents of unequal lengths.
struct DocumentBatch {
  std::string file;  ///< Absolute path of the file of lengths; empty: none.
  /// The formula that `lengths` came from; nullopt: none.
  std::optional<LognormalLengths> lognormal;
  packing::LengthHistogram lengths;
  packing::Packing packing;
  packing::Packs packs;  ///< Packs into which sequences of the job's length are filled.

  bool operator==(const DocumentBatch&) const = default;

  /// Tokens by which positions are counted in sequences of so many: those of the longest document
  /// where each has positions of its own.
  [[nodiscard]] std::int64_t longest_positions(std::int64_t sequence) const {
    const bool own = packing.kind != packing::PackingKind::kNone && packing.masks;
    return own ? std::min(sequence, lengths.back().length) : sequence;
  }
};

}  // namespace stepwright::plan
