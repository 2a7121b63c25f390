#pragma once

#include <string>
#include <vector>

#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// Takes this rank's number. Fails with `kInput` when another process has it.
void take_number(const Groups::World& world);

/// Waits until all ranks have taken their numbers. Fails with `kRuntime`, naming the ranks that are
/// missing, after the world's timeout.
void await_all_ranks(const Groups::World& world);

/// Each rank's text under a key, in the order of ranks; every rank calls it. A rank that does not
/// come within the world's timeout ends this one, as in `wait_for_message`.
std::vector<std::string> exchange(const Groups::World& world, const std::string& key,
                                  const std::string& own);

/// As `exchange`, but rank 0 alone waits and gets the texts; empty on the others.
std::vector<std::string> collect(const Groups::World& world, const std::string& key,
                                 const std::string& own);

/// Ends the watch of a rank that is done. Rank 0, which serves the store that all watches ask,
/// stays until the others have ended theirs; a rank that never does ends it, as in `exchange`.
void end_rank_watch(const Groups::World& world);

}  // namespace stepwright::runtime
