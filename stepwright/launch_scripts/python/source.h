#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepwright::launch_scripts {

/// A statement of a Python text: one line, or several if a bracket, string literal or backslash
/// continues it.
struct PythonStatement {
  std::string_view text;     ///< Text of the statement, without indentation and trailing comment.
  std::uint32_t line = 0;    ///< Number of the statement's first line in the file, from 1.
  std::uint32_t indent = 0;  ///< Columns of indentation; a tab counts 8.
};

/// A function at the top level of a Python text.
struct PythonFunction {
  std::string_view name;
  PythonStatement head;  ///< The line "def name(parameters) -> type:".
  /// Statements of the function's body, a part of the list in which the function was found.
  std::span<const PythonStatement> body;
};

/// Splits a Python text into statements. Fails with `kInput` for brackets and string literals that
/// never close, and beyond 100,000 statements. `name`: the file's name, for messages.
std::vector<PythonStatement> split_python_statements(std::string_view text,
                                                     const std::string& name);

/// Returns the functions that a list of statements defines at top level, in order.
std::vector<PythonFunction> python_functions(std::span<const PythonStatement> lines);

/// Returns the position after the string literal that starts at position `at` with one or three
/// quotes; the length of the text if it never closes.
std::size_t end_of_python_string(std::string_view text, std::size_t at);

/// Returns the position of the bracket that closes the bracket at position `at`; the length of the
/// text if none does.
std::size_t closing_python_bracket_position(std::string_view text, std::size_t at);

/// Returns the position in a text of an operator, or of a word with blanks around it (" and "),
/// outside of brackets, string literals and comments; `npos` if there is none.
std::size_t find_python_operator(std::string_view text, std::string_view sign);

/// Returns the first position from `at` on of one of the characters `stops` outside of brackets, or
/// of an unmatched closing bracket; the length of the text if there is neither.
std::size_t end_of_python_item(std::string_view text, std::size_t at, std::string_view stops);

/// True if a Python text begins with the whole word `word`, not with a longer word.
bool starts_python_word(std::string_view text, std::string_view word);

/// True if a character can be part of a Python name.
bool is_python_name_char(char c);

/// Returns the last name of a dotted path: "c" of "a.b.c".
inline std::string_view last_python_name(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace stepwright::launch_scripts
