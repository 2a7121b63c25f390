#include "stepwright/core/name.h"

#include <fmt/format.h>

#include "stepwright/core/utf8.h"

namespace stepwright {

std::string invalid_name_reason(std::string_view text, std::size_t longest) {
  const std::size_t characters = count_characters(text);
  const bool plain = find_unprintable(text) == std::string_view::npos;
  if (plain && characters <= longest) return "";
  const std::string length = plain ? fmt::format(" of {} characters", characters) : "";
  return fmt::format(
      "must be one line of at most {} characters, without control characters and marks that "
      "reorder text; it is '{}'{}",
      longest, one_line_printable_text(text), length);
}

std::string read_name(DocumentNode node, std::size_t longest) {
  std::string text = node.text();
  if (const std::string fault = invalid_name_reason(text, longest); !fault.empty())
    node.fail(fault);
  return text;
}

}  // namespace stepwright
