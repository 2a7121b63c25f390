#pragma once

#include <cstdint>
#include <optional>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Elements of a bucket of gradients, or of parameters, where nothing says how many.
/// deepspeedai/DeepSpeed deepspeed/runtime/zero/config.py: DeepSpeedZeroConfig.
inline constexpr std::int64_t kDeepspeedBucket = 500'000'000;

/// Values behind "auto" in the configuration of a trainer, as far as they are known.
struct TrainerValues {
  std::optional<std::int64_t> micro_batch, accumulation;
  std::optional<DType> precision;
  std::optional<std::int64_t> hidden;  ///< Width of the model.
};

/// Reads a configuration of DeepSpeed, with the values that transformers' Trainer fills in: those
/// of its arguments, and buckets that follow from the model's width. Fails with `kInput` where the
/// configuration says another batch or precision than the trainer, which does not start then.
/// huggingface/transformers src/transformers/integrations/deepspeed.py: HfTrainerDeepSpeedConfig;
/// huggingface/accelerate src/accelerate/utils/dataclasses.py: DeepSpeedPlugin (precision).
Draft read_deepspeed_document(const Document& document, const Given& given, Draft draft,
                              ImportReport& report, const TrainerValues* trainer = nullptr);

/// True if a job's framework is DeepSpeed, whatever program stands on it.
bool runs_on_deepspeed(const plan::Job& job);

/// The configuration of DeepSpeed as a mapping inside the file of a program on transformers'
/// Trainer, which fills in batch and precision (`auto`).
Tree deepspeed_configuration(const plan::PlannedJob& planned);

/// Reads what a section `zero_optimization` leaves to the host, with ZeRO's stage: all of the
/// optimizer, with stage 3 also a share of it (ZeRO-Offload++), or parameters beside it. Ranks and
/// sharding must be settled. deepspeedai/DeepSpeed deepspeed/runtime/zero/offload_config.py.
void read_deepspeed_offload(const Fields& zero, int stage, plan::Plan& plan, ImportReport& report);

}  // namespace stepwright::framework_files
