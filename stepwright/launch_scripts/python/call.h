#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/launch_scripts/python/program.h"

namespace stepwright::launch_scripts {

/// Takes names of other modules for words, and calls of classes, which begin with a capital, for
/// objects.
class PythonLiterals : public PythonHost {
 public:
  PythonObject named(const std::string& path, const std::string& full, std::uint32_t line) override;
  std::optional<PythonObject> called(const PythonCall& call) override;
};

/// An object of what a call is given, made by `call.path`; of a name that stands twice the last.
PythonObject python_object_of(const PythonCall& call);

/// The place of the first call of `function` in a Python text, not in a comment; `npos` without
/// one.
std::size_t find_python_call(std::string_view text, std::string_view function);

/// Arguments of the first call of a class in the first text of a program. Fails with `kInput` where
/// there is none.
PythonObject first_python_call(std::string_view text, std::string_view type,
                               PythonProgram& program);

/// The keyword arguments of the first call of `function` in a Python text, as a document. Nothing
/// is executed, so nested calls must be of classes, which begin with a capital. Fails with `kInput`
/// where there is no such call, and where an argument is anything else, naming the place.
Document read_python_call(std::string_view text, std::string_view function,
                          const std::string& name);

}  // namespace stepwright::launch_scripts
