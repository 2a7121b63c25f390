#pragma once

#include <string_view>

namespace stepwright::checkpoint {

/// True if a name that a file gives is UTF-8 text without characters that control or reorder: those
/// end a name early for the system, or change what a terminal shows.
bool is_plain_text(std::string_view name);

/// True if a name is that of a file beside the file that gives it: plain text that leads to no
/// other folder.
bool is_file_name(std::string_view name);

}  // namespace stepwright::checkpoint
