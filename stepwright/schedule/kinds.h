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

/// Properties of a kind of pipeline schedule, and what it demands of a plan.
struct PipelineScheduleTraits {
  ModelChunkPlacementKind placement = ModelChunkPlacementKind::kCyclic;
  std::int64_t least_chunks = 1;  ///< Least number of chunks per pipeline rank.
  std::int64_t most_chunks = 1;
  /// True if pipeline ranks need at least two chunks each, except a single rank, which has one.
  bool several_apart = false;
  bool alone = true;   ///< True if the schedule also works for a pipeline of one rank.
  bool pairs = false;  ///< True if a forward overlaps a backward at some times.
  /// True if a forward also overlaps data gradients alone, or weight gradients alone.
  bool braids = false;
  /// True if micro-batches pass through the chunks of a pipeline rank in groups: the whole group
  /// through one chunk before the next (`groups.h`).
  bool groups = false;
  bool even = false;  ///< True if the numbers of pipeline ranks and of micro-batches must be even.
  /// Smallest allowed number of micro-batches, divided by the number of pipeline ranks.
  std::int64_t least_rounds = 0;
  /// True if each pipeline rank holds a part of the vocabulary tables (embedding and head).
  bool spreads_vocabulary = false;
  /// With `spreads_vocabulary`: how often all pipeline ranks wait for each other between the last
  /// rank's forward and its backward, while they run passes over the vocabulary on their own; 0:
  /// all pipeline ranks do the vocabulary's work at the same time.
  std::int64_t barriers = 0;
  /// True if the order of work is searched for, using the seconds of a plan's chunks.
  bool found = false;
  bool runs = true;  ///< True if a plan may use the schedule; false: it exists only for studies.
};

/// Value of `most_chunks` for a schedule that allows as many chunks as there are layers.
inline constexpr std::int64_t kUnlimitedChunks = std::int64_t{1} << 30;

/// One pipeline rank and sizes of its pipeline: input of a function that writes its schedule.
struct PipelinePositionSizes {
  std::int64_t stages = 1;
  std::int64_t position = 0;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 1;  ///< Number of chunks per pipeline rank.
  /// Number of micro-batches in a group; 0: the smallest legal group (`min_group_size`).
  std::int64_t group = 0;

  /// Returns the number of pipeline ranks after this one.
  [[nodiscard]] std::int64_t pipeline_positions_after_this() const { return stages - 1 - position; }
  /// Returns the number of micro-batches that pass through a chunk before the next chunk starts.
  [[nodiscard]] std::int64_t micro_batch_group_size() const {
    return group > 0 ? group : min_group_size(stages, micro_batches);
  }
};

/// Everything about one kind of pipeline schedule; each file in `kinds/` defines one.
struct PipelineScheduleDefinition {
  std::string_view text;  ///< Text that describes the schedule for users, in plain words.
  PipelineScheduleTraits traits = {};
  /// Returns the turns (entries of the schedule) of a pipeline rank in order; nullptr if the order
  /// is searched for. All other properties of the schedule follow from these turns (`facts.h`).
  Turns (*turns)(const PipelinePositionSizes&) = nullptr;
  /// Formulas for the seconds of the schedule and for how many micro-batches wait, for pipeline
  /// ranks that take different times; faster than simulation.
  PipelineClosedForms form = {};
  /// Returns the seconds of a pipeline whose ranks all take equally long; nullopt if the schedule
  /// has no closed form for these sizes.
  std::optional<double> (*uniform_s)(const UniformPipeline&) = nullptr;
};

namespace kinds {
extern const PipelineScheduleDefinition kGpipe, kOneForwardOneBackward, kInterleaved, kZeroBubbleH1,
    kZeroBubbleH2, kZeroBubbleV, kVHalf, kVMin, kFolded, kDualPipe, kDualPipeV, kPaired, kStp,
    kSpreadVocabulary, kVocabularyOne, kVocabularyTwo, kAuto;
}  // namespace kinds

