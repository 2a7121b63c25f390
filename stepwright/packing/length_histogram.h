#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::packing {

/// Documents of one length.
struct LengthCount {
  std::int64_t length = 0;  ///< Tokens, at least 1.
  double count = 0;         ///< How many; of a distribution its share.
  bool operator==(const LengthCount&) const = default;
};

/// How long the documents of a data set are: each length once, ascending, with counts above 0.
using LengthHistogram = std::vector<LengthCount>;

/// The number of documents.
double total_count(const LengthHistogram& histogram);
/// The tokens of all of them.
double total_tokens(const LengthHistogram& histogram);

/// Orders lengths, joins those that occur twice and leaves out counts of 0.
LengthHistogram joined_lengths(LengthHistogram histogram);

/// Lengths of a lognormal distribution: `median` tokens, `sigma` the standard deviation of their
/// logarithm, above 0. In steps of a fiftieth of it over four of it each way (all but 6 of 100,000
/// documents), each with the mean length in it; total count 1.
LengthHistogram lognormal_lengths(double median, double sigma);

}  // namespace stepwright::packing
