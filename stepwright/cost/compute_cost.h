#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stepwright/cost/profiles/operator_profile.h"
#include "stepwright/plan/frameworks/ability.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// Returns the share of the 16-bit peak FLOP/s that an attention kernel reaches in the forward at
/// head dimension 128.
double attention_peak_share(const cluster::DeviceGeneration& generation,
                            cluster::AttentionKernel kernel);

/// Returns the FLOP/s of a fused attention kernel's backward divided by those of its forward, for
/// long sequences.
double attention_backward_rate_ratio(const cluster::DeviceGeneration& generation,
                                     cluster::AttentionKernel kernel);

/// Returns the share of its peak FLOP/s that arithmetic keeps under a device's board power limit,
/// relative to the best-known board of its generation: ((P - P0) / F / ((Pg - P0) / Fg))^(1/2). P:
/// power limit; F: peak FLOP/s; Pg, Fg: those of the best-known board; P0: power that the clock
/// does not change. At most `kFreeClock`, the value without any limit; 1 if the device states no
/// limit.
double power_limited_peak_share(const cluster::DeviceGeneration& generation,
                                const cluster::DeviceModel& device);

/// Load on the device while a kernel is timed. kRunning: kernels run back to back in a training
/// step, where the power limit lowers the clock. kIsolated: one kernel runs alone, as in
/// micro-benchmarks.
enum class DeviceLoad : std::uint8_t { kRunning, kIsolated };

/// Prices the computations of one job on its device. Operators with a fitted profile follow its
/// fitted law and boosted trees, scaled to the device's peaks; all others follow a roofline with
/// the documented rates of `docs/models.md`. Immutable and safe to share between threads; pricing
/// allocates no memory.
class ComputationCostModel {
 public:
  /// Uses the built-in operator profiles: those of the job's device first, then those of similar
  /// devices.
  explicit ComputationCostModel(const plan::Job& job);
  /// Uses these operator profiles, in order of preference; they must outlive this object. Without
  /// profiles, every operator follows the documented roofline.
  ComputationCostModel(const plan::Job& job, std::span<const OperatorProfile* const> profiles,
                       DeviceLoad load = DeviceLoad::kRunning);

  /// Returns the seconds of one run of an operator without other work on the device. Its rate is
  /// never above the device's peaks. Operators on routed tokens count the tokens of the busiest
  /// rank. `Operator::repeats` is ignored.
  [[nodiscard]] double operator_run_seconds(const step::Operator& op) const;

  /// Returns the seconds of the forward or of the whole backward of an operator, as one benchmark
  /// measures it: a matrix product's backward is both its data gradient and its weight gradient.
  [[nodiscard]] double operator_pass_seconds(OperatorClass what, OperatorPass pass,
                                             const step::Operator& op) const;

  /// Returns the fewest seconds in which the device's peak FLOP/s and memory bandwidth allow the
  /// forward or the whole backward of an operator.
  [[nodiscard]] double min_operator_pass_seconds(OperatorClass what, OperatorPass pass,
                                                 const step::Operator& op) const;

  /// Returns the number of kernels that the device runs for an operator.
  [[nodiscard]] double kernel_launch_count(const step::Operator& op) const;

  /// Returns a lower bound on the seconds of a fused attention or a grouped matrix product, however
  /// its work is divided into shapes: its FLOPs at the highest rate that its price can reach.
  [[nodiscard]] double min_operator_seconds(const step::Operator& op) const;

  /// Returns the operator's sizes that lie outside the range on which its profile was fitted, as
  /// "keys 32768, fitted 1024 to 5120"; empty if all are inside, or if no profile prices it.
  [[nodiscard]] std::string outside_fitted_range_text(const step::Operator& op) const;

  /// Returns the names of the operator profiles that price computations, with "(scaled)" after
  /// those of other devices; nullopt: documented defaults price everything.
  [[nodiscard]] std::optional<std::string> operator_profile_names() const;

 private:
  static constexpr std::size_t kDTypes = std::size(kDTypeNames);

