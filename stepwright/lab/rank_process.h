#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "stepwright/lab/topology.h"
#include "stepwright/lab/warden.h"

namespace stepwright::lab {

/// A program to be started in a network namespace, in a process group of its own, with an empty
/// standard input.
struct RankStart {
  CommandLine command;
  /// Environment variables that replace those of this process.
  std::map<std::string, std::string> environment;
  std::string network;  ///< Name of the network namespace in which the program starts.
  /// Descriptor of its standard output; `err`: of its standard error.
  int out = -1;
  int err = -1;
};

/// Starts a rank under a warden and returns its process. Fails with `kRuntime`. A program that
/// cannot be run says so on its standard error and ends with 127.
pid_t start_rank(const Warden& warden, const RankStart& start);

}  // namespace stepwright::lab
