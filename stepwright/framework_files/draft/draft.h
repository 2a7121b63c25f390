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

/// The facts that a person adds to files which do not say everything, or in the place of theirs.
struct Given {
  std::string model;  ///< A built-in name or a path, once `with_model` has run; empty: the files'.
  std::string cluster;  ///< A profile, `PROFILE:NODES`, a path, or a mapping as in a job.
  std::optional<std::int64_t> nodes;  ///< In the place of what files say.
  /// Devices of the whole job, in the place of what files say.
  std::optional<std::int64_t> devices;
  /// `NAME=VALUE`, in the place of what files say: variables of a script, or dotted paths of a
  /// configuration.
  std::vector<std::string> settings;
  /// Function of a Python file that makes the configuration; empty: none is named.
  std::string function;
  /// Command of a script that starts several, counted from 1.
  std::optional<std::int64_t> command;
  /// `SEQUENCES`, `SEQUENCESxLENGTH`, or a mapping as in a job, also with lengths of documents.
  std::string batch;
  /// The model in place of the words above, where it is known already.
  std::optional<model::Architecture> known_model;
  std::optional<cluster::Cluster> known_cluster;
};

/// How a program packs documents.
struct PackingWords {
  packing::Packing packing;
  /// True if the program's batch counts documents, not packed sequences.
  bool batch_of_documents = false;
  /// Documents are joined and cut where a sequence is full: it is one, however long they are.
  bool joined = false;
};

/// How many ranks, nodes and devices train, as launchers and files say it.
struct JobExtent {
  std::optional<std::int64_t> ranks;            ///< Ranks of the whole job.
  std::optional<std::int64_t> nodes;            ///< Nodes that the job runs on.
  std::optional<std::int64_t> devices_of_node;  ///< Devices that the job uses of each node.
  /// Variables that would say how large the job is and that a script leaves open; empty texts where
  /// no variable does.
  std::vector<std::string> open_extents;
  cluster::Cluster cluster;   ///< Known once `settle_ranks` has run.
  bool given_extent = false;  ///< True if a person said how large the cluster is.
};

/// The batch of a step as files say it.
struct JobBatch {
  std::optional<std::int64_t> sequences;      ///< Sequences of a step, over all ranks.
  std::optional<std::int64_t> length;         ///< Tokens of a sequence.
  std::optional<std::int64_t> micro_batches;  ///< Micro-batches of one step and data rank.
  bool open_micro_batch = false;  ///< True if the micro-batch follows from the batch, if possible.
  std::optional<PackingWords> packing;  ///< Absent unless a person says how long documents are.
};

/// The model as files say it, and what is trained of it.
struct ModelWords {
  std::optional<model::Architecture> model;
  /// True if layers of the model have experts, also where only the one that a person gives says it.
  bool routed = false;
  std::string unknown_model;  ///< The name of one that is not built in.
  std::string lacks;  ///< "the vocabulary (--set vocab-size=N)": what files do not say of it.
  std::optional<AdapterWords> adapters;
  std::optional<model::Frozen> frozen;  ///< Parts that files do not train, beside adapters.
  std::optional<Document> trained;      ///< Adapters and frozen parts as a job says them.
};

/// The program that files start, and what it sees.
struct ProgramStart {
  std::string source;   ///< The file that is read, under its name in messages.
  std::string program;  ///< The training program that a command starts; empty: none is named.
  /// Variables that the program sees, if its reader leaves them to the import; lines of `source`.
  std::map<std::string, ShellWord> environment;
  std::vector<ShellWord> launchers;  ///< The words in front of that program.
};

/// The plan and job as the files of a framework say them, before what they leave open is settled.
/// A reader returns one, and notes in an `ImportReport` what became of each setting.
struct Draft : Settled, ModelWords {
  JobExtent extent;
  JobBatch batch;
  ProgramStart start;
};

/// Returns what a person gives with the model that its words name. Fails with `kInput` where there
/// is none of that name.
Given with_model(Given given);

/// Counts both sequences of each pair of preferences in batch and micro-batch.
void count_pairs(plan::Plan& plan, JobBatch& job_batch, ImportReport& report);

/// Loads the cluster and gives the ranks that tensor, context and pipeline leave over to data
/// parallelism. `file` stands for the files in messages. Fails with `kInput` when no cluster is
/// given, and when files, degrees and cluster contradict each other.
void settle_ranks(plan::Plan& plan, JobExtent& extent, ImportReport& report, const Given& given,
                  const std::string& file);

/// Says that nobody knows how many devices train, and what would say it: "NHOSTS is open, so how
/// many devices train is not known: --set NHOSTS=VALUE, --nodes or --gpus says it".
std::string open_extent_text(const JobExtent& extent);

/// A document with `Given::settings` in the place of what it says; what it lacks is added. Fails
/// with `kInput` where one is no `NAME=VALUE`.
Document with_settings(Document document, const Given& given);

/// The plan with its job as the files say it, legal or not; adapters that nothing covers are left
/// out of a plan that is legal without them, and said. Fails with `kInput` where model or
/// batch are not said, or said twice in different words.
plan::PlannedJob drafted(Draft draft, ImportReport& report, const Given& given,
                         const std::string& file);

/// A legal one in its canonical form, with the buckets that its framework gives it.
plan::PlannedJob started(plan::PlannedJob planned);

/// Why a plan would not start: a law that it breaks, or what its framework refuses.
std::optional<plan::Rejected> refusal_of(const std::optional<plan::Rejected>& by_framework,
                                         const plan::PlannedJob& planned);

/// The plan with its job, legal and canonical. Fails with `kInput` where model or batch are not
/// said or said twice in different words, and with the reason of a refusal when the plan is not
/// legal.
plan::PlannedJob finish(Draft draft, ImportReport& report, const Given& given,
                        const std::string& file);

}  // namespace stepwright::framework_files
