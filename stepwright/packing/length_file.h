#pragma once

#include <filesystem>
#include <string>

#include "stepwright/core/document.h"
#include "stepwright/packing/length_histogram.h"

namespace stepwright::packing {

/// Reads a histogram of document lengths from a list of `[length, count]`, in any order. Fails with
/// `kInput` for an empty list, a length below 1 or above 2^40, a negative count, and if all counts
/// are 0.
LengthHistogram read_length_histogram(DocumentNode list);

/// Reads the histogram in a file of document lengths (`stepwright: lengths/1`).
LengthHistogram load_length_histogram(const std::filesystem::path& path);

/// Returns the text of a file of document lengths, one length per line, with `comment` as `# `
/// lines at the top.
std::string length_histogram_text(const LengthHistogram& histogram, const std::string& comment);

}  // namespace stepwright::packing
