#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// A command that a carrier (srun, mpirun, docker, ssh, ...) goes on with.
struct Carried {
  std::size_t program = 0;  ///< Place of the first word of the command; the number of words: none.
  std::vector<Option> options;
  std::map<std::string, std::string> environment;  ///< Variables that the carrier's options set.
  bool remote = false;      ///< True if the command runs on another machine or in a container.
  bool as_text = false;     ///< True if a shell reads the words, joined with blanks.
  bool from_input = false;  ///< True if without a command a shell reads standard input.
};

/// Returns what a carrier goes on with; nullopt: these words carry no command (`docker build`).
std::optional<Carried> carried_command(const Words& words);

}  // namespace stepwright::capture
