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

/// Largest allowed number of elements in a bucket, sequences in a batch, or tokens in a sequence.
inline constexpr std::int64_t kMaxPlanFileCount = std::int64_t{1} << 40;

/// Versions of job and plan files. In a file of an older version, words whose meaning has changed
/// since keep their old meaning.
enum class PlanFileVersion : std::uint8_t { kOne = 1, kTwo = 2 };

/// Messages for the user that a reader collects while it reads a file.
using Notes = std::vector<std::string>;

/// State of reading one job or plan file: its version, and the notes for the user so far.
struct PlanFileReading {
  PlanFileVersion version;
  Notes& notes;
};

/// Reads a positive whole number: a degree of parallelism, a micro-batch size or a number of
/// chunks.
std::int64_t read_positive_number(DocumentNode node);
/// Reads the size of a gradient or parameter bucket, in elements.
std::int64_t read_bucket_size(DocumentNode node);
/// Reads `true` or `false`.
bool read_flag(DocumentNode node);
/// Reads a sharding group's number of ranks; `kNodeSizedShardingGroup` for the word `node`.
std::int64_t read_sharding_group(DocumentNode node);
/// Reads the name of a schedule: `gpipe`, `1f1b`, `interleaved`, ...
schedule::PipelineScheduleKind read_schedule_kind(DocumentNode node);
std::int64_t read_nanoseconds(DocumentNode node);
/// Reads the number of micro-batch streams that a schedule runs side by side (`strands`); fails
/// unless it is 1 or 2.
std::int64_t read_micro_batch_stream_count(DocumentNode node);
/// Reads how model states are sharded: three letters for parameters, gradients and optimizer (N:
/// not sharded, I: within a group of ranks, G: over all ranks; "IIG"), or an alias ("zero3").
/// Leaves the sizes of groups at 1. Adds a note for an alias without exact equivalent.
Sharding read_state_sharding(DocumentNode node, const PlanFileReading& reading);
/// Reads the recomputation of a plan: none | selective | full | {every: n} | {modules: [...],
/// every: n, stages: {0: ...}}.
ActivationRecomputation read_recompute(DocumentNode node);
/// Reads which messages overlap computation: true | false | {gradients: true, ...}. Flags that a
/// mapping leaves out are as in `usual`.
OverlapFlags read_overlap_flags(DocumentNode node, const OverlapFlags& usual);
/// Reads which messages overlap computation; flags that a mapping leaves out have their defaults.
OverlapFlags read_overlap_flags_or_defaults(DocumentNode node);
/// Reads a collective algorithm, one of `kCollectiveAlgorithmNames`. In files of version 1, `ring`
/// means that the library chooses.
collective::CollectiveAlgorithm read_collective_algorithm(DocumentNode node,
                                                          const PlanFileReading& reading);
/// Fails if the mapping `collectives` names an algorithm for pipeline messages, which only the
/// library can send.
void reject_pipeline_algorithm(DocumentNode collectives, const PlanFileReading& reading);
/// Reads the order of parallelism axes on ranks, the fastest first: "tp-cp-ep-dp-pp".
RankOrder read_rank_order(DocumentNode node);
/// Reads the number of layers of each pipeline chunk: a list ([40, 40]), or the word `even`,
/// returned as an empty list.
std::vector<std::int64_t> read_chunk_layers(DocumentNode node);
inline constexpr Named<DType> kAccumulateNames[] = {
    {DType::kFp64, "fp64"}, {DType::kFp32, "fp32"}, {DType::kFp16, "fp16"}, {DType::kBf16, "bf16"}};
/// Reads the modules whose activations are offloaded to the host, a list of `kOffloadModuleNames`;
/// empty for `false` and `none`.
OffloadModuleSet read_offload_modules(DocumentNode node);
/// Reads a share from 0 to 1; returns 0 for `false` and `none`.
double read_share_or_none(DocumentNode node);
/// Fails unless the value of `offload` is `false`, `none`, or a mapping with no keys except
/// `parts`.
void check_offload_value(DocumentNode node, std::span<const std::string_view> parts);

/// Fails if a mapping has a key that is in none of the lists.
void check_allowed_keys(DocumentNode node,
                        std::initializer_list<std::span<const std::string_view>> lists);

/// Returns `value`, which was read from `node`; fails with `kInput` if it is 0.
double require_positive_value(DocumentNode node, double value);

/// Throws the error about an unknown word at `node`, with the nearest and all known words.
[[noreturn]] void fail_unknown_word(DocumentNode node, std::span<const std::string_view> known);

inline constexpr std::string_view kJobFileKeys[] = {"stepwright"};
inline constexpr std::string_view kPlanFileKeys[] = {"stepwright", "job"};

/// Keys of a plan file, in order, without `stepwright` and `job`. In a job file, the same keys fix
/// choices that the search would make.
inline constexpr std::string_view kAllPlanFileKeys[] = {
    "parallel",    "layers",   "sequence_parallel", "tensor_input", "context_kind",
    "micro_batch", "schedule", "sharding",          "recompute",    "accumulate",
    "buckets",     "overlap",  "collectives",       "rank_order",   "offload"};
/// Returns the node of a file at the path of a choice ("schedule.chunks"); nullopt if absent. A
/// schedule or a sharding may be a single word, which stands for its first key.
std::optional<DocumentNode> find_choice_node(DocumentNode file, std::string_view place);
/// Fails if a mapping of a plan ("parallel") has a key that is neither a choice in that mapping nor
/// in `of_schedule`, or if `offload` is not valid.
void check_plan_part_keys(DocumentNode file, std::span<const std::string_view> of_schedule = {});

/// Fails if a key is in the wrong place, and says where it belongs: a degree outside `parallel`, or
/// a key of the job (`of_job`) in a plan.
void check_plan_key_places(DocumentNode file, std::span<const std::string_view> of_job = {});

/// Keys of a job file, without `stepwright` and the keys that it shares with plan files.
inline constexpr std::string_view kJobFileOnlyKeys[] = {
    "model",   "cluster", "batch",        "precision",       "optimizer",      "framework",
    "kernels", "dropout", "routing",      "dispatcher",      "imbalance",      "objective",
    "packed",  "search",  "conditions",   "measured",        "adapters",       "frozen",
    "run",     "muon",    "host_threads", "capacity_factor", "pad_to_capacity"};

/// Fails unless a file's key `stepwright` has exactly this kind and version ("training/1").
void check_file_version(DocumentNode root, std::string_view version);
/// Returns the version in a file's key `stepwright` ("job/2"); fails if it is of another kind than
/// `kind` ("job") or of an unknown version.
PlanFileVersion read_stepwright_file_version(DocumentNode root, std::string_view kind);

/// Fails with `kInput` if a mapping lacks any of the keys; the message names all missing ones.
void require_mapping_keys(DocumentNode node, std::initializer_list<std::string_view> keys);

}  // namespace stepwright::plan
