#include "stepwright/framework_files/syntax/python_statement.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "stepwright/framework_files/syntax/python_value.h"

namespace stepwright {

bool starts_python_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  if (text.size() == word.size()) return true;
  const char next = text[word.size()];
  return std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_';
}

bool is_python_path(std::string_view text) {
  const bool word = std::ranges::all_of(
      text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  return word && !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0;
}

PythonAssignment python_assignment(const PythonLine& line, const std::string& name) {
  const PythonScope nothing;
  PythonReader reader(line.text, line.line, name, nothing);
  const std::string_view left = reader.pass_until("=");
  const std::string_view rest = reader.rest();
  if (rest.empty() || rest.starts_with("==") || left.empty()) return {line.text, std::nullopt};
  if (std::string_view("<>!").find(left.back()) != std::string_view::npos) {
    return {line.text, std::nullopt};
  }
  const bool changes = std::string_view("+-*/|&%^").find(left.back()) != std::string_view::npos;
  const std::string_view bare = changes ? left.substr(0, left.size() - 1) : left;
  const std::string_view target = python_trimmed(bare.substr(0, bare.find(':')));
  return {target, python_trimmed(rest.substr(1)), changes};
}

bool says_nothing_in_python(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "import", "from",     "pass", "assert",   "raise",
      "global", "nonlocal", "del",  "continue", "break"};
  if (text.front() == '"' || text.front() == '\'' || text.front() == '@') return true;
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return starts_python_word(text, word); });
}

}  // namespace stepwright
