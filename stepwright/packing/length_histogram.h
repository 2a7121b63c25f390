#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::packing {

/// One length and the number of documents that have it.
struct LengthCount {
  std::int64_t length = 0;  ///< Tokens of a document, at least 1.
  double count = 0;         ///< Number of documents; in a distribution, their share.
  bool operator==(const LengthCount&) const = default;
};

/// Lengths of the documents of a data set: each length once, ascending, with counts above 0.
using LengthHistogram = std::vector<LengthCount>;

/// The number of documents.
double total_count(const LengthHistogram& histogram);
/// The number of tokens of all documents.
double total_tokens(const LengthHistogram& histogram);

/// Sorts lengths, merges equal ones and removes counts of 0.
LengthHistogram joined_lengths(LengthHistogram histogram);

/// Returns the lengths of a lognormal distribution with `median` tokens; `sigma`, above 0, is the
/// standard deviation of their logarithm. Steps of sigma/50 over 4 sigma to each side (all but 6 of
/// 100,000 documents), each with the mean length in it; the total count is 1.
LengthHistogram lognormal_lengths(double median, double sigma);

}  // namespace stepwright::packing
