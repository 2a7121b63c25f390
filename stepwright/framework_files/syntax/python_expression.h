#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/framework_files/syntax/python_object.h"

namespace stepwright {

/// What names mean where expressions of a Python program stand.
class PythonNames {
 public:
  PythonNames() = default;
  PythonNames(const PythonNames&) = delete;
  PythonNames& operator=(const PythonNames&) = delete;
  virtual ~PythonNames() = default;

  /// The file's name.
  [[nodiscard]] virtual const std::string& file() const = 0;
  /// The value of a name with dots; unknown where nobody knows.
  virtual PythonObject value(const std::string& path, std::uint32_t line) = 0;
  /// What a function of the program or of a library gives.
  virtual PythonObject call(const std::string& path, const PythonArguments& given) = 0;
  virtual void bind(const std::string& name, PythonObject value) = 0;
  /// Counts what was done; fails with `kInput` where it was too much.
  virtual void spend(std::size_t effort, std::uint32_t line) = 0;
};

/// The value of an expression that begins in a line. Texts, also with values in them, numbers,
/// lists, mappings, operators, choices, comprehensions, indices, methods and calls are followed;
/// anything else is unknown. Fails with `kInput` where brackets nest deeper than 40 levels.
PythonObject python_expression(std::string_view text, std::uint32_t line, PythonNames& names,
                               int depth = 0);

/// Gives a value to "a", or its parts to "a, b".
void bind_python_targets(std::string_view targets, const PythonObject& value, PythonNames& names);

}  // namespace stepwright
