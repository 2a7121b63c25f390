#include "stepwright/answers/known_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::answers {

std::string unknown_word_message(const std::string& word, const std::vector<std::string>& known) {
  if (std::ranges::find(known, word) != known.end()) return "";
  const std::vector<std::string_view> views(known.begin(), known.end());
  return fmt::format("must be one of {}; it is '{}'{}", join_with_commas(views),
                     one_line_printable_text(word), spelling_hint(word, views));
}

}  // namespace stepwright::answers
