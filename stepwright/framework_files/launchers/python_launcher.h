#pragma once

#include <optional>
#include <span>

#include "stepwright/framework_files/draft.h"

namespace stepwright::framework_files {

/// The commands that a Python program starts (`subprocess`, `os.system`, `os.exec*`, slime's
/// `execute_train`), as a script with its words on the lines where they stand; what it imports may
/// stand in other files. What no literal says is a variable that the script does not set;
/// `Given::settings` give names of the program values. Nothing for a file that is no such program,
/// or where no command can be followed. Nothing is executed.
std::optional<SourceFile> launched_script(const SourceFile& file, const Given& given,
                                          std::span<const SourceFile> others = {});

}  // namespace stepwright::framework_files
