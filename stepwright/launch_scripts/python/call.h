#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/launch_scripts/python/program.h"

namespace stepwright::launch_scripts {

/// Treats an imported name as a word with that name, and a call of a class (a name with a capital)
/// as an object of that class.
class PythonLiterals : public PythonHost {
 public:
  PythonObject named(const std::string& path, const std::string& full, std::uint32_t line) override;
  std::optional<PythonObject> called(const PythonCall& call) override;
};

/// Returns an object of class `call.path` with the arguments of a call; if an argument is given
/// twice, the last one counts.
PythonObject python_object_of(const PythonCall& call);

/// Returns the position of the first call of `function` in a Python text outside of comments;
/// `npos` if there is none.
std::size_t find_python_call(std::string_view text, std::string_view function);

/// Returns the arguments of the first call of class `type` in a program's first text. Fails with
/// `kInput` if there is no such call.
PythonObject first_python_call(std::string_view text, std::string_view type,
                               PythonProgram& program);

/// Reads the keyword arguments of the first call of `function` in a Python text as a document,
/// without executing anything. Nested calls must be of classes, whose names begin with a capital.
/// Fails with `kInput`, with the position, if there is no such call or an argument is anything
/// else.
Document read_python_call(std::string_view text, std::string_view function,
                          const std::string& name);

}  // namespace stepwright::launch_scripts
