#include "stepwright/collective/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "stepwright/collective/definition.h"
#include "stepwright/core/error.h"

namespace stepwright::collective {
std::int32_t message_chunks_per_block(double block_bytes, double chunk_bytes) {
  constexpr double kMost = 32;
  if (chunk_bytes <= 0) return 1;
  return static_cast<std::int32_t>(std::clamp(std::floor(block_bytes / chunk_bytes), 1.0, kMost));
}

std::int32_t collective_schedule_rank_count(const CollectiveScheduleSpec& spec) {
  return std::accumulate(spec.tiers.begin(), spec.tiers.end(), 1, std::multiplies<>());
}

std::int32_t pieces_per_block(const CollectiveScheduleSpec& spec) {
  const auto parts = definition_of(spec.method).parts;
  return parts == nullptr ? spec.chunks : spec.chunks * parts(spec);
}

std::optional<std::string> reason_no_collective_schedule_exists(
    const CollectiveScheduleSpec& spec) {
  std::int64_t pieces = std::max(1, spec.chunks);
  for (const std::int32_t size : spec.tiers) {
    if (size < 1) return fmt::format("tiers: {} is not a number of ranks", size);
    pieces *= size;
    if (pieces > std::int64_t{kMaxSchedulePiecesPerBuffer}) return "ranks x chunks exceed 2^30";
  }
  if (spec.tiers.empty()) return "tiers: none given";
  if (spec.chunks < 1) return fmt::format("chunks: {} is below 1", spec.chunks);
  const CollectiveAlgorithmDefinition& it = definition_of(spec.method);
  const std::string_view word = name_of(kCollectiveAlgorithmNames, spec.method);
  if (!it.covers.has(spec.collective)) {
    return fmt::format("the algorithm {} does not perform this operation", word);
  }
  const std::int32_t nodes = spec.tiers.back();
  const std::int32_t members = collective_schedule_rank_count(spec) / nodes;
  if (it.exists != nullptr && !it.exists(members, nodes)) {
    return fmt::format("{} needs {}; there are {} on each of {} nodes", word,
                       it.group_requirement_text, members, nodes);
  }
  if (std::int64_t{collective_schedule_rank_count(spec)} * pieces_per_block(spec) >
      std::int64_t{kMaxSchedulePiecesPerBuffer}) {
    return "ranks x chunks exceed 2^30";
  }
  return {};
}

CollectiveSchedule empty_collective_schedule(const CollectiveScheduleSpec& spec) {
  if (const auto reason = reason_no_collective_schedule_exists(spec)) fail_unsupported(*reason);
  const CollectiveAlgorithmDefinition& it = definition_of(spec.method);
  CollectiveSchedule frame{.collective = spec.collective};
  const std::int32_t block = pieces_per_block(spec);
  frame.pieces = it.whole_buffer ? spec.chunks : collective_schedule_rank_count(spec) * block;
  frame.input_pieces = spec.collective == CollectiveOperation::kAllGather ? block : frame.pieces;
  frame.output_pieces =
      spec.collective == CollectiveOperation::kReduceScatter ? block : frame.pieces;
  if (it.scratch != nullptr) frame.scratch_pieces = it.scratch(spec);
  return frame;
}

RankCollectiveSchedule generate_rank_schedule(const CollectiveScheduleSpec& spec,
                                              std::int32_t rank) {
  return definition_of(spec.method).rank(spec, rank);
}

CollectiveSchedule generate_collective_schedule(const CollectiveScheduleSpec& spec) {
  CollectiveSchedule schedule = empty_collective_schedule(spec);
  const std::int32_t ranks = collective_schedule_rank_count(spec);
  schedule.ranks.reserve(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    schedule.ranks.push_back(generate_rank_schedule(spec, rank));
  }
  return schedule;
}

}  // namespace stepwright::collective
