#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"
#include "stepwright/launch_scripts/python/parser.h"

namespace stepwright::launch_scripts {

/// Meaning of names where expressions of Python stand.
class PythonNames {
 public:
  PythonNames() = default;
  PythonNames(const PythonNames&) = delete;
  PythonNames& operator=(const PythonNames&) = delete;
  virtual ~PythonNames() = default;

  /// Name of the file.
  [[nodiscard]] virtual const std::string& file() const = 0;
  /// A line of the file as values have it: 0 where its lines do not count.
  [[nodiscard]] virtual std::uint32_t placed(std::uint32_t line) const = 0;
  /// The value of a name with dots; unknown where nobody knows.
  virtual PythonObject value(const std::string& path, std::uint32_t line) = 0;
  /// Result of a function of the program or of a library.
  virtual PythonObject call(const std::string& path, const PythonArguments& given) = 0;
  /// Result of a method, which may change what it is called of.
  virtual PythonObject method(PythonObject& self, const std::string& name,
                              const PythonArguments& given) = 0;
  virtual void bind(const std::string& name, PythonObject value) = 0;
  /// Counts what was done; fails with `kInput` where it was too much.
  virtual void spend(std::size_t effort, std::uint32_t line) = 0;
};

/// The value of an expression. Texts, also with values in them, numbers, lists, mappings,
/// operators, choices, comprehensions, indices, methods and calls are followed; anything else is
/// unknown. Fails with `kInput` where an argument is given twice.
PythonObject python_value(const PythonNode& expression, PythonNames& names);

/// Gives a value to "a", or its parts to "a, (b, c)", at a depth of brackets.
void bind_python_targets(std::string_view targets, const PythonObject& value, PythonNames& names,
                         int depth = 0);

}  // namespace stepwright::launch_scripts
