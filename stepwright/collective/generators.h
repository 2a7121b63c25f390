#pragma once

#include <string_view>

#include "stepwright/collective/closed_terms.h"
#include "stepwright/collective/generate.h"

namespace stepwright {

/// All that there is to know of an algorithm that schedules are generated for. A new one is a pair
/// of files with these functions, a word in `kAlgorithmNames` and a row in `generators.cpp`: proof,
/// execution, time, links, prices and laws of plans follow from them.
struct Generator {
  Algorithm algorithm{};
  std::string_view text;  ///< What it does, in one line.
  bool (*covers)(Collective);
  /// Whether it exists for groups of `members` ranks on each of `nodes` nodes; null: for all.
  bool (*exists)(std::int64_t members, std::int64_t nodes) = nullptr;
  std::string_view needs = {};  ///< What `exists` asks, as in "needs ...".
  /// In groups of one node, or of one rank of each, it is no algorithm of its own: plans do not
  /// name it for them.
  bool on_two_levels = false;
  bool whole_buffer = false;  ///< Chunks are of the buffer, not of blocks: trees.
  /// Pieces of a block beside its chunks; null: one.
  std::int32_t (*parts)(const ScheduleSpec&) = nullptr;
  /// What a rank sends in the mean over the payload, if not `sent_bytes` of the operation.
  double (*sent)(double members, double nodes) = nullptr;
  /// Whether the engine of `process_group/` runs it, which has two lanes: rings need one each.
  bool in_process_group = false;
  /// Pieces of scratch of a rank.
  std::int32_t (*scratch)(const ScheduleSpec&);
  RankSchedule (*rank)(const ScheduleSpec&, std::int32_t rank);
  /// Seconds of at least two ranks in closed form.
  double (*seconds)(const ClosedTerms&);
};

/// Null for `kLibrary` and `kNvls`.
const Generator* find_generator(Algorithm algorithm);

/// The generator of an algorithm that has one.
const Generator& generator_of(Algorithm algorithm);

}  // namespace stepwright
