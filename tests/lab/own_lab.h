#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "stepwright/lab/lab.h"

namespace stepwright::lab {

/// Why no lab can be made here; empty when one can.
std::string no_lab_here();

/// Skips a test, saying why, where no lab can be made.
#define SKIP_WITHOUT_LAB()                                                          \
  if (const std::string reason = no_lab_here(); !reason.empty()) {                  \
    GTEST_SKIP() << "no lab can be made here: it lacks " << reason << " (sudo -i)"; \
  }                                                                                 \
  static_assert(true, "a semicolon follows")

/// NICs of 200 Mbit/s, a bus of 400 Mbit/s.
LabSpec small_lab(std::int64_t nodes, std::int64_t ranks_per_node,
                  NicOwner owner = NicOwner::kNode);

/// How a run ended and what its ranks wrote.
struct Ran {
  RunResult result;
  std::string out;
  std::string err;
};

/// Runs one program as every rank, five minutes at most.
Ran run_everywhere(const Lab& lab, const CommandLine& command);

/// Runs a line of shell as every rank.
Ran run_shell(const Lab& lab, const std::string& line);

/// Names of network namespaces of labs that a process made.
std::vector<std::string> namespaces_made_by(pid_t process);

/// A minute or so to sleep, a word that only processes of this test have.
std::string own_seconds(int whole);

/// How many processes of this machine have this word among their arguments.
int processes_with(const std::string& word);

/// Whether it comes true within ten seconds.
bool soon(const std::function<bool()>& condition);

}  // namespace stepwright::lab
