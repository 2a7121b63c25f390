#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/huggingface/optimizer_words.h"

namespace stepwright::framework_files {

/// Type of the trained weights after loading. kNarrow: 16 bits with autocast (`bf16: true`), where
/// FSDP converts the weights to fp32 (huggingface/accelerate src/accelerate/utils/fsdp_utils.py,
/// fsdp2_prepare_model) and plain data parallelism does not. kPure: 16 bits without autocast, never
/// converted. kUnsaid: not stated.
enum class LoadedWeightType : std::uint8_t { kUnsaid, kNarrow, kPure };

/// How a program that uses transformers' Trainer distributes the training: FSDP or DeepSpeed,
/// replicas, type of the weights. The program's other settings (batch, precision, degrees) are in
/// `PlanDraft`.
struct TrainerDistribution {
  FsdpOptions fsdp;  ///< Options of FSDP; unused if `deepspeed` is set.
  /// Number of data-parallel replicas, groups of ranks that each hold all model states; nullopt:
  /// derived from `share`.
  std::optional<std::int64_t> copies = 1;
  /// Number of data-parallel ranks over which one replica's model states are sharded; nullopt: not
  /// stated.
  std::optional<std::int64_t> share;
  /// DeepSpeed's configuration for the Trainer; nullopt: the program does not use DeepSpeed.
  std::optional<YamlJsonDocument> deepspeed;
  LoadedWeightType weights = LoadedWeightType::kUnsaid;
};

/// Sets micro-batch (8), gradient accumulation (1), precision (fp32) and optimizer (AdamW) to the
/// defaults of transformers' TrainingArguments, before a file's values are read.
void apply_trainer_defaults(PartialPlan& settled, StatedStepBatch& batch);

/// Sets the attention kernel from the setting `key` (`flash_attention_2`, `sdpa`, ...; table
/// huggingface/attention). A kernel that no plan has is reported as not expressed.
void apply_attention_kernel(const FrameworkSettingsReader& fields, std::string_view key,
                            PartialPlan& settled);

/// Leaves the choice of the attention kernel to PyTorch's scaled_dot_product_attention, and
/// discards a kernel that was set before.
void leave_attention_to_pytorch(PartialPlan& settled);

/// Fails with `kUnsupported` if a program's arguments only evaluate or predict (`do_eval` without
/// `do_train`), so that nothing is trained.
void check_is_training(const FrameworkSettingsReader& fields);

/// Sets the optimizer from the setting `key`, which must be set. `known` is the meaning of its
/// name; null: unknown. If plans express the optimizer only in part, the nearest one is assumed,
/// AdamW for an unknown name, and the difference is reported.
void set_optimizer_by_name(const FrameworkSettingsReader& fields, std::string_view key,
                           const OptimizerNameMeaning* known,

                           PartialPlan& settled, ImportReport& report);

/// Sets the optimizer from the setting `key` if it is set, with the names in the table
/// huggingface/optimizers. For an unknown name, AdamW is assumed and the difference is reported.
void read_optimizer_name(const FrameworkSettingsReader& fields, std::string_view key,
                         PartialPlan& settled, ImportReport& report);

/// Returns the DeepSpeed configuration that the setting `key` contains as a mapping or names by
/// path; nullopt if there is none. Fails with `kInput` if the user did not give the file with this
/// path, or if the path is the settings file's own.
std::optional<YamlJsonDocument> deepspeed_config_of_setting(const FrameworkSettingsReader& fields,
                                                            std::string_view key,
                                                            const TransformersProgramFiles& files);

/// Returns the number of data-parallel replicas, groups of ranks that each hold all states. Fails
/// with `kInput` if replicas x ranks per replica differ from the plan's data-parallel degree, which
/// must be complete.
std::int64_t data_parallel_replica_count(const TrainerDistribution& trainer, const plan::Plan& plan,
                                         const JobRankCounts& extent, const std::string& name);

/// Adds the distribution over the ranks to a draft, a plan that is being read: by the DeepSpeed
/// configuration if there is one (`auto` values are the Trainer's), else by FSDP or plain data
/// parallelism. `name` is the files' name in messages.
PlanDraft complete_trainer_draft(const TrainerDistribution& trainer, const UserFacts& given,
                                 PlanDraft draft, ImportReport& report, const std::string& name);

}  // namespace stepwright::framework_files
