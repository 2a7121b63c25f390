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

// Readers of single values in job and plan files. All fail with `kInput`, naming the place, the
// value and what is allowed, or with `kUnsupported` for a value that the schema knows but no code
// covers.

/// Upper limit of the elements of a bucket, of the sequences of a batch, and of the tokens of a
/// sequence.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

/// Versions of job and plan files. In an older version, words that have changed since are read with
/// their old meaning.
enum class FileVersion : std::uint8_t { kOne = 1, kTwo = 2 };

/// Notes for users, collected while a file is read.
using Notes = std::vector<std::string>;

/// The version of the file that is read, and the list of notes for users.
struct Reading {
  FileVersion version;
  Notes& notes;
};

/// Reads a degree of parallelism, a micro-batch size or a number of chunks.
std::int64_t read_degree(Node node);
/// Reads the number of elements of a bucket.
std::int64_t read_bucket(Node node);
/// Reads `true` or `false`.
bool read_flag(Node node);
/// Reads the size of a sharding group; `kNodeGroup` for the word `node`.
std::int64_t read_group(Node node);
/// Reads the name of a schedule: `gpipe`, `1f1b`, `interleaved`, ...
schedule::ScheduleKind read_schedule_kind(Node node);
std::int64_t read_nanoseconds(Node node);
/// Reads the number of strands; fails unless it is 1 or 2.
std::int64_t read_strands(Node node);
/// Reads a sharding as "IIG" or an alias; group sizes stay 1. An alias that has no exact equivalent
/// adds a note.
Sharding read_states(Node node, const Reading& reading);
/// Reads none | selective | full | {every: n} | {modules: [...], every: n, stages: {0: ...}}.
Recompute read_recompute(Node node);
/// Reads true | false | {gradients: true, ...}; flags that a mapping leaves out are as in `usual`.
Overlap read_overlap(Node node, const Overlap& usual);
/// Reads the overlap of a plan on its own; flags that a mapping leaves out have their defaults.
Overlap read_overlap_alone(Node node);
/// Reads a word of `kAlgorithmNames`; in files of version 1, `ring` means the library's own choice.
collective::Algorithm read_algorithm(Node node, const Reading& reading);
/// Fails if `collectives` names an algorithm for the pipeline other than the library's.
void read_pipeline_algorithm(Node collectives, const Reading& reading);
/// Reads an order of ranks, as "tp-cp-ep-dp-pp".
RankOrder read_rank_order(Node node);
/// Reads even | [40, 40], the layers of each chunk; empty for even.
std::vector<std::int64_t> read_layers(Node node);
inline constexpr Named<DType> kAccumulateNames[] = {
    {DType::kFp64, "fp64"}, {DType::kFp32, "fp32"}, {DType::kFp16, "fp16"}, {DType::kBf16, "bf16"}};
/// Reads a list of words of `kOffloadModuleNames`; empty for `false` and `none`.
OffloadModules read_offload_modules(Node node);
/// Reads a share from 0 to 1; 0 for `false` and `none`.
double read_share(Node node);
/// Fails if `offload` is neither `false`, `none` nor a mapping with only the keys `parts`.
void check_offload(Node node, std::span<const std::string_view> parts);

/// Fails if a mapping has a key that none of the lists contains.
void allow_keys(Node node, std::initializer_list<std::span<const std::string_view>> lists);

/// Returns `value`, the number of `node`; fails with `kInput` if it is 0.
double require_above_zero(Node node, double value);

/// Fails because a word is unknown; the message lists the known words and the nearest one.
[[noreturn]] void fail_unknown_word(Node node, std::span<const std::string_view> known);

inline constexpr std::string_view kJobFileKeys[] = {"stepwright"};
inline constexpr std::string_view kPlanFileKeys[] = {"stepwright", "job"};

/// Keys of a plan file besides `stepwright` and `job`, in the order of files; in a job file they
/// fix dimensions of the search.
inline constexpr std::string_view kPlanKeys[] = {
    "parallel",    "layers",   "sequence_parallel", "tensor_input", "context_kind",
    "micro_batch", "schedule", "sharding",          "recompute",    "accumulate",
    "buckets",     "overlap",  "collectives",       "rank_order",   "offload"};
/// Returns the node in which a file states a choice ("schedule.chunks"); nullopt if absent. A
/// schedule or a sharding may be written as one word, its first key alone.
std::optional<Node> find_choice(Node file, std::string_view place);
/// Fails if a mapping of a plan ("parallel") has a key that is not a choice in it or in
/// `of_schedule`, or if `offload` is not a valid mapping.
void check_parts(Node file, std::span<const std::string_view> of_schedule = {});

/// Fails if a degree of `parallel` is written outside it in a job or a plan, or if a plan contains
/// a key of its job; the message says where the key belongs.
void check_places(Node file, std::span<const std::string_view> of_job = {});

/// Keys of a job file besides `stepwright` and the keys of a plan.
inline constexpr std::string_view kJobKeys[] = {
    "model",   "cluster", "batch",        "precision",       "optimizer",      "framework",
    "kernels", "dropout", "routing",      "dispatcher",      "imbalance",      "objective",
    "packed",  "search",  "conditions",   "measured",        "adapters",       "frozen",
    "run",     "muon",    "host_threads", "capacity_factor", "pad_to_capacity"};

/// Fails unless the key `stepwright` names the expected kind and version of file ("training/1").
void check_version(Node root, std::string_view version);
/// Returns the version of a file of the kind `kind` ("job"), from its key `stepwright` ("job/2");
/// fails for other kinds and versions.
FileVersion read_version(Node root, std::string_view kind);

/// Fails with `kInput` if keys are missing in a mapping, naming all of them.
void require_keys(Node node, std::initializer_list<std::string_view> keys);

}  // namespace stepwright::plan