  /// Default rates of operators without a fitted profile, as seconds per FLOP or byte, and fixed
  /// seconds per kernel.
  struct DefaultOperatorRates {
    std::array<double, kDTypes> matrix_s_per_flop{};
    /// Seconds per FLOP of the job's attention kernel in the forward, indexed by `DType`.
    std::array<double, kDTypes> attention_s_per_flop{};
    double vector_s_per_flop = 0;
    double memory_s_per_byte = 0;
    /// Fixed seconds of a matrix product or an attention kernel, whatever its size.
    double start_s = 0;
    double launch_s = 0;  ///< Seconds between the end of one kernel and the start of the next.
  };
  /// The profile entry that prices one class of operators in the forward or the backward; null
  /// pointers: none does.
  struct PricingProfileEntry {
    const OperatorProfile* profile = nullptr;
    const Later<OperatorClassFit>* entry = nullptr;
    /// Factor on the entry's arithmetic rate, which accounts for another device generation, another
    /// attention kernel, and the lower clock of a running job.
    double speedup = 1;
  };

  void set_rates(const cluster::DeviceModel& device);
  [[nodiscard]] const PricingProfileEntry* fitted(OperatorClass what, OperatorPass pass) const;
  [[nodiscard]] PricingProfileEntry best_fit(
      OperatorClass what, OperatorPass pass,
      std::span<const OperatorProfile* const> profiles) const;
  [[nodiscard]] double speedup(const OperatorProfile& profile, OperatorClass what,
                               OperatorPass pass, const Later<OperatorClassFit>& entry) const;
  [[nodiscard]] FittedTimeConditions use_of(const PricingProfileEntry& fit,
                                            const step::Operator& op) const;
  [[nodiscard]] double unrouted_s(const step::Operator& op) const;
  [[nodiscard]] std::optional<double> fitted_s(const step::Operator& op) const;
  [[nodiscard]] double default_s(const step::Operator& op, bool is_run_as_unfused_kernels) const;
  /// True if the job's framework runs the operator (a norm, a rotary embedding, ...) as several
  /// unfused kernels.
  [[nodiscard]] bool is_run_as_unfused_kernels(const step::Operator& op) const;
  /// Returns the relative FLOP/s of a matrix product for the layout of its operands: 1 if both run
  /// along the inner dimension; below 1 in TF32 on Hopper if one runs across it.
  [[nodiscard]] double matrix_product_rate_factor_of_layout(const step::Operator& op) const;
  /// Returns the share of the fp32 peak that the sums (or their gradients) of rows that return from
  /// experts keep; below 1 if the framework adds elements atomically or multiplies by outer
  /// products.
  [[nodiscard]] double row_sum_share(const step::Operator& op) const;
  [[nodiscard]] double arithmetic_s(const step::Operator& op) const;
  /// Returns the device's peak FLOP/s in the data type in which an operator multiplies.
  [[nodiscard]] double operator_peak_flops(const step::Operator& op) const;
  /// Returns the fewest seconds in which the device's peak FLOP/s and memory bandwidth allow an
  /// operator.
  [[nodiscard]] double roofline_lower_bound_s(const step::Operator& op) const;

  /// Hardware generation of the job's device (Hopper, Blackwell, ...).
  const cluster::DeviceGeneration* generation_;
  plan::FrameworkKernels kernels_;
  plan::WordSet apart_;  ///< Work that the job's framework does by unfused kernels.
  DeviceLoad load_;
  /// Factor on the rate of fused attention if the job computes it in fp8; else 1.
  double attention_speedup_ = 1;
  /// FLOP/s of fused attention's backward / FLOP/s of its forward.
  double attention_backward_ = 1;
  /// Clock of the device during a job, relative to the best-known board of its generation.
  double clock_ = 1;
  std::string device_;
  DevicePeakRates peaks_;
  /// Peak FLOP/s of the device, indexed by `DType`; 0: the device has no peak for the type.
  std::array<double, kDTypes> peak_flops_{};
  /// Rate of matrix products in a number type / rate in 16-bit types, indexed by `DType`; 0: fits
  /// in 16 bits do not apply to the type (fp32, fp64).
  std::array<double, kDTypes> narrow_speedup_{};
  DefaultOperatorRates rates_;
  std::array<std::array<PricingProfileEntry, kPasses>, kOperatorClasses> fitted_{};
};

}  // namespace stepwright::cost
