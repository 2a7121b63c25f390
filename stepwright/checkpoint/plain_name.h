#pragma once

#include <string_view>

namespace stepwright::checkpoint {

/// True if a name read from a file is UTF-8 text without control characters and without characters
/// that change the direction of text, either of which could deceive the system or a terminal.
bool is_safe_printable_text(std::string_view name);

/// True if a name read from a file is plain text without folders, so that it stays in the same
/// folder.
bool is_plain_file_name(std::string_view name);

}  // namespace stepwright::checkpoint
