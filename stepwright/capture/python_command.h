#pragma once

#include <string>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Treatment of a Python command by the program that stands in for `python` during a capture.
enum class PythonCommandTreatment {
  kLaunch,  ///< The command trains: recorded as a launch, not run.
  /// The command runs a file that starts other commands and imports no trainer: really run.
  kFollow,
  /// The command is harmless (`-c`, standard input, --version, json.tool, ...): really run.
  kRun,
  /// The command writes files (pip, venv, build, pytest, ...): really run, unless such commands
  /// must do nothing.
  kWriter,
  /// The command is irrelevant to training (setup.py, torch.utils.collect_env, wandb, ...): neither
  /// recorded nor run.
  kNothing,
  /// The command is a `-c` text that prints the number of devices: the stand-in prints it instead.
  kDevices,
};

/// Decides how to treat a Python command line, reading the script that it names, if that exists.
PythonCommandTreatment python_command_treatment(const Words& words);

/// Returns the command line that runs a Python script with `stand_in` as its interpreter
/// (`sys.executable`), so that commands which the script starts with that interpreter are captured
/// too. `words` must name a script file.
Words python_command_with_stand_in(const Words& words, const std::string& stand_in);

}  // namespace stepwright::capture
