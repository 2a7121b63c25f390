#include "stepwright/capture/valid_utf8.h"

#include <cstddef>

#include "stepwright/core/utf8.h"

namespace stepwright::capture {

std::string replace_invalid_utf8(std::string_view text, bool& replaced) {
  std::string valid;
  while (true) {
    const std::size_t bad = find_bad_utf8(text);
    if (bad == std::string_view::npos) return valid + std::string(text);
    valid += text.substr(0, bad);
    valid += "\xEF\xBF\xBD";
    text.remove_prefix(bad + 1);
    replaced = true;
  }
}

}  // namespace stepwright::capture
