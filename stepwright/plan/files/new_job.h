#pragma once

#include <cstdint>
#include <string>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/named.h"
#include "stepwright/core/tree.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// Kinds of training for which `stepwright init` writes a job file. kPretrain: all weights, on
/// text; kFinetune: all weights, on examples; kLora: adapters on frozen weights; kQlora: adapters
/// on frozen four-bit weights.
enum class NewJobTrainingKind : std::uint8_t { kPretrain, kFinetune, kLora, kQlora };
inline constexpr Named<NewJobTrainingKind> kNewJobTrainingNames[] = {
    {NewJobTrainingKind::kPretrain, "pretrain"},
    {NewJobTrainingKind::kFinetune, "finetune"},
    {NewJobTrainingKind::kLora, "lora"},
    {NewJobTrainingKind::kQlora, "qlora"}};

/// The values that a new job file must state; all others get defaults.
struct NewJobValues {
  std::string model;  ///< Name of a built-in model, or a path relative to the job file's folder.
  model::ModelArchitecture architecture;
  DocumentTree cluster;  ///< Cluster as job files write it: `{profile: NAME, nodes: N}`.
  cluster::Cluster described;
  std::int64_t sequences = 0;
  std::int64_t length = 0;  ///< Sequence length in tokens.
  std::string framework;    ///< Name of the framework; empty: the job file names none.
  NewJobTrainingKind trained = NewJobTrainingKind::kPretrain;
};

/// Returns the content of a new job file as a tree, without comments.
DocumentTree new_job_file_tree(const NewJobValues& job);

/// Returns the text of a new job file for a person to edit: every value has a comment, and further
/// keys are commented out so that deleting the leading `# ` enables them. `name`: name of the file.
std::string new_job_file_text(const NewJobValues& job, const std::string& name);

}  // namespace stepwright::plan
