#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"
#include "stepwright/launch_scripts/python/parser.h"

namespace stepwright::launch_scripts {

/// Interface through which the evaluation of a Python expression looks up and sets variables, and
/// calls functions and methods.
class PythonEvaluationScope {
 public:
  PythonEvaluationScope() = default;
  PythonEvaluationScope(const PythonEvaluationScope&) = delete;
  PythonEvaluationScope& operator=(const PythonEvaluationScope&) = delete;
  virtual ~PythonEvaluationScope() = default;

  /// Returns the name of the file that contains the expression being evaluated.
  [[nodiscard]] virtual const std::string& file() const = 0;
  /// Returns the line number that values of the current file record: `line`, or 0 if lines of this
  /// file are not recorded.
  [[nodiscard]] virtual std::uint32_t recorded_line(std::uint32_t line) const = 0;
  /// Returns the value of a Python name with dots ("args.tp"); an unknown value if it cannot be
  /// determined.
  virtual PythonObject value(const std::string& path, std::uint32_t line) = 0;
  /// Interprets a call of a function of the program or of a library (`path`: its name with dots)
  /// and returns the result.
  virtual PythonObject call(const std::string& path, const PythonArguments& given) = 0;
  /// Interprets a call of the method `name` on `self`, which the method can change, and returns the
  /// result.
  virtual PythonObject call_python_method(PythonObject& self, const std::string& name,
                                          const PythonArguments& given) = 0;
  virtual void bind(const std::string& name, PythonObject value) = 0;
  /// Adds `effort` (steps of work) to the effort of the whole interpretation; fails with `kInput`,
  /// naming the line, beyond a limit.
  virtual void add_python_interpretation_effort(std::size_t effort, std::uint32_t line) = 0;
};

/// Returns the value of a Python expression. Texts (also f-strings), numbers, lists, mappings,
/// operators, conditional expressions, comprehensions, indices, methods and calls are interpreted;
/// any other expression is unknown. Fails with `kInput` if an argument is given twice.
PythonObject evaluate_python_expression(const PythonNode& expression, PythonEvaluationScope& names);

/// Assigns a value to a Python target: to the name "a", or its items to the names in "a, (b, c)".
/// `depth`: number of brackets around the targets.
void assign_python_targets(std::string_view targets, const PythonObject& value,
                           PythonEvaluationScope& names, int depth = 0);

}  // namespace stepwright::launch_scripts
