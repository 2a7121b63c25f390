#include "stepwright/diagnose/stuck_call.h"

#include <algorithm>
#include <set>

namespace stepwright::diagnose {
namespace {

/// The collectives of one group by their number.
struct GroupCalls {
  /// Calls by number, then by rank.
  std::map<std::int64_t, std::map<std::int64_t, const RankCommunicationCall*>> by_sequence;
  /// Number of the oldest call that the file still has, by rank.
  std::map<std::int64_t, std::int64_t> first;
};

std::vector<GroupCalls> calls_by_group(const JobFailureEvidence& evidence) {
  std::vector<GroupCalls> groups(evidence.groups.size());
  for (const auto& [rank, trail] : evidence.trails) {
    for (const RankCommunicationCall& call : trail.calls) {
      if (call.message || call.sequence <= 0) continue;
      GroupCalls& group = groups[static_cast<std::size_t>(call.group)];
      // Coalesced calls share a number; the first one represents them.
      group.by_sequence[call.sequence].try_emplace(rank, &call);
      const auto [oldest, added] = group.first.try_emplace(rank, call.sequence);
      oldest->second = std::min(oldest->second, call.sequence);
    }
  }
  return groups;
}

/// True if two ranks' calls cannot be the same collective.
bool differ(const RankCommunicationCall& a, const RankCommunicationCall& b) {
  if (a.operation != b.operation) return true;
  if (!a.sizes.empty() && !b.sizes.empty() && a.sizes != b.sizes) return true;
  return !a.type.empty() && !b.type.empty() && a.type != b.type;
}

/// Returns the ranks of a group: those that files list, else all ranks of which there is a file.
std::vector<std::int64_t> members_of(const JobFailureEvidence& evidence, std::int32_t group) {
  const DiagnosedProcessGroup& known = evidence.groups[static_cast<std::size_t>(group)];
  if (!known.ranks.empty()) return known.ranks;
  std::vector<std::int64_t> ranks;
  for (const auto& [rank, trail] : evidence.trails) ranks.push_back(rank);
  return ranks;
}

/// Returns the first call of a group that a rank did not end, or that differs between ranks; null:
/// none.
const std::pair<const std::int64_t, std::map<std::int64_t, const RankCommunicationCall*>>*
first_stuck(const GroupCalls& group) {
  for (const auto& calls : group.by_sequence) {
    const auto& made = calls.second;
    const bool open = std::ranges::any_of(made, [](const auto& one) { return !one.second->ended; });
    const bool unlike = std::ranges::any_of(
        made, [&](const auto& one) { return differ(*one.second, *made.begin()->second); });
    if (open || unlike) return &calls;
  }
  return nullptr;
}

StuckCall stuck_call(const JobFailureEvidence& evidence, std::int32_t id, const GroupCalls& group,
                     std::int64_t sequence) {
  const auto& made = group.by_sequence.at(sequence);
  StuckCall call{.group = id, .sequence = sequence, .made = made};
  call.members_known = !evidence.groups[static_cast<std::size_t>(id)].ranks.empty();
  call.differs = std::ranges::any_of(
      made, [&](const auto& one) { return differ(*one.second, *made.begin()->second); });
  for (const std::int64_t rank : members_of(evidence, id)) {
    if (made.contains(rank)) continue;
    const auto oldest = group.first.find(rank);
    // The rank's dump has overwritten this call.
    if (oldest != group.first.end() && oldest->second > sequence) continue;
    call.missing.push_back(rank);
  }
  std::ranges::sort(call.missing);
  return call;
}

/// Adds sends and receives for which one rank waits and which the other does not make.
void add_messages(const JobFailureEvidence& evidence, std::vector<StuckCall>& calls) {
  const auto waits = [&](std::int64_t rank, std::int64_t peer, bool sends) {
    const auto trail = evidence.trails.find(rank);
    if (trail == evidence.trails.end()) return false;
    return std::ranges::any_of(trail->second.calls, [&](const RankCommunicationCall& call) {
      return call.message && !call.ended && call.peer == peer && call.sends == sends;
    });
  };
  std::set<std::pair<std::int64_t, std::int64_t>> known;
  for (const auto& [rank, trail] : evidence.trails) {
    for (const RankCommunicationCall& call : trail.calls) {
      if (!call.message || call.ended || call.peer < 0) continue;
      if (waits(call.peer, rank, !call.sends) || !known.insert({rank, call.peer}).second) continue;
      calls.push_back({.group = call.group,
                       .made = {{rank, &call}},
                       .missing = {call.peer},
                       .message = true,
                       .members_known = true});
    }
  }
}

}  // namespace

std::vector<StuckCall> stuck_calls(const JobFailureEvidence& evidence) {
  std::vector<StuckCall> calls;
  const std::vector<GroupCalls> groups = calls_by_group(evidence);
  for (std::size_t id = 0; id < groups.size(); ++id) {
    if (const auto* first = first_stuck(groups[id])) {
      calls.push_back(
          stuck_call(evidence, static_cast<std::int32_t>(id), groups[id], first->first));
    }
  }
  add_messages(evidence, calls);
  return calls;
}

std::vector<std::vector<std::size_t>> stuck_call_dependencies(const std::vector<StuckCall>& calls) {
  std::map<std::int64_t, std::vector<std::size_t>> waiting;  // rank -> calls in which it waits
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (const auto& [rank, call] : calls[i].made) {
      if (!call->ended) waiting[rank].push_back(i);
    }
  }
  std::vector<std::vector<std::size_t>> arrows(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (const std::int64_t rank : calls[i].missing) {
      for (const std::size_t other : waiting[rank]) {
        if (other != i) arrows[i].push_back(other);
      }
    }
    std::ranges::sort(arrows[i]);
    arrows[i].erase(std::ranges::unique(arrows[i]).begin(), arrows[i].end());
  }
  return arrows;
}

}  // namespace stepwright::diagnose
