#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/framework_files/draft/adapter_words.h"
#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/draft/settled.h"
#include "stepwright/framework_files/recognition/sources.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::framework_files {

/// The facts that a user adds to files which do not state everything, or that override the files.
struct UserFacts {
  std::string model;    ///< A built-in name or a path; empty: the model in the files.
  std::string cluster;  ///< A profile, `PROFILE:NODES`, a path, or a mapping as in a job.
  /// Number of nodes that the user states, which overrides the files; nullopt: not stated.
  std::optional<std::int64_t> nodes;
  /// Devices of the whole job, which override the files.
  std::optional<std::int64_t> devices;
  /// `NAME=VALUE` texts that override the files: variables of a script, or dotted paths of a
  /// configuration.
  std::vector<std::string> settings;
  /// Function of a Python file that returns the configuration; empty: none is named.
  std::string function;
  /// Which command of a script to read if it starts several, counted from 1; nullopt: the only one.
  std::optional<std::int64_t> command;
  /// `SEQUENCES`, `SEQUENCESxLENGTH`, or a mapping as in a job, which can contain document lengths.
  std::string batch;
  /// The model itself, if it is known already; `model` is then not used.
  std::optional<model::Architecture> known_model;
  std::optional<cluster::Cluster> known_cluster;
};

/// How a program packs documents into sequences.
struct PackingWords {
  packing::Packing packing;
  /// True if the program's batch counts documents, not packed sequences.
  bool batch_of_documents = false;
  /// True if documents are joined and cut when a sequence is full, so that their lengths do not
  /// matter.
  bool joined = false;
};

/// The numbers of ranks, nodes and devices that train, from launchers and files.
struct JobExtent {
  /// Number of ranks of the whole job; nullopt: not stated.
  std::optional<std::int64_t> ranks;
  /// Number of nodes of the job; nullopt: not stated.
  std::optional<std::int64_t> nodes;
  /// Number of devices that the job uses on each node; nullopt: not stated.
  std::optional<std::int64_t> devices_of_node;
  /// Variables that would decide the size of the job but that a script leaves open; an empty text
  /// stands for an open size without a variable.
  std::vector<std::string> open_extents;
  cluster::Cluster cluster;   ///< The cluster; set by `resolve_rank_counts`.
  bool given_extent = false;  ///< True if the user stated the size of the cluster.
};

/// The batch of a step, as files state it.
struct JobBatch {
  /// Sequences of a step, over all ranks; nullopt: not stated.
  std::optional<std::int64_t> sequences;
  /// Length of a sequence in tokens; nullopt: not stated.
  std::optional<std::int64_t> length;
  /// Micro-batches per step and data-parallel rank; nullopt: not stated.
  std::optional<std::int64_t> micro_batches;
  /// True if the micro-batch is derived from the batch, if possible.
  bool open_micro_batch = false;
  /// How documents are packed; nullopt unless the user states document lengths.
  std::optional<PackingWords> packing;
};

/// The model from files, and the parts of it that are trained.
struct ModelWords {
  std::optional<model::Architecture> model;
  /// True if layers of the model have experts, also if only the user's model says so.
  bool routed = false;
  std::string unknown_model;  ///< Name of a model in the files that is not built in; empty: none.
  /// Sizes that the files lack and how to state them: "the vocabulary (--set vocab-size=N)".
  std::string lacks;
  std::optional<AdapterWords> adapters;
  /// Parts of the model that files freeze without adapters; nullopt: none.
  std::optional<model::Frozen> frozen;
  /// Adapters and frozen parts in the form of a job; nullopt: not stated.
  std::optional<Document> trained;
};

/// The program that files start, and the variables that it sees.
struct ProgramStart {
  std::string source;   ///< Name of the file that is read, for messages.
  std::string program;  ///< The training program that a command starts; empty: not named.
  /// Variables that the program sees, with line numbers in `source`, if the reader leaves them to
  /// the import.
  std::map<std::string, ShellWord> environment;
  std::vector<ShellWord> launchers;  ///< The words before the program in its command.
};

/// The plan and job that the files of a framework state, before open values are decided. A reader
/// returns a draft, and records in an `ImportReport` what happened to each setting.
struct Draft : PartialPlan, ModelWords {
  JobExtent extent;
  JobBatch batch;
  ProgramStart start;
};

/// Returns the user's facts with `known_model` set to the model that `model` names. Fails with
/// `kInput` if there is no such model.
UserFacts with_model(UserFacts given);

/// Doubles batch and micro-batch, because each preference pair is two sequences.
void count_pairs(plan::Plan& plan, JobBatch& job_batch, ImportReport& report);

/// Loads the cluster, and assigns to data parallelism the ranks that tensor, context and pipeline
/// parallelism leave. `file` is the name of the files in messages. Fails with `kInput` if no
/// cluster is given, or if files, degrees and cluster contradict each other.
void resolve_rank_counts(plan::Plan& plan, JobExtent& extent, ImportReport& report,
                         const UserFacts& given, const std::string& file);

/// Returns a sentence that the number of training devices is unknown, and what would state it:
/// "NHOSTS is open, so how many devices train is not known: --set NHOSTS=VALUE, --nodes or --gpus
/// says it".
std::string open_extent_text(const JobExtent& extent);

/// Returns a document in which `UserFacts::settings` override values or add missing ones. Fails
/// with `kInput` if a setting is not `NAME=VALUE`.
Document with_settings(Document document, const UserFacts& given);

/// Returns the plan and job that the files state, legal or not. Adapters are dropped, with a
/// report, if only the plan without them is legal. Fails with `kInput` if model or batch are not
/// stated, or stated twice differently.
plan::PlannedJob draft_plan(Draft draft, ImportReport& report, const UserFacts& given,
                            const std::string& file);

/// Returns a legal plan in canonical form, with the buckets that its framework uses.
plan::PlannedJob started(plan::PlannedJob planned);

/// Returns why a plan would not start: the rule of plans that it breaks, or its framework's
/// refusal; nullopt: it starts.
std::optional<plan::PlanRejection> start_refusal(
    const std::optional<plan::PlanRejection>& by_framework, const plan::PlannedJob& planned);

/// Returns the plan and job of a draft, legal and canonical. Fails with `kInput` if model or batch
/// are not stated, or stated twice differently; and with the reason of the refusal if the plan is
/// not legal.
plan::PlannedJob finish(Draft draft, ImportReport& report, const UserFacts& given,
                        const std::string& file);

}  // namespace stepwright::framework_files
