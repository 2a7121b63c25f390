#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "stepwright/packing/length_histogram.h"

namespace stepwright::packing {

/// Where a data set of JSON lines states the length of each document.
struct DocumentLengthField {
  std::string name;  ///< JSON key of the field in each line; dots lead into nested mappings.
  /// Characters per token, to convert text without token counts; 0: a field with text is an error.
  double characters_per_token = 0;
};

/// The lengths of the documents of a data set, in tokens.
struct DatasetDocumentLengths {
  LengthHistogram histogram;
  std::int64_t empty = 0;  ///< Number of documents of length 0, which are not in the histogram.
  /// True if the length of some document was estimated from its characters.
  bool counts_characters = false;
};

/// Reads the lengths of the documents in a file of JSON lines, one document per line. The field may
/// be a list of token ids, a number of tokens, a text or the messages of a conversation (both
/// counted in characters). Memory is bounded by the longest line (256 MiB at most). Fails with
/// `kInput`, naming file and line, for an unreadable file or a wrong line.
DatasetDocumentLengths read_dataset_lengths(const std::filesystem::path& path,
                                            const DocumentLengthField& field);

/// Reduces a histogram to at most `most` different lengths by merging neighbouring lengths at their
/// mean. The number of documents is unchanged.
LengthHistogram coarsened_length_histogram(const LengthHistogram& histogram, std::size_t most);

}  // namespace stepwright::packing
