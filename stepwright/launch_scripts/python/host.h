#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// A call of a function or method that the program does not define itself.
struct PythonCall {
  /// The called name as written: "np.array"; for a method ".name", with the object as first
  /// argument.
  std::string path;
  /// The called name with the module's real name in place of its alias: "numpy.array" for
  /// "np.array".
  std::string full;
  const PythonArguments& given;
  const std::string& file;
};

/// Interface that supplies an interpreted Python program with the values and functions that its own
/// files do not define.
class PythonHost {
 public:
  PythonHost() = default;
  PythonHost(const PythonHost&) = delete;
  PythonHost& operator=(const PythonHost&) = delete;
  virtual ~PythonHost() = default;

  /// Returns the value of a name that no file of the program defines. `path`: the name as written;
  /// `full`: with the module's real name in place of its alias.
  virtual PythonObject value_of_undefined_name(const std::string& path, const std::string& full,
                                               std::uint32_t line) = 0;
  /// Returns the result of a call whose function this host defines in place of the program;
  /// nullopt: interpret the program's own definition.
  virtual std::optional<PythonObject> host_call_result(const PythonCall& /*call*/) {
    return std::nullopt;
  }
  /// Returns the result of a call whose function no file of the program defines; nullopt: the
  /// result is unknown.
  virtual std::optional<PythonObject> result_of_undefined_call(const PythonCall& call) = 0;
  /// Tells the host that the interpreter skipped an expression, so that the variable `name` did not
  /// get its value.
  virtual void note_skipped_expression(std::string_view /*name*/, std::string_view /*expression*/,
                                       std::uint32_t /*line*/) {}
};

}  // namespace stepwright::launch_scripts
