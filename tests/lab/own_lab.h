#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "stepwright/lab/lab.h"

namespace stepwright::lab {

/// Returns the reason why no lab can be created here; empty: one can.
std::string no_lab_here();

/// Skips a test, with the reason, if no lab can be created.
#define SKIP_WITHOUT_LAB()                                                          \
  if (const std::string reason = no_lab_here(); !reason.empty()) {                  \
    GTEST_SKIP() << "no lab can be made here: it lacks " << reason << " (sudo -i)"; \
  }                                                                                 \
  static_assert(true, "a semicolon follows")

/// Returns a lab with NICs of 200 Mbit/s and a bus of 400 Mbit/s.
EmulatedClusterSpec small_lab(std::int64_t nodes, std::int64_t ranks_per_node,
                              NicOwner owner = NicOwner::kNode);

/// The end of a run, and the output of its ranks.
struct Ran {
  RankRunResult result;
  std::string out;
  std::string err;
};

/// Runs one program as every rank, for at most five minutes.
Ran run_everywhere(const EmulatedCluster& lab, const CommandLine& command);

/// Runs a shell line as every rank.
Ran run_shell(const EmulatedCluster& lab, const std::string& line);

/// Returns the names of network namespaces that a process created for labs.
std::vector<std::string> namespaces_made_by(pid_t process);

/// Returns a sleep time of about a minute, spelt so that only processes of this test have the word.
std::string own_seconds(int whole);

/// Counts the processes of this machine that have a word among their arguments.
int processes_with(const std::string& word);

/// True if a condition becomes true within ten seconds.
bool soon(const std::function<bool()>& condition);

}  // namespace stepwright::lab
