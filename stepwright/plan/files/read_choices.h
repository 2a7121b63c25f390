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

/// Versions of job and plan files: words that changed their meaning are read as what they meant.
enum class FileVersion : std::uint8_t { kOne = 1, kTwo = 2 };

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
std::int64_t read_nanoseconds(Node node);
/// Fails unless strands are 1 or 2.
std::int64_t read_strands(Node node);
/// "IIG" or an alias, groups left at 1. An alias that is only the nearest leaves a note.
Sharding read_states(Node node, Notes& notes);
/// none | selective | full | {every: n}.
Recompute read_recompute(Node node);
/// true | false | {gradients: true, ...}; what a mapping leaves out is as in `usual`.
Overlap read_overlap(Node node, const Overlap& usual);
/// The same with `Overlap`.
Overlap read_overlap_alone(Node node);
/// A word of `kAlgorithmNames`.
Algorithm read_algorithm(Node node);
/// {tensor: nvls, data: ho-ring, ...}; what a mapping leaves out is `library`, the pipeline always.
Collectives read_collectives(Node node, FileVersion version);
/// Fails unless the algorithm of the pipeline is the library's, or nothing is said of it.
void read_pipeline_algorithm(Node collectives, FileVersion version);
/// In files of version 1 `ring` stands for what the library would choose.
Algorithm as_meant(Algorithm algorithm, FileVersion version);
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

/// Keys of the mapping `collectives`.
inline constexpr std::string_view kCollectiveKeys[] = {"data", "tensor", "context", "expert",
                                                       "pipeline"};

/// Fails unless `stepwright` is the kind and version of file that is read ("training/1").
void check_version(Node root, std::string_view version);
/// The version of a file of that kind ("job"), which `stepwright` names ("job/2"); fails for other
/// kinds and versions.
FileVersion read_version(Node root, std::string_view kind);

/// Reads the mapping of a job in the words of a version, unless one of its own stands in it.
Job read_job_mapping(Node node, const std::filesystem::path& directory, FileVersion version);

/// Reads the dimensions of a job: `search` and the keys of a plan, each a value or a list.
Space read_space(Node job, FileVersion version, Notes& notes);

}  // namespace stepwright
