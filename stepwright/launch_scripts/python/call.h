#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/launch_scripts/python/program.h"

namespace stepwright::launch_scripts {

/// Supplies what a Python text does not define when it is read without being executed: a name with
/// dots ("torch.bfloat16") gives the text of the name, a call of a class (a capitalized name) an
/// object that records class and arguments; all else is unknown.
class LiteralPythonHost : public PythonHost {
 public:
  PythonObject value_of_undefined_name(const std::string& path, const std::string& full,
                                       std::uint32_t line) override;
  std::optional<PythonObject> result_of_undefined_call(const PythonCall& call) override;
};

/// Returns an object that records the class `call.path` and the arguments of a call; if an argument
/// is given twice, the last one counts.
PythonObject python_object_of_call(const PythonCall& call);

/// Returns the position of the first call of `function` in a Python text outside of comments;
/// `npos` if there is none.
std::size_t find_python_call(std::string_view text, std::string_view function);

/// Returns the arguments of the first call of class `type` in `text`, the first file of `program`.
/// Fails with `kInput` if there is no such call.
PythonObject first_python_call_arguments(std::string_view text, std::string_view type,
                                         PythonProgram& program);

/// Reads the keyword arguments of the first call of `function` in a Python text as a configuration
/// document, without executing anything. Values must be literals or calls of classes, whose names
/// begin with a capital. Fails with `kInput`, with the position, if there is no such call or an
/// argument is anything else.
YamlJsonDocument read_python_call(std::string_view text, std::string_view function,
                                  const std::string& name);

}  // namespace stepwright::launch_scripts
