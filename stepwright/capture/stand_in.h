#pragma once

#include <optional>

namespace stepwright::capture {

/// Runs the stand-in for a launcher if this process was started under the launcher's name (argv[0])
/// inside a capture; main() calls it first. Returns the exit code of the process; nullopt: the
/// process is no stand-in. Records events in the capture's folder; does not throw.
std::optional<int> run_launcher_stand_in(int argc, char** argv);

}  // namespace stepwright::capture
