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

/// Type of the weights that are trained. kNarrow: 16 bits on loading, which FSDP converts to fp32
/// if products are autocast (`bf16: true`; huggingface/accelerate
/// src/accelerate/utils/fsdp_utils.py, fsdp2_prepare_model), and nothing else does. kPure: 16 bits
/// without autocast. kUnsaid: not stated.
enum class LoadedWeights : std::uint8_t { kUnsaid, kNarrow, kPure };

/// Settings of a program that uses transformers' Trainer, under whatever names, in addition to
/// those in its `Draft`: micro-batch, accumulation, length, precision, recomputation, optimizer,
/// degrees.
struct Trainer {
  FsdpChoice fsdp;  ///< Options of FSDP; unused under DeepSpeed.
  /// Groups of ranks that each hold all states of the model; nullopt: derived from `share`.
  std::optional<std::int64_t> copies = 1;
  std::optional<std::int64_t> share;  ///< Data-parallel ranks in each group; nullopt: not stated.
  /// Configuration of DeepSpeed; nullopt: the program does not use it.
  std::optional<Document> deepspeed;
  LoadedWeights weights = LoadedWeights::kUnsaid;
};

/// Sets the draft's micro-batch, accumulation and precision to the defaults of transformers'
/// TrainingArguments; a file can override them.
void take_trainer_defaults(PartialPlan& settled, JobBatch& batch);

/// Takes the attention kernel under a key, by the words of "huggingface/attention"; any other word
/// is reported as left out.
void apply_attention_kernel(const Fields& fields, std::string_view key, PartialPlan& settled);

/// Selects PyTorch's scaled_dot_product_attention, whatever kernel was set before.
void leave_attention_to_pytorch(PartialPlan& settled);

/// Fails with `kUnsupported` if the arguments only evaluate or predict.
void check_is_training(const Fields& fields);

/// Takes the optimizer under a key that is set. `known` is the meaning of its name, null if
/// unknown. If a plan expresses the optimizer only in part, or not at all, the setting is left out,
/// and the nearest optimizer, or AdamW, is assumed.
void take_optimizer_word(const Fields& fields, std::string_view key, const OptimizerWord* known,

                         PartialPlan& settled, ImportReport& report);

/// Takes an optimizer of "huggingface/optimizers"; for an unknown name AdamW, which the report
/// says.
void take_optimizer(const Fields& fields, std::string_view key, PartialPlan& settled,
                    ImportReport& report);

/// Returns the configuration of DeepSpeed under a key: a mapping, or the path of a given file;
/// nullopt if absent. Fails with `kInput` if the file was not given or names itself.
std::optional<Document> deepspeed_config_of(const Fields& fields, std::string_view key,
                                            const HubFiles& files);

/// Returns the number of groups of ranks that each hold all states. Fails with `kInput` if groups
/// times ranks per group are not the data-parallel ranks, which must be settled.
std::int64_t settled_copies(const Trainer& trainer, const plan::Plan& plan, const JobExtent& extent,
                            const std::string& name);

/// Distributes model and batch over the ranks: with DeepSpeed, whose `auto` values get the
/// trainer's values, with FSDP, or plainly. `name` is the name of the files.
Draft complete_trainer_plan(const Trainer& trainer, const UserFacts& given, Draft draft,
                            ImportReport& report, const std::string& name);

}  // namespace stepwright::framework_files
