#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/framework_files/draft/import_report.h"
#include "stepwright/framework_files/draft/settled.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/recognition/sources.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::framework_files {

/// Model, cluster, batch and settings that the user states in addition to a framework's files, or
/// to override them.
struct UserFacts {
  std::string model;  ///< Model: a built-in name or a path; empty: the model in the files.
  /// Cluster: PROFILE, `PROFILE:NODES`, a path, or a mapping as in a job file.
  std::string cluster;
  /// Number of nodes that the user states, which overrides the files; nullopt: not stated.
  std::optional<std::int64_t> nodes;
  /// Number of devices of the whole job, which overrides the files; nullopt: not stated.
  std::optional<std::int64_t> devices;
  /// `NAME=VALUE` texts that override the files: variables of a script, or dotted paths of a
  /// configuration.
  std::vector<std::string> settings;
  /// Name of the function of a Python file that returns the configuration; empty: not stated.
  std::string function;
  /// Number of the command to read, from 1, if a script starts several; nullopt: there is only one.
  std::optional<std::int64_t> command;
  /// Batch of a step: `SEQUENCES`, `SEQUENCESxLENGTH`, or a mapping as in a job file, which can
  /// contain document lengths; empty: not stated.
  std::string batch;
  /// The model that the user states, already loaded; it replaces `model`. nullopt: not loaded.
  std::optional<model::ModelArchitecture> known_model;
  std::optional<cluster::Cluster> known_cluster;
};

/// How a program packs documents into sequences.
struct StatedDocumentPacking {
  packing::Packing packing;
  /// True if the program's batch size counts documents, not the sequences into which it packs them.
  bool batch_of_documents = false;
  /// True if all documents are concatenated and cut into full sequences, so that their lengths do
  /// not matter.
  bool joined = false;
};

/// The numbers of ranks, nodes and devices that train, from launchers and files.
struct JobRankCounts {
  /// Number of ranks of the whole job; nullopt: not stated.
  std::optional<std::int64_t> ranks;
  /// Number of nodes of the job; nullopt: not stated.
  std::optional<std::int64_t> nodes;
  /// Number of devices that the job uses on each node; nullopt: not stated.
  std::optional<std::int64_t> devices_of_node;
  /// Shell variables that set the number of ranks but have no value in the script; an empty text: a
  /// number that is unknown for another reason.
  std::vector<std::string> open_extents;
  cluster::Cluster
      cluster;  ///< Cluster on which the job runs; set by `resolve_cluster_and_data_degree`.
  /// True if the user stated the number of nodes or devices of the cluster.
  bool given_extent = false;
};

/// The batch of a step, as files state it.
struct StatedStepBatch {
  /// Sequences of an optimizer step, over all ranks; nullopt: not stated.
  std::optional<std::int64_t> sequences;
  /// Length of a sequence in tokens; nullopt: not stated.
  std::optional<std::int64_t> length;
  /// Micro-batches per step and data-parallel rank; nullopt: not stated.
  std::optional<std::int64_t> micro_batches;
  /// True if the imported files state no micro-batch size, so that it is derived from the batch and
  /// the number of gradient accumulation steps.
  bool derive_micro_batch = false;
  /// How documents are packed; nullopt unless the user states document lengths.
  std::optional<StatedDocumentPacking> packing;
};

/// The model from files, and the parts of it that are trained.
struct StatedModel {
  std::optional<model::ModelArchitecture> model;
  /// True if the model is a mixture of experts, by the files or by the model that the user states.
  bool routed = false;
  /// Name that the imported files have for the model, if Stepwright has no built-in model of this
  /// name; empty: none.
  std::string unknown_model;
  /// Text for error messages: the model sizes that the imported files lack, with the options that
  /// state them, as "the vocabulary (--set vocab-size=N)"; empty: none.
  std::string lacks;
  std::optional<StatedLoraAdapters> adapters;
  /// True if the model's name says that its weights are stored in 4 bits. Frozen weights beside
  /// adapters then stay in 4 bits.
  bool stored_in_4_bits = false;
  /// Parts of the model that the imported files freeze (ignored if there are adapters); nullopt:
  /// none.
  std::optional<model::FrozenModelParts> frozen;
  /// Adapters and frozen parts of the model that the imported files state, in the format of a job
  /// file; nullopt: not stated.
  std::optional<YamlJsonDocument> trained;
};

/// The training program that files start, and its environment variables.
struct StartedTrainingProgram {
  /// Name of the imported file that starts or configures the training program, for error messages.
  std::string source;
  std::string program;  ///< The training program that a command starts; empty: not named.
  /// Environment variables of the training program that the import has not used, with line numbers
  /// in the file `source`.
  std::map<std::string, ShellWord> environment;
  /// Words of the command before the program, such as `torchrun` and its options.
  std::vector<ShellWord> launchers;
};

/// The plan and job as a framework's files state them, before missing values are filled in. A
/// reader of files returns a draft, and records in an `ImportReport` what happened to each setting.
struct PlanDraft : PartialPlan, StatedModel {
  JobRankCounts extent;
  StatedStepBatch batch;
  StartedTrainingProgram start;
};

/// Returns the user's options with the model loaded: `known_model` becomes the model that `model`
/// names. Fails with `kInput` if there is no such model.
UserFacts with_named_model_loaded(UserFacts given);

/// Doubles batch and micro-batch for preference training (DPO), where files count pairs of two
/// sequences.
void double_preference_pair_batch(plan::Plan& plan, StatedStepBatch& job_batch,
                                  ImportReport& report);

/// Loads the cluster, and sets the data-parallel degree to devices / (tensor x context x pipeline).
/// `file` is the name of the files in messages. Fails with `kInput` if no cluster is given, or if
/// files, degrees and cluster contradict each other.
void resolve_cluster_and_data_degree(plan::Plan& plan, JobRankCounts& extent, ImportReport& report,
                                     const UserFacts& given, const std::string& file);

/// Returns a message that the number of devices is unknown, with the options that state it: "NHOSTS
/// is open, so how many devices train is not known: --set NHOSTS=VALUE, --nodes or --gpus says it".
std::string unknown_device_count_message(const JobRankCounts& extent);

/// Returns a configuration in which the user's settings (`NAME=VALUE`) override values or add
/// missing ones. Fails with `kInput` if a setting has another form.
YamlJsonDocument with_user_settings(YamlJsonDocument document, const UserFacts& given);

/// Returns the plan and job that the files state, even if the plan is not legal. Adapters are
/// dropped, and reported, if only the plan without them is legal. Fails with `kInput` if model or
/// batch are missing, or if files and user state different ones.
plan::PlannedJob stated_plan_without_legality_check(PlanDraft draft, ImportReport& report,
                                                    const UserFacts& given,
                                                    const std::string& file);

/// Returns a legal plan in which each choice that has no effect is set to its default, and in which
/// bucket sizes are those that the job's framework uses.
plan::PlannedJob plan_with_effective_choices(plan::PlannedJob planned);

/// Returns why a plan would not start: the rule for legal plans that it breaks, else
/// `by_framework`, the reason why its framework refuses it; nullopt: it starts.
std::optional<plan::PlanRejection> find_start_rejection(
    const std::optional<plan::PlanRejection>& by_framework, const plan::PlannedJob& planned);

/// Returns the complete plan and job that files state. Fails with `kInput` if model or batch are
/// missing, or if files and user state different ones. Fails with the broken rule if the plan is
/// not legal or its framework would not start it.
plan::PlannedJob finish(PlanDraft draft, ImportReport& report, const UserFacts& given,
                        const std::string& file);

}  // namespace stepwright::framework_files
