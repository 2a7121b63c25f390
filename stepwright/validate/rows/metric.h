#pragma once

#include <cstdint>
#include <variant>

#include "stepwright/core/named.h"
#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// The ways in which sources count the FLOPs of a step for rates and utilisation.
enum class FlopCount : std::uint8_t {
  kModel,      ///< Model FLOPs with full (not causal) attention and logits.
  kCausal,     ///< Model FLOPs with half of the attention, as under a causal mask.
  kHardware,   ///< With full recomputation: 96 B s L h^2 (1 + s/6h + V/16Lh) (2104.04473).
  kSixFold,    ///< Six FLOPs per token and parameter, without the embedding.
  kEightFold,  ///< Eight FLOPs per token and parameter, without the embedding.
};
inline constexpr Named<FlopCount> kFlopCountNames[] = {{FlopCount::kModel, "model"},
                                                       {FlopCount::kCausal, "causal"},
                                                       {FlopCount::kHardware, "hardware"},
                                                       {FlopCount::kSixFold, "6P"},
                                                       {FlopCount::kEightFold, "8P"}};

/// Returns the FLOPs of a job's step, counted in the given way.
double counted_flops(FlopCount count, const plan::Job& job);

/// Returns the measured seconds of a step: given directly, or computed from tokens per second and
/// GPU, from FLOP/s, or from the utilisation of the device's bf16 peak. Skips rows with unknown
/// metrics or unknown words in `flops`.
std::variant<double, Skipped> measured_step_s(const RunRow& row, const plan::Job& job);

}  // namespace stepwright::validate
