#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// A call of a function or method that the program does not define itself.
struct PythonCall {
  /// The called name as written; for a method ".name", with the object as first argument.
  std::string path;
  std::string full;  ///< The called name with the module's real name in place of its alias.
  const PythonArguments& given;
  const std::string& file;
};

/// Supplies a program that is interpreted with the values and functions that its files do not
/// define.
class PythonHost {
 public:
  PythonHost() = default;
  PythonHost(const PythonHost&) = delete;
  PythonHost& operator=(const PythonHost&) = delete;
  virtual ~PythonHost() = default;

  /// Returns the value of a name that no file defines.
  virtual PythonObject named(const std::string& path, const std::string& full,
                             std::uint32_t line) = 0;
  /// Returns the result of a function that overrides any definition in the program; nullopt:
  /// interpret the program's definition.
  virtual std::optional<PythonObject> chosen(const PythonCall& /*call*/) { return std::nullopt; }
  /// Returns the result of a function that no file defines; nullopt: unknown.
  virtual std::optional<PythonObject> called(const PythonCall& call) = 0;
  /// Is told that an expression was skipped, so that `name` did not get its value.
  virtual void passed(std::string_view /*name*/, std::string_view /*expression*/,
                      std::uint32_t /*line*/) {}
};

}  // namespace stepwright::launch_scripts
