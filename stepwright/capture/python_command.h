#pragma once

#include <string>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// The fate of a command of Python.
enum class PythonUse {
  kLaunch,   ///< A file or a module: written down.
  kFollow,   ///< A file that starts commands and imports no trainer: really runs.
  kRun,      ///< `-c`, standard input, --version, pip, json.tool, ...: really runs.
  kWriter,   ///< pip, venv: really runs, unless commands that write are not wanted.
  kNothing,  ///< setup.py, torch.utils.collect_env: neither a launch nor needed.
  kDevices,  ///< `-c` that prints how many devices there are.
};

/// Returns what becomes of a command whose first word is Python. Reads the file that it names, if
/// the file is in reach.
PythonUse python_use(const Words& words);

/// Returns a command of `PythonUse::kFollow` as one that runs the same file with the same
/// arguments, but takes `stand_in` for the interpreter (`sys.executable`), so that what the file
/// starts with it is captured as well. `words` name a file.
Words followed(const Words& words, const std::string& stand_in);

}  // namespace stepwright::capture
