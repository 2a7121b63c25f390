#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/syntax/python_object.h"

namespace stepwright {

/// What is taken in the place of what a program says, and what it is told of.
struct PythonGiven {
  std::map<std::string, std::string> values;  ///< Of names, attributes and arguments.
  /// A function that the program does not have itself, under its full name; nothing for those
  /// that it does not know.
  std::function<std::optional<PythonObject>(const std::string& path, const PythonArguments& given)>
      call;
  /// The environment of the program, which it may change.
  PythonObject environment = PythonObject::record();
};

/// Follows a Python program from its first statement, then, while `done` is false, its functions
/// that nothing in it calls. Nothing is executed: conditions and loops whose values are known are
/// followed; of others each branch is, and what they leave behind differently is unknown, with the
/// name of what decides. Fails with `kInput` on brackets and texts that never close, on nesting
/// beyond 40 levels and where following it takes too much.
void follow_python(std::string_view text, const std::string& name, PythonGiven& given,
                   const std::function<bool()>& done);

}  // namespace stepwright
