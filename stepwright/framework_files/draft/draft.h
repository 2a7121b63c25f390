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
  std::optional<std::int64_t> nodes;    ///< In the place of what files say.
  std::optional<std::int64_t> devices;  ///< Of the whole job, in the place of what files say.
  /// `NAME=VALUE`, in the place of what files say: variables of a script, or dotted paths of a
  /// configuration.
  std::vector<std::string> settings;
  std::string function;                 ///< Of a Python file, which makes the configuration.
  std::optional<std::int64_t> command;  ///< Of a script that starts several, from 1.
  /// `SEQUENCES`, `SEQUENCESxLENGTH`, or a mapping as in a job, also with lengths of documents.
  std::string batch;
  /// The model in place of the words above, where it is known already.
  std::optional<model::Architecture> known_model;
  std::optional<cluster::Cluster> known_cluster;
};

/// How a program packs documents.
struct PackingWords {
  packing::Packing packing;
  bool batch_of_documents = false;  ///< Its batch counts documents, not packed sequences.
  /// Documents are joined and cut where a sequence is full: it is one, however long they are.
  bool joined = false;
};

/// How files take the loss: `Kernels::loss_chunks` and `Kernels::loss_keeps`.
struct LossWords {
  std::int64_t chunks = 1;
  plan::LossKeeps keeps = plan::LossKeeps::kLogits;
};
/// linkedin/Liger-Kernel src/liger_kernel/ops/fused_linear_cross_entropy.py: gradients in the
/// forward, of chunks of a size that follows from the model's.
inline constexpr LossWords kLigerLoss{0, plan::LossKeeps::kGradients};
/// apple/ml-cross-entropy cut_cross_entropy/cce.py.
inline constexpr LossWords kCutLoss{1, plan::LossKeeps::kSums};

/// The plan and job as the files of a framework say them, before what they leave open is settled.
struct Draft : Settled {
  plan::Framework framework;
  plan::Space space;    ///< What a search may choose under the words of the files.
  std::string source;   ///< The file that is read, under its name in messages.
  std::string program;  ///< The training program that a command starts, where one is named.
  std::optional<model::Architecture> model;
  /// Whether layers of the model have experts, also where only the one that a person gives says it.
  bool routed = false;
  std::string unknown_model;  ///< The name of one that is not built in.
  std::string lacks;  ///< "the vocabulary (--set vocab-size=N)": what files do not say of it.
  std::optional<std::int64_t> sequences;        ///< Global batch.
  std::optional<std::int64_t> length;           ///< Tokens of a sequence.
  std::optional<std::int64_t> ranks;            ///< Of the whole job.
  std::optional<std::int64_t> nodes;            ///< That the job runs on.
  std::optional<std::int64_t> devices_of_node;  ///< That it uses.
  std::optional<std::int64_t> micro_batches;    ///< Of one step and data rank.
  bool open_micro_batch = false;  ///< It follows from the batch, where that is possible.
  /// True if files leave the kernel of attention to PyTorch (sdpa), not to their program.
  bool pytorch_attention = false;
  std::optional<std::int64_t> host_threads;  ///< As `Job::host_threads`.
  std::optional<AdapterWords> adapters;
  std::optional<model::Frozen> frozen;  ///< Where files say what is not trained, beside adapters.
  std::optional<Document> trained;      ///< Adapters and frozen parts as a job says them.
  std::optional<plan::TensorInput>
      tensor_input;                     ///< What adapters keep under sequence parallelism.
  plan::TrainingMethod method;          ///< What the files learn by.
  std::optional<PackingWords> packing;  ///< Where a person says how long documents are.
  std::optional<LossWords> loss;
  std::optional<plan::Masters>
      masters;                ///< Where the type of parameters says what updates compute with.
  cluster::Cluster cluster;   ///< Once `settle_ranks` has run.
  bool given_extent = false;  ///< Whether a person said how large it is; with `cluster`.
  /// Variables that would say how large the job is and that a script leaves open; empty texts where
  /// no variable does.
  std::vector<std::string> open_extents;
  /// Ranks that share the states of experts, where that is no part of the rest's.
  std::optional<std::int64_t> expert_group;
  /// Overlap, but for asynchronous tensor parallelism, and what products keep are not said by such
  /// files: they are as the framework has them.
  bool framework_overlap = false;
  bool framework_gradients = false;  ///< Nor is the type in which gradients are summed.
  /// Scripts that the first one goes on with and that were not given, with where it does.
  std::vector<std::pair<std::string, std::string>> missing;
  /// Values that a script leaves open, and what says each: "$1", "--set TP=VALUE".
  std::vector<std::pair<std::string, std::string>> open_values;
  /// What a program sees, where its reader leaves that to the import; the file that sets it.
  std::map<std::string, ShellWord> environment;
  std::vector<ShellWord> launchers;  ///< The words in front of that program.
  ImportReport report;               ///< What was read, what not; of `assumed` the reasons.
  std::vector<std::string> notes;    ///< What was assumed, for people.
  /// Why the framework itself would not start it, though the plan is legal.
  std::optional<plan::Rejected> refused;

  /// Where `on`, Liger's kernel stands for the head and its loss.
  void take_liger(bool on) {
    if (!on) return;
    fused_cross_entropy = true;
    loss = kLigerLoss;
  }
  /// Counts both sequences of each pair of preferences in batch and micro-batch.
  void take_pairs();
  /// Lists a setting as one that no plan takes as it is: `why` says what is left out.
  void leave_out(Node setting, std::string why) {
    leave_out(unread_setting(setting), std::move(why));
  }
  /// The same of one whose file is gone; it is no longer among those that were read.
  void leave_out(UnreadSetting setting, std::string why);
  /// Says why the plan has what it has in a field that no file states.
  void assume(std::string field, std::string why) {
    report.assumed.push_back({std::move(field), "", std::move(why)});
  }
};

/// The same with the model that its words name. Fails with `kInput` where there is none of that
/// name.
Given with_model(Given given);

/// Loads the cluster and gives the ranks that tensor, context and pipeline leave over to data
/// parallelism. `file` stands for the files in messages. Fails with `kInput` when no cluster is
/// given, and when files, degrees and cluster contradict each other.
void settle_ranks(Draft& draft, const Given& given, const std::string& file);

/// Says that nobody knows how many devices train, and what would say it: "NHOSTS is open, so how
/// many devices train is not known: --set NHOSTS=VALUE, --nodes or --gpus says it".
std::string open_extent_text(const Draft& draft);

/// A document with `Given::settings` in the place of what it says; what it lacks is added. Fails
/// with `kInput` where one is no `NAME=VALUE`.
Document with_settings(Document document, const Given& given);

/// The plan with its job as the files say it, legal or not; adapters that nothing covers are left
/// out of a plan that is legal without them, and said. Fails with `kInput` where model or
/// batch are not said, or said twice in different words.
plan::PlannedJob drafted(Draft& draft, const Given& given, const std::string& file);

/// A legal one in its canonical form, with the buckets that its framework gives it.
plan::PlannedJob started(plan::PlannedJob planned);

/// Why a plan of a draft would not start.
std::optional<plan::Rejected> refusal_of(const Draft& draft, const plan::PlannedJob& planned);

/// The plan with its job, legal and canonical. Fails with `kInput` where model or batch are not
/// said or said twice in different words, and with the reason of a refusal when the plan is not
/// legal.
plan::PlannedJob finish(Draft& draft, const Given& given, const std::string& file);

}  // namespace stepwright::framework_files
