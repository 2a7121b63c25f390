#pragma once

#include <string>
#include <vector>

#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {

/// Claims this process's rank number in the shared store. Fails with `kInput` if another process
/// has claimed it.
void claim_rank_number(const RankCommunicators::RankWorld& world);

/// Waits until all ranks have claimed their numbers in the shared store. Fails with `kRuntime`,
/// naming the missing ranks, after the timeout of `world`.
void await_all_ranks(const RankCommunicators::RankWorld& world);

/// Shares a text (`own`) of each rank under a key, and returns the texts of all ranks in rank
/// order. Every rank must call it. If a rank does not within the timeout of `world`, the rank watch
/// ends this process.
std::vector<std::string> exchange_rank_texts(const RankCommunicators::RankWorld& world,
                                             const std::string& key, const std::string& own);

/// Collects a text (`own`) of each rank under a key on rank 0, which returns them in rank order;
/// other ranks return an empty list without waiting.
std::vector<std::string> collect_rank_texts(const RankCommunicators::RankWorld& world,
                                            const std::string& key, const std::string& own);

/// Ends the watch of a rank whose work is done. Rank 0, which serves the shared store, waits until
/// all others have ended theirs; if one does not within the timeout, rank 0 ends with an error.
void end_rank_watch(const RankCommunicators::RankWorld& world);

}  // namespace stepwright::runtime
