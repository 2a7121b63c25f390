#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "stepwright/packing/length_histogram.h"

namespace stepwright::packing {

/// Where the documents of a data set say how long they are.
struct LengthField {
  std::string name;  ///< A key of each line; dots lead into mappings.
  /// Characters for each token of text, which states no length in tokens; 0: text is refused.
  double characters_per_token = 0;
};

/// The lengths in a data set.
struct DatasetLengths {
  LengthHistogram histogram;
  std::int64_t empty = 0;          ///< Documents of no token, which are not counted.
  bool counts_characters = false;  ///< True if some document was text.
};

/// Reads the lengths of a file of JSON lines, one document a line: a list is token ids, a whole
/// number a length, text is counted in characters, and so are the turns of a conversation. Reads
/// block by block: memory is bounded by the longest line (256 MiB at most) and the number of
/// different lengths. Fails with `kInput`, naming file and line: a file that cannot be read, a line
/// that is no JSON object, without the field, or with anything else in it.
DatasetLengths read_dataset_lengths(const std::filesystem::path& path, const LengthField& field);

/// Returns the histogram with at most `most` lengths: neighbours are joined at their mean length.
/// No document is lost.
LengthHistogram fewer_lengths(const LengthHistogram& histogram, std::size_t most);

}  // namespace stepwright::packing
