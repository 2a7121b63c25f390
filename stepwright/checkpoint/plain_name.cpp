#include "stepwright/checkpoint/plain_name.h"

#include <algorithm>

#include "stepwright/core/utf8.h"

namespace stepwright::checkpoint {

bool is_plain_text(std::string_view name) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return std::ranges::none_of(name, control) && find_bad_utf8(name) == std::string_view::npos;
}

bool is_file_name(std::string_view name) {
  return is_plain_text(name) && !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos;
}

}  // namespace stepwright::checkpoint
