#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"
#include "stepwright/launch_scripts/python/parser.h"

namespace stepwright::launch_scripts {

/// The names that a Python expression can use: their values, functions and methods.
class PythonNames {
 public:
  PythonNames() = default;
  PythonNames(const PythonNames&) = delete;
  PythonNames& operator=(const PythonNames&) = delete;
  virtual ~PythonNames() = default;

  /// Returns the name of the file that contains the expression.
  [[nodiscard]] virtual const std::string& file() const = 0;
  /// Returns a line number as values record it: 0 for files whose lines are not recorded.
  [[nodiscard]] virtual std::uint32_t placed(std::uint32_t line) const = 0;
  /// Returns the value of a name with dots; an unknown value if it cannot be determined.
  virtual PythonObject value(const std::string& path, std::uint32_t line) = 0;
  /// Returns the result of a function of the program or of a library.
  virtual PythonObject call(const std::string& path, const PythonArguments& given) = 0;
  /// Returns the result of a method, which can change `self`.
  virtual PythonObject method(PythonObject& self, const std::string& name,
                              const PythonArguments& given) = 0;
  virtual void bind(const std::string& name, PythonObject value) = 0;
  /// Adds to the effort so far; fails with `kInput` beyond the limit.
  virtual void spend(std::size_t effort, std::uint32_t line) = 0;
};

/// Returns the value of an expression. Texts (also f-strings), numbers, lists, mappings, operators,
/// conditional expressions, comprehensions, indices, methods and calls are interpreted; any other
/// expression is unknown. Fails with `kInput` if an argument is given twice.
PythonObject python_value(const PythonNode& expression, PythonNames& names);

/// Binds a value to the target "a", or its items to the targets "a, (b, c)"; `depth` is the depth
/// of brackets.
void bind_python_targets(std::string_view targets, const PythonObject& value, PythonNames& names,
                         int depth = 0);

}  // namespace stepwright::launch_scripts
