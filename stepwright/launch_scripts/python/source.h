#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// A statement of a Python text: one line, or several where brackets, texts or a backslash continue
/// it.
struct PythonLine {
  std::string_view text;     ///< Without indentation and the comment behind it.
  std::uint32_t line = 0;    ///< Number of the first line, from 1.
  std::uint32_t indent = 0;  ///< Columns in front; a tab counts 8.
};

/// A function at the top of a Python text.
struct PythonFunction {
  std::string_view name;
  PythonLine head;                   ///< "def name(parameters) -> type:"
  std::span<const PythonLine> body;  ///< Lines of its body, among those that it was found in.
};

/// The statements of a text. Fails with `kInput` on brackets and texts that never close, and beyond
/// 100,000 statements.
std::vector<PythonLine> python_lines(std::string_view text, const std::string& name);

/// Functions among statements, in their order.
std::vector<PythonFunction> python_functions(std::span<const PythonLine> lines);

/// The place behind a text in quotes that begins at `at` (with its quotes, one or three); the
/// length of the text where it never closes.
std::size_t end_of_python_string(std::string_view text, std::size_t at);

/// The place of the bracket that closes the one at `at`; the length of the text without one.
std::size_t closing_python_bracket(std::string_view text, std::size_t at);

/// Where an operator or a word with blanks around it (" and ") stands outside of brackets, texts
/// and comments; `npos` where it does not.
std::size_t find_python_operator(std::string_view text, std::string_view sign);

/// The place of the next of these characters outside of brackets, or of the bracket around them
/// that closes; the length of the text without either.
std::size_t end_of_python_item(std::string_view text, std::size_t at, std::string_view stops);

/// Whether a text begins with a word, and not with a longer one.
bool starts_python_word(std::string_view text, std::string_view word);

/// Whether names go on with a character.
bool is_python_name_char(char c);

/// Returns "c" of "a.b.c", and a name without points as it is.
inline std::string_view last_python_name(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

/// A text without blanks around it.
std::string_view python_trimmed(std::string_view text);

}  // namespace stepwright::launch_scripts
