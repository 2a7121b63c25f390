#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

// Readers of single values of job and plan files. All fail with `kInput` naming the place, the
// value and what is allowed, and with `kUnsupported` for what the schema knows and nothing covers.

/// Most elements of a bucket, sequences of a batch, and tokens of a sequence.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

/// Versions of job and plan files: words that changed their meaning are read as what they meant.
enum class FileVersion : std::uint8_t { kOne = 1, kTwo = 2 };

/// Remarks for people, collected while reading.
using Notes = std::vector<std::string>;

/// The job in whose words a file is read, and the list of remarks.
struct Reading {
  FileVersion version;
  Notes& notes;
};

/// A degree of parallelism, micro-batch or chunk count.
std::int64_t read_degree(Node node);
/// Elements of a bucket.
std::int64_t read_bucket(Node node);
/// Reads `true` or `false`.
bool read_flag(Node node);
/// A sharding group; `kNodeGroup` for `node`.
std::int64_t read_group(Node node);
/// Reads the name of a schedule: `gpipe`, `1f1b`, `interleaved`, ...
schedule::ScheduleKind read_schedule_kind(Node node);
std::int64_t read_nanoseconds(Node node);
/// Fails unless strands are 1 or 2.
std::int64_t read_strands(Node node);
/// "IIG" or an alias, groups left at 1. An alias that is only the nearest leaves a note.
Sharding read_states(Node node, const Reading& reading);
/// none | selective | full | {every: n} | {modules: [...], every: n, stages: {0: ...}}.
Recompute read_recompute(Node node);
/// true | false | {gradients: true, ...}; what a mapping leaves out is as in `usual`.
Overlap read_overlap(Node node, const Overlap& usual);
/// Reads the overlaps of a plan of which nothing else is known.
Overlap read_overlap_alone(Node node);
/// A word of `kAlgorithmNames`; in files of version 1 `ring` stands for what the library would
/// choose.
collective::Algorithm read_algorithm(Node node, const Reading& reading);
/// Fails unless the algorithm of the pipeline is the library's, or nothing is said of it.
void read_pipeline_algorithm(Node collectives, const Reading& reading);
/// Reads an order of ranks, as "tp-cp-ep-dp-pp".
RankOrder read_rank_order(Node node);
/// even | [40, 40]; empty for even.
std::vector<std::int64_t> read_layers(Node node);
inline constexpr Named<DType> kAccumulateNames[] = {
    {DType::kFp64, "fp64"}, {DType::kFp32, "fp32"}, {DType::kFp16, "fp16"}, {DType::kBf16, "bf16"}};
/// A list of words of `kOffloadModuleNames`; none for `false` and `none`.
OffloadModules read_offload_modules(Node node);
/// A share from 0 to 1; 0 for `false` and `none`.
double read_share(Node node);
/// Fails where `offload` is neither `false`, `none` nor a mapping of these parts.
void check_offload(Node node, std::span<const std::string_view> parts);

/// Fails when a mapping has a key that is in none of the lists.
void allow_keys(Node node, std::initializer_list<std::span<const std::string_view>> lists);

/// The value of a node, which fails with `kInput` where it is 0.
double above_zero(Node node, double value);

/// Fails when a word is not among those known, naming them and the nearest.
[[noreturn]] void fail_unknown_word(Node node, std::span<const std::string_view> known);

inline constexpr std::string_view kJobFileKeys[] = {"stepwright"};
inline constexpr std::string_view kPlanFileKeys[] = {"stepwright", "job"};

/// Keys of a plan beside `stepwright` and `job`, in the order of files; in a job they fix
/// dimensions.
inline constexpr std::string_view kPlanKeys[] = {
    "parallel",    "layers",   "sequence_parallel", "tensor_input", "context_kind",
    "micro_batch", "schedule", "sharding",          "recompute",    "accumulate",
    "buckets",     "overlap",  "collectives",       "rank_order",   "offload"};
/// The node in which a file states a choice ("schedule.chunks"), if it does. A schedule or a
/// sharding may be its first part alone.
std::optional<Node> find_choice(Node file, std::string_view place);
/// Fails where a mapping of a plan ("parallel") has other keys than its parts and `of_schedule`,
/// and where `offload` is none.
void check_parts(Node file, std::span<const std::string_view> of_schedule = {});

/// Fails where a degree of `parallel` stands beside it in a job or a plan, saying where it belongs,
/// and in a plan a key of its job.
void check_places(Node file, std::span<const std::string_view> of_job = {});

/// Keys of a job beside `stepwright` and those of a plan.
inline constexpr std::string_view kJobKeys[] = {
    "model",   "cluster", "batch",        "precision",       "optimizer",      "framework",
    "kernels", "dropout", "routing",      "dispatcher",      "imbalance",      "objective",
    "packed",  "search",  "conditions",   "measured",        "adapters",       "frozen",
    "run",     "muon",    "host_threads", "capacity_factor", "pad_to_capacity"};

/// Fails unless `stepwright` is the kind and version of file that is read ("training/1").
void check_version(Node root, std::string_view version);
/// The version of a file of that kind ("job"), which `stepwright` names ("job/2"); fails for other
/// kinds and versions.
FileVersion read_version(Node root, std::string_view kind);

/// Fails with `kInput` naming all of the keys that a mapping lacks.
void require_keys(Node node, std::initializer_list<std::string_view> keys);

}  // namespace stepwright::plan
