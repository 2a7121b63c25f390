#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/logs/record.h"

namespace stepwright::diagnose {

/// A line of a job's log without what launchers write in front of it.
struct OriginLine {
  std::string_view text;
  std::int64_t rank = logs::kUnknown;  ///< Global rank that wrote it.
  bool local = false;                  ///< True if `rank` is that of torchrun on its node.
};

/// Takes colours, times and the marks of launchers off the beginning of a line: "[rank3]:" of
/// PyTorch, "[default3]:" of torchrun, "[1,3]<stderr>:" of mpirun, "3: " of srun -l, "host: " in
/// front of them, "(worker pid=7, ip=...)" of Ray.
OriginLine origin_of(std::string_view line);

/// The rank in the path of a log: a number behind "rank" in its name, or a folder that is a number,
/// as torchrun's log folders have it (".../attempt_0/3/stderr.log"); `kUnknown` without.
std::int64_t rank_of_path(const std::string& path);

// Parts of a line by the words around them.

/// The beginning of a line, as findings repeat it: at most 240 bytes.
std::string shortened(std::string_view text);
/// True if a text holds a word.
bool holds(std::string_view text, std::string_view word);
/// True if a file of a traceback belongs to PyTorch, another installed package or no file
/// ("<string>", "??"), rather than to the person's own program.
bool is_library_file(std::string_view path);
/// The text behind a word; empty where the word is not there.
std::string_view after(std::string_view text, std::string_view word);
/// The text between two words; empty where one of them is not there.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end);
/// The whole number at the beginning of a text, which blanks may precede; `kUnknown` without.
std::int64_t leading_number(std::string_view text);
/// The bytes at the beginning of a text: "2.00 GiB"; negative without.
double leading_bytes(std::string_view text);

}  // namespace stepwright::diagnose
