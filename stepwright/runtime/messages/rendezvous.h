#pragma once

#include <string>
#include <vector>

#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// Claims this rank's number. Fails with `kInput` when another process has it.
void take_number(const Groups::World& world);

/// Waits until all ranks have claimed their numbers. Fails with `kRuntime`, naming the missing
/// ranks, after the world's timeout.
void await_all_ranks(const Groups::World& world);

/// Returns each rank's text under a key, in the order of ranks; every rank calls it. If a rank does
/// not call it within the world's timeout, this rank ends as in `wait_for_message`.
std::vector<std::string> exchange(const Groups::World& world, const std::string& key,
                                  const std::string& own);

/// Does as `exchange`, but only rank 0 waits and gets the texts; the result is empty on other
/// ranks.
std::vector<std::string> collect(const Groups::World& world, const std::string& key,
                                 const std::string& own);

/// Ends the watch of a rank that is done. Rank 0, which serves the store that all watches use,
/// waits until the others have ended theirs; if one never does, rank 0 ends as in `exchange`.
void end_rank_watch(const Groups::World& world);

}  // namespace stepwright::runtime
