#pragma once

#include <cstdint>
#include <vector>

namespace stepwright::packing {

/// Entry of a histogram: a document length, and the number of documents that have it.
struct DocumentLengthCount {
  std::int64_t length = 0;  ///< Length of a document in tokens, at least 1.
  double count = 0;  ///< Number of documents with this length, or their share of all documents.
  bool operator==(const DocumentLengthCount&) const = default;
};

/// Document lengths of a data set: each length once, in ascending order, with a count above 0.
using LengthHistogram = std::vector<DocumentLengthCount>;

/// Returns the number of documents in a histogram.
double total_document_count(const LengthHistogram& histogram);
/// Returns the total number of tokens in the documents of a histogram.
double total_tokens(const LengthHistogram& histogram);

/// Returns the histogram sorted by length, with equal lengths merged and counts of 0 removed.
LengthHistogram merge_equal_lengths(LengthHistogram histogram);

/// Returns a histogram of lognormal document lengths with the given median in tokens; `sigma`,
/// above 0: standard deviation of the logarithm. Lengths are in steps of sigma/50 over 4 sigma to
/// each side; the counts sum to 1.
LengthHistogram lognormal_length_histogram(double median, double sigma);

}  // namespace stepwright::packing
