#include "stepwright/launch_scripts/python/statement.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "stepwright/core/trimmed.h"
#include "stepwright/launch_scripts/python/source.h"

namespace stepwright::launch_scripts {
namespace {

bool holds_char(std::string_view characters, char c) {
  return characters.find(c) != std::string_view::npos;
}

}  // namespace

bool is_dotted_python_name(std::string_view text) {
  const bool word = std::ranges::all_of(
      text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  return word && !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

PythonAssignment python_assignment(std::string_view text) {
  const std::size_t equals = find_python_operator(text, "=");
  if (equals == std::string_view::npos || equals == 0) return {text, std::nullopt};
  const std::string_view value = text.substr(equals + 1);
  if (value.starts_with('=') || holds_char("<>!:", text[equals - 1])) return {text, std::nullopt};
  std::size_t end = equals;
  while (end > 0 && holds_char("+-*/|&%^@", text[end - 1])) --end;
  const std::string_view left = text.substr(0, end);
  return {.target = trimmed(left.substr(0, find_python_operator(left, ":"))),
          .value = trimmed(value),
          .sign = text.substr(end, equals - end)};
}

bool is_noop_python_statement(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "import", "from",     "pass", "assert",   "raise",
      "global", "nonlocal", "del",  "continue", "break"};
  if (text.front() == '"' || text.front() == '\'' || text.front() == '@') return true;
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return starts_python_word(text, word); });
}

std::vector<std::pair<std::string, std::string>> python_imported_names(std::string_view statement) {
  std::vector<std::pair<std::string, std::string>> names;
  std::size_t at = statement.find("import ");
  if (at == std::string_view::npos) return names;
  // Words of one entry in the list: a name, or "name as other"; a comma ends the entry.
  std::vector<std::string> words;
  const auto end_of_name = [&] {
    const bool renamed = words.size() == 3 && words[1] == "as";
    if (renamed || words.size() == 1) names.emplace_back(words.back(), words.front());
    words.clear();
  };
  std::string word;
  const auto end_of_word = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (at += 7; at < statement.size(); ++at) {
    const char c = statement[at];
    if (is_dotted_python_name(std::string_view(&c, 1)) ||
        std::isdigit(static_cast<unsigned char>(c)) != 0) {
      word += c;
      continue;
    }
    end_of_word();
    if (c == ',') end_of_name();
    if (c == '#') at = std::min(statement.find('\n', at), statement.size());
  }
  end_of_word();
  end_of_name();
  return names;
}

}  // namespace stepwright::launch_scripts
