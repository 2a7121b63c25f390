#pragma once

#include <filesystem>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/packing/length_histogram.h"

namespace stepwright::packing {

/// Reads a list of `[length, count]`, in any order. Fails with `kInput` on an empty list, a length
/// below 1 or above 2^40, a negative count, and if all counts are 0.
LengthHistogram read_histogram(Node list);

/// Reads a file of lengths (`stepwright: lengths/1`, `histogram`).
LengthHistogram load_lengths(const std::filesystem::path& path);

/// Writes a file of lengths, one length per line; `comment` is at the top, each of its lines after
/// `# `.
std::string lengths_text(const LengthHistogram& histogram, const std::string& comment);

}  // namespace stepwright::packing
