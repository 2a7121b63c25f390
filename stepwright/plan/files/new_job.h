#pragma once

#include <cstdint>
#include <string>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/named.h"
#include "stepwright/core/tree.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// The weights that a new job trains. kPretrain: all weights, on text; kFinetune: all weights, on
/// examples; kLora: adapters beside frozen weights; kQlora: adapters beside a base in four bits.
enum class NewJobTraining : std::uint8_t { kPretrain, kFinetune, kLora, kQlora };
inline constexpr Named<NewJobTraining> kNewJobTrainingNames[] = {
    {NewJobTraining::kPretrain, "pretrain"},
    {NewJobTraining::kFinetune, "finetune"},
    {NewJobTraining::kLora, "lora"},
    {NewJobTraining::kQlora, "qlora"}};

/// The facts that a new job must state, as they are written in its file.
struct NewJob {
  std::string model;  ///< Name of a built-in model, or a path relative to the file's folder.
  model::Architecture architecture;
  Tree cluster;  ///< The cluster as written in the file: `{profile: NAME, nodes: N}`.
  cluster::Cluster described;
  std::int64_t sequences = 0;
  std::int64_t length = 0;  ///< Tokens of a sequence.
  std::string framework;    ///< Framework's name; empty: the file names none.
  NewJobTraining trained = NewJobTraining::kPretrain;
};

/// Returns the content of a new job's file, without comments.
Tree new_job_mapping(const NewJob& job);

/// Returns the text of a new job's file, for a person to edit: every choice has a comment, and
/// other usual keys are commented out so that deleting the leading `# ` gives a valid job. `name`:
/// the file's name.
std::string new_job_text(const NewJob& job, const std::string& name);

}  // namespace stepwright::plan
