#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {

/// A call with which a Python program starts a command.
struct CommandStart {
  std::string call;        ///< As it is written: "subprocess.run", "U.execute_train".
  std::uint32_t line = 0;  ///< Number of the line, from 1.
};

/// Returns the first call of a Python file that starts a command: of `subprocess`, `os.system`,
/// `os.popen`, `os.exec*`, `os.spawn*`, `asyncio.create_subprocess_*`, or `execute_train` and
/// `exec_command` of slime; nullopt if there is none. Comments and texts in quotes do not count.
std::optional<CommandStart> first_command_start(const SourceFile& file);

}  // namespace stepwright::launch_scripts
