#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// A call of what a program does not have itself.
struct PythonCall {
  std::string path;  ///< As it was written; ".name" of a method, with its object as first argument.
  std::string full;  ///< With the module's name in the place of the one under which it is known.
  const PythonArguments& given;
  const std::string& file;
};

/// Surroundings of a program while it is followed.
class PythonHost {
 public:
  PythonHost() = default;
  PythonHost(const PythonHost&) = delete;
  PythonHost& operator=(const PythonHost&) = delete;
  virtual ~PythonHost() = default;

  /// Value of a name to which no file gives one.
  virtual PythonObject named(const std::string& path, const std::string& full,
                             std::uint32_t line) = 0;
  /// Result of a function, whether the program has one of its name or not; nullopt: follow it.
  virtual std::optional<PythonObject> chosen(const PythonCall& /*call*/) { return std::nullopt; }
  /// Result of a function that no file has.
  virtual std::optional<PythonObject> called(const PythonCall& call) = 0;
  /// A name was not given what an expression says.
  virtual void passed(std::string_view /*name*/, std::string_view /*expression*/,
                      std::uint32_t /*line*/) {}
};

}  // namespace stepwright::launch_scripts
