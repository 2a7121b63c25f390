#pragma once

#include <string>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// How the stand-in for Python treats a command.
enum class PythonCommandKind {
  kLaunch,   ///< Runs a file or a module as training: recorded as a launch.
  kFollow,   ///< Runs a file that starts commands and imports no trainer: really runs.
  kRun,      ///< Runs `-c`, standard input, --version, pip, json.tool, ...: really runs.
  kWriter,   ///< Runs pip or venv: really runs, unless commands that write shall do nothing.
  kNothing,  ///< Runs setup.py or torch.utils.collect_env: neither recorded nor run.
  kDevices,  ///< Runs a `-c` text that prints the number of devices: answered by the stand-in.
};

/// Decides how to treat a command whose first word is Python. Reads the file that the command
/// names, if it exists.
PythonCommandKind python_command_kind(const Words& words);

/// Returns the words that run the file of a `PythonCommandKind::kFollow` command with the same
/// arguments, but with `stand_in` as the interpreter (`sys.executable`), so that programs which the
/// file starts with it are captured, too. `words` must name a file.
Words followed(const Words& words, const std::string& stand_in);

}  // namespace stepwright::capture
