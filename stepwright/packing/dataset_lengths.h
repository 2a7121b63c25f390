#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "stepwright/packing/length_histogram.h"

namespace stepwright::packing {

/// The field of a data set that states the lengths of documents.
struct LengthField {
  std::string name;  ///< Key in each line; dots lead into nested mappings.
  /// Characters per token, for text without lengths in tokens; 0: text is refused.
  double characters_per_token = 0;
};

/// The document lengths of a data set.
struct DatasetLengths {
  LengthHistogram histogram;
  std::int64_t empty = 0;  ///< Number of documents without tokens, which are not in the histogram.
  bool counts_characters = false;  ///< True if some document was text.
};

/// Reads the document lengths of a file of JSON lines with one document per line. A list is taken
/// as token ids, a whole number as a length; text is counted in characters, as are the messages of
/// a conversation. Reads block by block: memory is bounded by the longest line (256 MiB at most)
/// and the number of different lengths. Fails with `kInput`, naming file and line, if the file
/// cannot be read, or a line is not a JSON object, lacks the field, or has another value in it.
DatasetLengths read_dataset_lengths(const std::filesystem::path& path, const LengthField& field);

/// Returns the histogram with at most `most` lengths: neighbouring lengths are joined at their
/// mean. The number of documents is unchanged.
LengthHistogram fewer_lengths(const LengthHistogram& histogram, std::size_t most);

}  // namespace stepwright::packing
