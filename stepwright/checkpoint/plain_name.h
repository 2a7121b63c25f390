#pragma once

#include <string_view>

namespace stepwright::checkpoint {

/// True if a name read from a file is UTF-8 text without characters that control or reorder: these
/// can end a name early for the system, or change what a terminal shows.
bool is_plain_text(std::string_view name);

/// True if a name read from a file is plain text and names a file in the same folder.
bool is_file_name(std::string_view name);

}  // namespace stepwright::checkpoint
