#pragma once

#include <optional>

namespace stepwright::capture {

/// Acts as a stand-in if this process was started as one: inside a capture, under the name
/// (argv[0]) of a program that has a stand-in. main() calls it first. Returns the exit code of the
/// process; nullopt if the process is no stand-in. Records events in the capture's folder; does not
/// throw.
std::optional<int> stand_in(int argc, char** argv);

}  // namespace stepwright::capture
