#pragma once

#include <cstdint>
#include <string>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/named.h"
#include "stepwright/core/tree.h"
#include "stepwright/model/architecture.h"

namespace stepwright::plan {

/// Parameters that a new job trains. kFinetune: all weights, on examples; kLora: adapters beside
/// them; kQlora: adapters beside a base in four bits.
enum class Trained : std::uint8_t { kPretrain, kFinetune, kLora, kQlora };
inline constexpr Named<Trained> kTrainedNames[] = {{Trained::kPretrain, "pretrain"},
                                                   {Trained::kFinetune, "finetune"},
                                                   {Trained::kLora, "lora"},
                                                   {Trained::kQlora, "qlora"}};

/// The facts that a job must state, and their words in its file.
struct NewJob {
  std::string model;  ///< A built-in name or a path from the file's folder.
  model::Architecture architecture;
  Tree cluster;  ///< `{profile: NAME, nodes: N}`.
  cluster::Cluster described;
  std::int64_t sequences = 0;
  std::int64_t length = 0;  ///< Tokens of a sequence.
  std::string framework;    ///< Empty: none is said.
  Trained trained = Trained::kPretrain;
};

/// The content of the file, comments apart.
Tree new_job_mapping(const NewJob& job);

/// The file of a new job that reads, for a person to go on from: every choice with a comment, the
/// usual other keys as comments from which taking the leading `# ` makes a job that reads. `name`
/// is the file's.
std::string new_job_text(const NewJob& job, const std::string& name);

}  // namespace stepwright::plan
