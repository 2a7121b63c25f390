#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// A log line without the prefix that its launcher added, and the rank that wrote it.
struct LogLineOrigin {
  std::string_view text;
  std::int64_t rank = logs::kUnknown;  ///< Rank that wrote the line; global, unless `local`.
  bool local = false;                  ///< True if `rank` is torchrun's local rank on its node.
};

/// Removes colours, times and launchers' prefixes from the start of a log line, and reads the rank
/// from them: "[rank3]:" of PyTorch, "[default3]:" of torchrun, "[1,3]<stderr>:" of mpirun, "3: "
/// of srun -l, "host: " before these, "(worker pid=7, ip=...)" of Ray.
LogLineOrigin strip_log_line_prefix(std::string_view line);

/// Returns the rank that a log's path contains: a number after "rank" in its name, or a folder
/// whose name is a number, as in torchrun's log folders (".../attempt_0/3/stderr.log"); `kUnknown`:
/// none.
std::int64_t rank_in_log_path(const std::string& path);

// Parts of a line by the words around them.

/// Returns the first 240 bytes of a log line at most, for quoting in a finding.
std::string line_start_for_quoting(std::string_view text);
/// True if a text contains another text.
bool line_contains_text(std::string_view text, std::string_view word);
/// True if a file in a traceback belongs to PyTorch or another installed package, or is no real
/// file ("<string>", "??"); false: it belongs to the user's own program.
bool is_installed_library_file(std::string_view path);
/// Returns the part of a text after the first occurrence of `word`; empty: `word` does not occur.
std::string_view text_after(std::string_view text, std::string_view word);
/// Returns the part of a text between `begin` and the next `end`; empty: one of them does not
/// occur.
std::string_view text_between(std::string_view text, std::string_view begin, std::string_view end);
/// Returns the whole number with which a text begins, after optional blanks; `kUnknown`: none.
std::int64_t whole_number_at_text_start(std::string_view text);
/// Returns the size with which a text such as "2.00 GiB of" begins, in bytes; negative: none.
double byte_size_at_text_start(std::string_view text);

}  // namespace stepwright::diagnose
