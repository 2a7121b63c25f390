#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::collective_files {

/// A line of a tuner file, as NCCL's plugin reads it.
struct PluginLine {
  std::string collective;
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = 0;
  std::string algorithm;
  std::string protocol;
  int channels = 0;
  int nodes = 0;
  int ranks = 0;
};

/// Reads a file as NCCL's example tuner plugin does (`plugins/tuner/example/plugin.c` of NCCL
/// 2.30): pieces of at most 255 characters up to a line end, skipped if they begin with # or are
/// empty; fields between commas without blanks around them. Throws `std::runtime_error` if the
/// plugin would silently use a default: too few or too many fields, an unknown word, or text that
/// is no number.
std::vector<PluginLine> read_tuner_file(std::string_view text);

/// Returns the line that the plugin uses for a message: the first that matches; null: none.
const PluginLine* line_for(const std::vector<PluginLine>& lines, std::string_view collective,
                           std::uint64_t bytes, int nodes, int ranks);

}  // namespace stepwright::collective_files
