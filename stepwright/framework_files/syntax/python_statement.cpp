#include "stepwright/framework_files/syntax/python_statement.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "stepwright/framework_files/syntax/python_source.h"
#include "stepwright/framework_files/syntax/python_value.h"

namespace stepwright {

bool starts_python_word(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  if (text.size() == word.size()) return true;
  return !is_python_name_char(text[word.size()]);
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

std::size_t find_python_operator(std::string_view text, std::string_view sign) {
  std::int64_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_python_string(text, at) - 1;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
      continue;
    }
    if (depth == 0 && text.substr(at).starts_with(sign)) return at;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return std::string_view::npos;
}

std::vector<std::pair<std::string, std::string>> python_imports(std::string_view statement) {
  std::vector<std::pair<std::string, std::string>> names;
  std::size_t at = statement.find("import ");
  if (at == std::string_view::npos) return names;
  // Words of the list: a name, or "name as other"; a comma ends each.
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
    if (is_python_path(std::string_view(&c, 1)) ||
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

}  // namespace stepwright
