#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/named.h"
#include "stepwright/schedule/closed_form.h"
#include "stepwright/schedule/groups.h"
#include "stepwright/schedule/placement.h"
#include "stepwright/schedule/schedule_kind.h"
#include "stepwright/schedule/turns.h"

namespace stepwright::schedule {

/// The demands of a kind of schedule on a plan.
struct ScheduleTraits {
  PlacementKind placement = PlacementKind::kCyclic;
  std::int64_t least_chunks = 1;  ///< Least chunks of a position.
  std::int64_t most_chunks = 1;
  bool several_apart = false;       ///< One chunk on one position, at least two on each of several.
  bool alone = true;                ///< Works on a single position, too.
  bool pairs = false;               ///< Has turns in which a forward stands beside a backward.
  bool braids = false;              ///< Pairs a forward with data or weight gradients alone, too.
  bool groups = false;              ///< Micro-batches come in groups (`groups.h`).
  bool even = false;                ///< Positions are an even number, and so are micro-batches.
  std::int64_t least_rounds = 0;    ///< Least number of rounds: micro-batches over positions.
  bool spreads_vocabulary = false;  ///< Each position has a part of the tables.
  /// If `spreads_vocabulary`: how often all positions wait for the last of them between a forward
  /// of the last position and its backward, in passes of their own (`is_pass`); 0: they meet
  /// (`is_joint`).
  std::int64_t barriers = 0;
  bool found = false;  ///< True if its order is searched for, from the seconds of a plan's parts.
  bool runs = true;    ///< A plan may name it; else it is only studied.
};

/// The mark of as many chunks as layers allow.
inline constexpr std::int64_t kAnyChunks = std::int64_t{1} << 30;

/// One position of a pipeline, as a generator of turns sees it.
struct PipelineSize {
  std::int64_t stages = 1;
  std::int64_t position = 0;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 1;  ///< Chunks of each position.
  std::int64_t group = 0;   ///< Micro-batches of a group; 0: `least_group`.

  /// Positions between this one and the last.
  [[nodiscard]] std::int64_t behind() const { return stages - 1 - position; }
  /// Micro-batches that a chunk takes before the next one does.
  [[nodiscard]] std::int64_t grouped() const {
    return group > 0 ? group : least_group(stages, micro_batches);
  }
};

/// All that a schedule is: what its file in `kinds/` defines.
struct ScheduleDefinition {
  std::string_view text;  ///< Description in a person's words.
  ScheduleTraits traits = {};
  /// The order in which a position works; none where it is found. All else that a schedule implies
  /// follows from these turns (`facts.h`); closed forms say nothing that they do not.
  Turns (*turns)(const PipelineSize&) = nullptr;
  /// Closed forms for positions of any length, which save the pricer from playing.
  PipelineForm form = {};
  /// Seconds where all positions take as long; nothing where the form does not hold.
  std::optional<double> (*uniform_s)(const UniformPipeline&) = nullptr;
};

namespace kinds {
extern const ScheduleDefinition kGpipe, kOneForwardOneBackward, kInterleaved, kZeroBubbleH1,
    kZeroBubbleH2, kZeroBubbleV, kVHalf, kVMin, kFolded, kDualPipe, kDualPipeV, kPaired, kStp,
    kSpreadVocabulary, kVocabularyOne, kVocabularyTwo, kAuto;
}  // namespace kinds

/// A schedule, its word in files, and what defines it.
struct ScheduleRow {
  ScheduleKind kind;
  std::string_view name;
  const ScheduleDefinition* definition;
};
inline constexpr ScheduleRow kScheduleRows[] = {
    {ScheduleKind::kGpipe, "gpipe", &kinds::kGpipe},
    {ScheduleKind::kOneForwardOneBackward, "1f1b", &kinds::kOneForwardOneBackward},
    {ScheduleKind::kInterleaved, "interleaved", &kinds::kInterleaved},
    {ScheduleKind::kZeroBubbleH1, "zb-h1", &kinds::kZeroBubbleH1},
    {ScheduleKind::kZeroBubbleH2, "zb-h2", &kinds::kZeroBubbleH2},
    {ScheduleKind::kZeroBubbleV, "zb-v", &kinds::kZeroBubbleV},
    {ScheduleKind::kVHalf, "v-half", &kinds::kVHalf},
    {ScheduleKind::kVMin, "v-min", &kinds::kVMin},
    {ScheduleKind::kFolded, "folded", &kinds::kFolded},
    {ScheduleKind::kDualPipe, "dualpipe", &kinds::kDualPipe},
    {ScheduleKind::kDualPipeV, "dualpipev", &kinds::kDualPipeV},
    {ScheduleKind::kPaired, "paired", &kinds::kPaired},
    {ScheduleKind::kStp, "stp", &kinds::kStp},
    {ScheduleKind::kSpreadVocabulary, "1f1b-vocab", &kinds::kSpreadVocabulary},
    {ScheduleKind::kVocabularyOne, "vocab-1", &kinds::kVocabularyOne},
    {ScheduleKind::kVocabularyTwo, "vocab-2", &kinds::kVocabularyTwo},
    {ScheduleKind::kAuto, "auto", &kinds::kAuto}};

template <class Rows>
struct ScheduleNames;
template <std::size_t... kRow>
struct ScheduleNames<std::index_sequence<kRow...>> {
  static constexpr Named<ScheduleKind> kNames[] = {
      {kScheduleRows[kRow].kind, kScheduleRows[kRow].name}...};
};
/// The words alone, in the order of the enumerators.
inline constexpr auto& kScheduleNames =
    ScheduleNames<std::make_index_sequence<std::size(kScheduleRows)>>::kNames;

inline const ScheduleDefinition& definition_of(ScheduleKind kind) {
  return *kScheduleRows[static_cast<std::size_t>(kind)].definition;
}
inline const ScheduleTraits& traits_of(ScheduleKind kind) { return definition_of(kind).traits; }

/// Whether a kind of schedule has closed forms for positions of any length.
inline bool has_closed_form(ScheduleKind kind) {
  return definition_of(kind).form.seconds != nullptr;
}

/// Seconds of a pipeline whose positions all take as long, by a schedule of this kind; nothing
/// where it has no closed form there (docs/algorithms.md).
std::optional<double> closed_form_s(ScheduleKind kind, const UniformPipeline& pipeline);

/// Chunks of a position that a kind of schedule works with on so many positions.
struct ChunkRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
};
ChunkRange chunk_range(ScheduleKind kind, std::int64_t positions);

/// Whether a kind of schedule is an order of layers that has a name: what `auto` stands for.
inline bool is_named_order(ScheduleKind kind) {
  const ScheduleTraits& traits = traits_of(kind);
  return traits.runs && !traits.found && !traits.spreads_vocabulary;
}

/// Whether a kind of schedule works with several numbers of chunks.
inline bool has_chunk_choice(ScheduleKind kind) {
  return traits_of(kind).most_chunks > traits_of(kind).least_chunks;
}
/// The numbers of `listed` where there is a choice, else the one number.
std::vector<std::int64_t> chunks_of(ScheduleKind kind, const std::vector<std::int64_t>& listed);
/// The numbers of `listed` where a forward stands beside a backward, else one.
std::vector<std::int64_t> strands_of(ScheduleKind kind, const std::vector<std::int64_t>& listed);

}  // namespace stepwright::schedule
