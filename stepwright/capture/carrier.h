#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// The command inside the command line of a carrier: a program such as srun, mpirun, docker or ssh
/// that runs another command.
struct WrappedCommand {
  /// Index of the inner command's first word; the number of words if there is no inner command.
  std::size_t program = 0;
  std::vector<GivenCommandOption> options;
  /// Environment variables that the carrier's options set for the inner command.
  std::map<std::string, std::string> environment;
  bool remote = false;  ///< True if the inner command runs on another machine or in a container.
  /// True if the inner command's words are joined with blanks and read by a shell (ssh).
  bool as_text = false;
  /// True if, without an inner command, a shell reads commands from standard input (`ssh HOST`).
  bool from_input = false;
};

/// Finds the inner command in the words of a carrier (srun, mpirun, docker, ssh, ...); nullopt if
/// these words run none (`docker build`).
std::optional<WrappedCommand> find_wrapped_command(const Words& words);

}  // namespace stepwright::capture
