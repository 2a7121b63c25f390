#pragma once

#include <cstdint>
#include <variant>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// FLOPs of a step, as a source counts them for rates and utilisation.
enum class FlopCount : std::uint8_t {
  kModel,      ///< Model FLOPs with full attention and logits.
  kCausal,     ///< Model FLOPs with half the attention, as a causal mask leaves it.
  kHardware,   ///< 96 B s L h^2 (1 + s/6h + V/16Lh), full recomputation included (2104.04473).
  kSixFold,    ///< Six for each token and each parameter outside of the embedding.
  kEightFold,  ///< Eight for each token and each parameter outside of the embedding.
};
inline constexpr Named<FlopCount> kFlopCountNames[] = {{FlopCount::kModel, "model"},
                                                       {FlopCount::kCausal, "causal"},
                                                       {FlopCount::kHardware, "hardware"},
                                                       {FlopCount::kSixFold, "6P"},
                                                       {FlopCount::kEightFold, "8P"}};

/// FLOPs of a step of a job, so counted.
double counted_flops(FlopCount count, const plan::Job& job);

/// The measured seconds of a step: as stated, from tokens per second and GPU, from FLOP/s, or from
/// utilisation of the device's peak in bf16. Skips metrics and words of `flops` that are unknown.
std::variant<double, Skipped> measured_step_s(const RunRow& row, const plan::Job& job);

}  // namespace stepwright::validate
