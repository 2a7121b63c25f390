#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "stepwright/lab/topology.h"
#include "stepwright/lab/warden.h"

namespace stepwright::lab {

/// How to start the program of one rank: its command, environment, network namespace and output. It
/// gets its own process group and an empty standard input.
struct RankProgramStart {
  CommandLine command;
  /// Environment variables set for the program, in addition to those of this process or in their
  /// place.
  std::map<std::string, std::string> environment;
  std::string network;  ///< Name of the network namespace in which the program starts.
  /// File descriptors for the program's output: `out`, its standard output; `err`, its standard
  /// error.
  int out = -1;
  int err = -1;
};

/// Starts the program of one rank, and returns its process, which is killed when `warden` ends.
/// Fails with `kRuntime`. A program that cannot be executed reports that on its standard error and
/// exits with 127.
pid_t start_rank(const NamespaceWarden& warden, const RankProgramStart& start);

}  // namespace stepwright::lab
