#pragma once

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// What becomes of a command of Python.
enum class PythonUse {
  kLaunch,   ///< A file or a module: written down.
  kRun,      ///< `-c`, standard input, --version, pip, json.tool, ...: really runs.
  kWriter,   ///< pip, venv: really runs, unless commands that write are not wanted.
  kNothing,  ///< setup.py, torch.utils.collect_env: neither a launch nor needed.
  kDevices,  ///< `-c` that prints how many devices there are.
};

/// Returns what becomes of a command whose first word is Python.
PythonUse python_use(const Words& words);

}  // namespace stepwright::capture
