#pragma once

#include <iosfwd>

#include "tests/runtime/training.h"

namespace stepwright::testing {

/// A plan with several ranks for a model.
struct RankCase {
  const char* name;
  int ranks;
  const char* model;
  const char* choices;
  const char* job = "";    ///< Additional lines of the job, each indented by two spaces.
  const char* batch = "";  ///< Additional members of the batch, after a comma.
  const char* optimizer = "adamw";
};
std::ostream& operator<<(std::ostream& out, const RankCase& one);

/// Returns the fourteen ways to shard model states.
std::vector<std::string> sharding_strategies();

/// Expects that losses, norms, gradients and weights of several ranks equal those of one process
/// within 1e-9 (1 + norm), that no gradient is all zero, and that the messages were the predicted
/// ones.
void expect_same(const Trained& alone, const Trained& together);

/// Trains a case on its ranks and its model in one process (whose result is cached for other
/// cases), and expects equal results.
void expect_what_one_process_learns(const RankCase& one);

}  // namespace stepwright::testing
