#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// DeepSpeed's default for the elements of a bucket of gradients or parameters
/// (deepspeedai/DeepSpeed deepspeed/runtime/zero/config.py: DeepSpeedZeroConfig).
inline constexpr std::int64_t kDeepspeedBucket = 500'000'000;

/// The trainer's values that replace "auto" in DeepSpeed's configuration; nullopt: unknown.
struct TrainerValues {
  std::optional<std::int64_t> micro_batch, accumulation;
  std::optional<DType> precision;
  std::optional<std::int64_t> hidden;  ///< Hidden width of the model.
};

/// Reads a configuration of DeepSpeed, with the values that transformers' Trainer fills in: its own
/// arguments, and bucket sizes derived from the model's width. Fails with `kInput` if the
/// configuration has another batch or precision than the trainer, because the program would not
/// start. Sources:
/// huggingface/transformers src/transformers/integrations/deepspeed.py: HfTrainerDeepSpeedConfig;
/// huggingface/accelerate src/accelerate/utils/dataclasses.py: DeepSpeedPlugin (precision).
Draft read_deepspeed_document(const Document& document, const UserFacts& given, Draft draft,
                              ImportReport& report, const TrainerValues* trainer = nullptr);

/// True if a job's framework is DeepSpeed, directly or through a program built on it.
bool runs_on_deepspeed(const plan::Job& job);

/// Returns the configuration of DeepSpeed as a mapping for the file of a program that uses
/// transformers' Trainer, which fills in batch and precision (`auto`).
Tree deepspeed_configuration(const plan::PlannedJob& planned);

/// Reads what a section `zero_optimization` offloads to the host at a stage of ZeRO: all optimizer
/// states, with stage 3 also only a share of them (ZeRO-Offload++), or parameters in addition.
/// Ranks and sharding must be settled. Source: deepspeedai/DeepSpeed
/// deepspeed/runtime/zero/offload_config.py.
void read_deepspeed_offload(const Fields& zero, int stage, plan::Plan& plan, ImportReport& report);

}  // namespace stepwright::framework_files