/// A kind of pipeline schedule, its name in files, and its definition.
struct PipelineScheduleKindRow {
  PipelineScheduleKind kind;
  std::string_view name;
  const PipelineScheduleDefinition* definition;
};
inline constexpr PipelineScheduleKindRow kScheduleRows[] = {
    {PipelineScheduleKind::kGpipe, "gpipe", &kinds::kGpipe},
    {PipelineScheduleKind::kOneForwardOneBackward, "1f1b", &kinds::kOneForwardOneBackward},
    {PipelineScheduleKind::kInterleaved, "interleaved", &kinds::kInterleaved},
    {PipelineScheduleKind::kZeroBubbleH1, "zb-h1", &kinds::kZeroBubbleH1},
    {PipelineScheduleKind::kZeroBubbleH2, "zb-h2", &kinds::kZeroBubbleH2},
    {PipelineScheduleKind::kZeroBubbleV, "zb-v", &kinds::kZeroBubbleV},
    {PipelineScheduleKind::kVHalf, "v-half", &kinds::kVHalf},
    {PipelineScheduleKind::kVMin, "v-min", &kinds::kVMin},
    {PipelineScheduleKind::kFolded, "folded", &kinds::kFolded},
    {PipelineScheduleKind::kDualPipe, "dualpipe", &kinds::kDualPipe},
    {PipelineScheduleKind::kDualPipeV, "dualpipev", &kinds::kDualPipeV},
    {PipelineScheduleKind::kPaired, "paired", &kinds::kPaired},
    {PipelineScheduleKind::kStp, "stp", &kinds::kStp},
    {PipelineScheduleKind::kSpreadVocabulary, "1f1b-vocab", &kinds::kSpreadVocabulary},
    {PipelineScheduleKind::kVocabularyOne, "vocab-1", &kinds::kVocabularyOne},
    {PipelineScheduleKind::kVocabularyTwo, "vocab-2", &kinds::kVocabularyTwo},
    {PipelineScheduleKind::kAuto, "auto", &kinds::kAuto}};

template <class Rows>
struct ScheduleNames;
template <std::size_t... kRow>
struct ScheduleNames<std::index_sequence<kRow...>> {
  static constexpr Named<PipelineScheduleKind> kNames[] = {
      {kScheduleRows[kRow].kind, kScheduleRows[kRow].name}...};
};
/// Names of the kinds of pipeline schedules in files, in the order of `PipelineScheduleKind`.
inline constexpr auto& kScheduleKindNames =
    ScheduleNames<std::make_index_sequence<std::size(kScheduleRows)>>::kNames;

inline const PipelineScheduleDefinition& definition_of(PipelineScheduleKind kind) {
  return *kScheduleRows[static_cast<std::size_t>(kind)].definition;
}
inline const PipelineScheduleTraits& traits_of(PipelineScheduleKind kind) {
  return definition_of(kind).traits;
}

/// True if the seconds of a schedule kind are known in closed form even if pipeline ranks take
/// different times.
inline bool has_closed_form_schedule_time(PipelineScheduleKind kind) {
  return definition_of(kind).form.seconds != nullptr;
}

/// Returns the closed-form seconds of a schedule kind on a pipeline whose ranks all take equally
/// long; nullopt if there is no closed form for that pipeline (docs/algorithms.md).
std::optional<double> schedule_closed_form_s(PipelineScheduleKind kind,
                                             const UniformPipeline& pipeline);

/// Least and largest number of chunks per pipeline rank that a schedule kind supports on
/// `positions` ranks.
struct ChunksPerPositionRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
};
ChunksPerPositionRange chunk_range(PipelineScheduleKind kind, std::int64_t positions);

/// True if a schedule kind has a fixed order of work without passes over the vocabulary and may be
/// used by plans: one of those that `auto` may choose.
inline bool is_fixed_order_kind(PipelineScheduleKind kind) {
  const PipelineScheduleTraits& traits = traits_of(kind);
  return traits.runs && !traits.found && !traits.spreads_vocabulary;
}

/// True if a schedule kind supports several numbers of chunks.
inline bool supports_several_chunk_counts(PipelineScheduleKind kind) {
  return traits_of(kind).most_chunks > traits_of(kind).least_chunks;
}
/// Returns the numbers of chunks per pipeline rank to try for a schedule kind: `listed` if the kind
/// supports several, else its only number.
std::vector<std::int64_t> model_chunk_counts_to_try(PipelineScheduleKind kind,
                                                    const std::vector<std::int64_t>& listed);
/// Returns the numbers of micro-batches that run at the same time (strands) to try for a schedule
/// kind: `listed` if it overlaps a forward with a backward, else only 1.
std::vector<std::int64_t> micro_batch_stream_counts_to_try(PipelineScheduleKind kind,
                                                           const std::vector<std::int64_t>& listed);

}  // namespace stepwright::schedule
