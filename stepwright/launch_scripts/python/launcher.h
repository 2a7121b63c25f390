#pragma once

#include <optional>
#include <span>
#include <string>

#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {

/// The commands that a Python program starts (`subprocess`, `os.system`, `os.exec*`, slime's
/// `execute_train`), as a script with its words on the lines where they stand; what it imports may
/// stand in other files. What no literal says is a variable that the script does not set;
/// NAME=VALUE in `settings` give names of the program values. Nothing for a file that is no such
/// program, or where no command can be followed. Nothing is executed.
std::optional<SourceFile> launched_script(const SourceFile& file,
                                          std::span<const std::string> settings,
                                          std::span<const SourceFile> others = {});

}  // namespace stepwright::launch_scripts
