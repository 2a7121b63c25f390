#pragma once

#include <optional>

namespace stepwright::capture {

/// Acts as a stand-in if this process was started as one: by the name of a program that has one
/// (argv[0]), inside of a capture. main() calls it first. Returns the exit code of the process, or
/// nullopt if the process is no stand-in. Writes what it saw into the folder of the capture; does
/// not throw.
std::optional<int> stand_in(int argc, char** argv);

}  // namespace stepwright::capture
