#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {

/// A call with which a Python program starts a command.
struct PythonCommandStart {
  /// The called name as it is written: "subprocess.run", "U.execute_train".
  std::string call;
  std::uint32_t line = 0;  ///< Line number of the call, from 1.
};

/// Returns the first call in a Python file that starts a command: a call of `subprocess`,
/// `os.system`, `os.popen`, `os.exec*`, `os.spawn*`, `asyncio.create_subprocess_*`, or
/// `execute_train` and `exec_command` of slime; nullopt if there is none. Comments and quoted texts
/// do not count.
std::optional<PythonCommandStart> first_python_command_start(const SourceFile& file);

}  // namespace stepwright::launch_scripts
