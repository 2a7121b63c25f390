#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/framework_files/syntax/python_source.h"

namespace stepwright {

/// The parts of "target: type = value"; without value when it is no plain assignment.
struct PythonAssignment {
  std::string_view target;
  std::optional<std::string_view> value;
  bool changes = false;  ///< `+=` and its like.
};

/// The parts of a statement; `name` stands for its file in messages.
PythonAssignment python_assignment(const PythonLine& line, const std::string& name);

/// Whether a text begins with a word, and not with a longer one.
bool starts_python_word(std::string_view text, std::string_view word);

/// Whether a text is a name, or names with dots between them.
bool is_python_path(std::string_view text);

/// Statements that give no value to anything.
bool says_nothing_in_python(std::string_view text);

/// Where an operator or a word with blanks around it (" and ") stands outside of brackets, texts
/// and comments; `npos` where it does not.
std::size_t find_python_operator(std::string_view text, std::string_view sign);

/// Names that "from a import b as c, d" or "import a.b as c" gives to a text, and what each is
/// there.
std::vector<std::pair<std::string, std::string>> python_imports(std::string_view statement);

}  // namespace stepwright
