#pragma once

#include <iosfwd>

#include "tests/runtime/training.h"

namespace stepwright::testing {

/// A plan of several ranks of a model.
struct RankCase {
  const char* name;
  int ranks;
  const char* model;
  const char* choices;
  const char* job = "";    ///< More lines of the job, each indented by two spaces.
  const char* batch = "";  ///< More of the batch, after a comma.
  const char* optimizer = "adamw";
};
std::ostream& operator<<(std::ostream& out, const RankCase& one);

/// The fourteen ways to shard model states.
std::vector<std::string> sharding_strategies();

/// Expects that the losses, norms, gradients and weights of ranks are those of one process within
/// 1e-9 (1 + norm), that no gradient is all zero, and that the messages were those predicted.
void expect_same(const Trained& alone, const Trained& together);

/// Trains a case, and its model in one process, which is remembered for other cases.
void expect_what_one_process_learns(const RankCase& one);

}  // namespace stepwright::testing
