#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {

/// A call with which a Python program starts a command.
struct CommandStart {
  std::string call;        ///< As it is written: "subprocess.run", "U.execute_train".
  std::uint32_t line = 0;  ///< From 1.
};

/// Returns the first call of a Python file that starts a command: of `subprocess`, `os.system`,
/// `os.popen`, `os.exec*`, `os.spawn*`, `asyncio.create_subprocess_*`, or `execute_train` and
/// `exec_command` of slime; nullopt if there is none. Comments and texts in quotes do not count.
std::optional<CommandStart> first_command_start(const SourceFile& file);

/// Returns the sentence that refuses such a program, with the command to type instead. `program`:
/// the file that has the call; `started`: the file that a person starts, a program of Python or a
/// script.
std::string command_start_refusal(const CommandStart& start, std::string_view program,
                                  std::string_view started);

}  // namespace stepwright::launch_scripts
