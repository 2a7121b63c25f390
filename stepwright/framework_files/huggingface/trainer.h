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

/// The type of the weights that are trained. kNarrow: 16 bits, which FSDP makes fp32 where products
/// are cast (`bf16: true`; huggingface/accelerate src/accelerate/utils/fsdp_utils.py,
/// fsdp2_prepare_model), and nothing else does. kPure: 16 bits, and nothing is cast.
enum class LoadedWeights : std::uint8_t { kUnsaid, kNarrow, kPure };

/// Settings of a program on transformers' Trainer, in whatever words, beside those that its `Draft`
/// has: micro-batch, accumulation, length, precision, recomputation, optimizer, degrees.
struct Trainer {
  FsdpChoice fsdp;  ///< Options of FSDP; without effect under DeepSpeed.
  /// Groups of ranks that share a model's states; nothing: what `share` leaves.
  std::optional<std::int64_t> copies = 1;
  std::optional<std::int64_t> share;  ///< Data-parallel ranks of such a group, where it is said.
  std::optional<Document> deepspeed;  ///< Where the program has one.
  LoadedWeights weights = LoadedWeights::kUnsaid;
};

/// Micro-batch, accumulation and precision of the draft before a file says them: the defaults of
/// transformers' TrainingArguments.
void take_trainer_defaults(Settled& settled, JobBatch& batch);

/// Takes the kernel that a key names, in the words of "huggingface/attention"; any other is left
/// out.
void take_attention(const Fields& fields, std::string_view key, Settled& settled);

/// Leaves the kernel to PyTorch's scaled_dot_product_attention, whatever was said before.
void leave_attention_to_pytorch(Settled& settled);

/// Fails with `kUnsupported` on arguments that only evaluate or predict.
void check_trains(const Fields& fields);

/// Takes the optimizer of a key that is stated. `known`: what its word means, null if unknown. A
/// word that a plan has no more than in part
/// is left out, and AdamW or its nearest is assumed.
void take_optimizer_word(const Fields& fields, std::string_view key, const OptimizerWord* known,

                         Settled& settled, ImportReport& report);

/// Takes an optimizer of "huggingface/optimizers", or AdamW in its place, said in what is left out.
void take_optimizer(const Fields& fields, std::string_view key, Settled& settled,
                    ImportReport& report);

/// The configuration of DeepSpeed under a key: a mapping, or the path of a file that must be given.
/// Fails with `kInput` where it is not, and where a file names itself.
std::optional<Document> deepspeed_of(const Fields& fields, std::string_view key,
                                     const HubFiles& files);

/// The groups of ranks that share states. Fails with `kInput` where a trainer's are not the
/// data-parallel ranks, which must be settled.
std::int64_t settled_copies(const Trainer& trainer, const plan::Plan& plan, const JobExtent& extent,
                            const std::string& name);

/// Spreads model and batch over the ranks: with DeepSpeed, whose `auto` values become those of the
/// trainer, with FSDP or plain. `name` stands for the files.
Draft settle_trainer(const Trainer& trainer, const Given& given, Draft draft, ImportReport& report,
                     const std::string& name);

}  // namespace stepwright::framework_files
