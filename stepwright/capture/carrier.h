#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// The command that a carrier (srun, mpirun, docker, ssh, ...) runs, read from the carrier's words.
struct WrappedCommand {
  /// Index of the command's first word; the number of words if there is no command.
  std::size_t program = 0;
  std::vector<Option> options;
  std::map<std::string, std::string> environment;  ///< Variables that the carrier's options set.
  bool remote = false;      ///< True if the command runs on another machine or in a container.
  bool as_text = false;     ///< True if the words are joined with blanks and read by a shell.
  bool from_input = false;  ///< True if a shell reads standard input when there is no command.
};

/// Reads the command that a carrier runs; nullopt if this carrier's words run none (`docker
/// build`).
std::optional<WrappedCommand> wrapped_command(const Words& words);

}  // namespace stepwright::capture
