#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright::launch_scripts {

/// The parts of a Python assignment "target: type = value"; `value` is nullopt if the statement is
/// not a plain assignment.
struct PythonAssignment {
  std::string_view target;
  std::optional<std::string_view> value;
  std::string_view sign{};  ///< Operator of an augmented assignment: "+" for `+=`; empty for `=`.
};

PythonAssignment python_assignment(std::string_view statement);

/// True if a text is a Python name, or names joined by dots.
bool is_dotted_python_name(std::string_view text);

/// True for a Python statement that sets no value, such as `pass` or a docstring.
bool is_noop_python_statement(std::string_view text);

/// Returns the names that "from a import b as c, d" or "import a.b as c" defines, each with its
/// full name in the imported module.
std::vector<std::pair<std::string, std::string>> python_imported_names(std::string_view statement);

}  // namespace stepwright::launch_scripts
