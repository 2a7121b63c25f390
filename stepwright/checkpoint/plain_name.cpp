#include "stepwright/checkpoint/plain_name.h"

#include "stepwright/core/utf8.h"

namespace stepwright::checkpoint {

bool is_safe_printable_text(std::string_view name) {
  return one_line_printable_text(name, std::string_view::npos) == name;
}

bool is_plain_file_name(std::string_view name) {
  return is_safe_printable_text(name) && !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos;
}

}  // namespace stepwright::checkpoint
