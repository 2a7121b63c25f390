#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright {

// Readers of single values of job and plan files. All fail with `kInput` naming the place, the
// value and what is allowed, and with `kUnsupported` for what the schema knows and nothing covers.

/// Most elements of a bucket, sequences of a batch, and tokens of a sequence.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

/// Remarks for people, collected while reading.
using Notes = std::vector<std::string>;

/// A degree of parallelism, micro-batch or chunk count.
std::int64_t read_degree(Node node);
/// Elements of a bucket.
std::int64_t read_bucket(Node node);
/// true | false.
bool read_flag(Node node);
/// keep | regather.
TensorInput read_tensor_input(Node node);
/// ring | all-gather | ulysses.
ContextKind read_context_kind(Node node);
/// A sharding group; `kNodeGroup` for `node`.
std::int64_t read_group(Node node);
/// `gpipe`, `1f1b`, `interleaved`.
ScheduleKind read_schedule_kind(Node node);
/// Fails unless strands are 1.
void read_strands(Node node);
/// "IIG" or an alias, groups left at 1. An alias that is only the nearest leaves a note.
Sharding read_states(Node node, Notes& notes);
/// none | selective | full | {every: n}.
Recompute read_recompute(Node node);
/// true | false | {gradients: true, ...}; what a mapping leaves out has its default.
Overlap read_overlap(Node node);
/// {data: ring | two-level | ho-ring}; the other groups can only be ring.
Algorithm read_collectives(Node node);
/// "tp-cp-ep-dp-pp".
RankOrder read_rank_order(Node node);
/// even | [40, 40]; empty for even.
std::vector<std::int64_t> read_layers(Node node);
/// fp64, fp32, fp16, bf16.
DType read_accumulate(Node node);
/// Fails unless nothing is offloaded: false, none, or a mapping of those.
void read_offload(Node node);

/// Fails when a mapping has a key that is in none of the lists.
void allow_keys(Node node, std::initializer_list<std::span<const std::string_view>> lists);

/// Fails when a word is not among those known, naming them and the nearest.
[[noreturn]] void fail_unknown_word(Node node, std::span<const std::string_view> known);

inline constexpr std::string_view kJobFileKeys[] = {"stepwright"};
inline constexpr std::string_view kPlanFileKeys[] = {"stepwright", "job"};

/// Keys of a plan beside `stepwright` and `job`; in a job they fix dimensions.
inline constexpr std::string_view kPlanKeys[] = {
    "parallel",    "layers",   "sequence_parallel", "tensor_input", "context_kind",
    "micro_batch", "schedule", "sharding",          "recompute",    "accumulate",
    "buckets",     "overlap",  "collectives",       "rank_order",   "offload"};

/// Keys of a job beside `stepwright` and those of a plan.
inline constexpr std::string_view kJobKeys[] = {
    "model",   "cluster", "batch",      "precision",  "optimizer", "framework",
    "kernels", "dropout", "routing",    "dispatcher", "imbalance", "objective",
    "packed",  "search",  "conditions", "measured"};

/// Keys of the mapping `parallel`.
inline constexpr std::string_view kDegreeKeys[] = {"tensor", "pipeline",      "context",
                                                   "expert", "expert_tensor", "data"};

/// Fails unless `stepwright` is the kind and version of file that is read ("job/1").
void check_version(Node root, std::string_view version);

/// Reads the mapping of a job; `stepwright` may stand in it.
Job read_job_mapping(Node node, const std::filesystem::path& directory);

/// Reads the dimensions of a job: `search` and the keys of a plan, each a value or a list.
Space read_space(Node job, Notes& notes);

}  // namespace stepwright
