#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepwright::launch_scripts {

/// The parts of "target: type = value"; without value when it is no plain assignment.
struct PythonAssignment {
  std::string_view target;
  std::optional<std::string_view> value;
  std::string_view sign{};  ///< Sign of an assignment: "+" of `+=`.
};

PythonAssignment python_assignment(std::string_view statement);

/// Whether a text is a name, or names with dots between them.
bool is_python_path(std::string_view text);

/// Statements that give no value to anything.
bool says_nothing_in_python(std::string_view text);

/// Names that "from a import b as c, d" or "import a.b as c" gives to a text, and what each is
/// there.
std::vector<std::pair<std::string, std::string>> python_imports(std::string_view statement);

}  // namespace stepwright::launch_scripts
