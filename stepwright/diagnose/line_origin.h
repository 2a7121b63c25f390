#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// A line of a job's log without the prefix that launchers add.
struct LogLineOrigin {
  std::string_view text;
  std::int64_t rank = logs::kUnknown;  ///< Global rank that wrote the line.
  bool local = false;                  ///< True if `rank` is torchrun's local rank on its node.
};

/// Removes colours, times and launchers' prefixes from the beginning of a line and reads the rank
/// from them: "[rank3]:" of PyTorch, "[default3]:" of torchrun, "[1,3]<stderr>:" of mpirun, "3: "
/// of srun -l, "host: " in front of these, "(worker pid=7, ip=...)" of Ray.
LogLineOrigin parse_line_origin(std::string_view line);

/// Returns the rank in the path of a log: a number after "rank" in its name, or a folder whose name
/// is a number, as in torchrun's log folders (".../attempt_0/3/stderr.log"); `kUnknown`: the path
/// has none.
std::int64_t rank_of_path(const std::string& path);

// Parts of a line by the words around them.

/// Returns the beginning of a line, at most 240 bytes, to be quoted in a finding.
std::string shortened_line(std::string_view text);
/// True if a text contains a word.
bool holds(std::string_view text, std::string_view word);
/// True if a file in a traceback belongs to PyTorch or another installed package, or is no file
/// ("<string>", "??"); false if it belongs to the user's own program.
bool is_library_file(std::string_view path);
/// Returns the text after a word; empty if the word is absent.
std::string_view after(std::string_view text, std::string_view word);
/// Returns the text between two words; empty if one of them is absent.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end);
/// Returns the whole number at the beginning of a text, after optional blanks; `kUnknown`: there is
/// none.
std::int64_t leading_number(std::string_view text);
/// Returns the bytes at the beginning of a text such as "2.00 GiB"; negative: there is no size.
double leading_bytes(std::string_view text);

}  // namespace stepwright::diagnose
