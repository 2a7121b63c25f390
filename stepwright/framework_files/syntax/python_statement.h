#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace stepwright
