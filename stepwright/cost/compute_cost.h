#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stepwright/cost/profiles/operator_profile.h"
#include "stepwright/plan/job.h"
#include "stepwright/step/operator.h"

namespace stepwright::cost {

/// Returns the share of the 16-bit peak that an attention kernel attains in the forward at head
/// dimension 128.
double attention_share(const cluster::DeviceGeneration& generation,
                       cluster::AttentionKernel kernel);

/// Returns the rate of a long fused attention backward over that of its forward.
double attention_backward(const cluster::DeviceGeneration& generation,
                          cluster::AttentionKernel kernel);

/// Returns the share of its peak that arithmetic keeps under the power limit of a device's board,
/// relative to the best-known board of its generation: ((P - P0) / F / ((Pg - P0) / Fg))^(1/2),
/// with P the power limit, F the peak FLOP/s, Pg and Fg those of the best-known board, and P0 the
/// power that does not depend on the clock. Capped at the share without any power limit
/// (`kFreeClock`). 1 where the device states no limit of its own.
double clock_under_power(const cluster::DeviceGeneration& generation,
                         const cluster::Device& device);

/// How a device is loaded. kRunning: computations run back to back in a training step, where power
/// lowers the clock of long products. kIsolated: one kernel runs alone, as operator samples are
/// taken.
enum class DeviceLoad : std::uint8_t { kRunning, kIsolated };

/// Prices computations of one job on its device. Immutable, safe to share between threads; pricing
/// allocates nothing. A class of operators that a profile has fitted follows its law and trees,
/// scaled to the device's peaks; other operators are priced by the documented defaults of
/// `docs/models.md`: a roofline with attainable rates.
class ComputeCost {
 public:
  /// Prices with the built-in profiles, those of the job's device first.
  explicit ComputeCost(const plan::Job& job);
  /// Prices with these profiles, in order of preference; they must outlive this. Without profiles,
  /// prices with the defaults (unfitted).
  ComputeCost(const plan::Job& job, std::span<const OperatorProfile* const> profiles,
              DeviceLoad load = DeviceLoad::kRunning);

  /// Returns the seconds of an operator that runs alone. Its rate is never above the device's
  /// peaks. Routed work counts the busiest rank. `repeats` is ignored.
  [[nodiscard]] double seconds(const step::Operator& op) const;

  /// Returns the seconds of a whole pass of a class, as one measurement covers it: the backward of
  /// a product is its data and its weight gradient.
  [[nodiscard]] double pass_seconds(OperatorClass what, Pass pass, const step::Operator& op) const;

  /// Returns the least seconds that the device's peaks allow for a pass.
  [[nodiscard]] double pass_floor_s(OperatorClass what, Pass pass, const step::Operator& op) const;

  /// Returns the number of kernels that the device runs for an operator.
  [[nodiscard]] double kernels(const step::Operator& op) const;

  /// Returns the least seconds of a fused attention or a grouped product, however it is cut into
  /// shapes: its FLOPs at the best rate that its price knows.
  [[nodiscard]] double least_seconds(const step::Operator& op) const;

  /// Returns the sizes in which an operator is outside of the range that its profile was fitted on
  /// ("keys 32768, fitted 1024 to 5120"); empty when it is inside, or when no profile prices it.
  [[nodiscard]] std::string outside_range(const step::Operator& op) const;

  /// Returns the profiles that price computations, those of other devices marked "(scaled)";
  /// nullopt: documented defaults price them.
  [[nodiscard]] std::optional<std::string> fit() const;

 private:
  static constexpr std::size_t kDTypes = std::size(kDTypeNames);

  /// Reciprocals of attainable rates, and the fixed costs of every kernel.
  struct Rates {
    std::array<double, kDTypes> matrix_s_per_flop{};
    /// Seconds per FLOP of the job's attention kernel in the forward, by type.
    std::array<double, kDTypes> attention_s_per_flop{};
    double vector_s_per_flop = 0;
    double memory_s_per_byte = 0;
    double start_s = 0;   ///< Seconds to start a product or an attention.
    double launch_s = 0;  ///< Seconds of the launch gap of any kernel.
  };
  /// The entry of a profile that prices a class and pass.
  struct Fitted {
    const OperatorProfile* profile = nullptr;
    const Later<OperatorEntry>* entry = nullptr;
    /// Factor on the rate of arithmetic for another generation, another attention kernel, and a
    /// running job.
    double speedup = 1;
  };

  void set_rates(const cluster::Device& device);
  [[nodiscard]] const Fitted* fitted(OperatorClass what, Pass pass) const;
  [[nodiscard]] Fitted best_fit(OperatorClass what, Pass pass,
                                std::span<const OperatorProfile* const> profiles) const;
  [[nodiscard]] double speedup(const OperatorProfile& profile, OperatorClass what, Pass pass,
                               const Later<OperatorEntry>& entry) const;
  [[nodiscard]] FitPriceConditions use_of(const Fitted& fit, const step::Operator& op) const;
  [[nodiscard]] double unrouted_s(const step::Operator& op) const;
  [[nodiscard]] std::optional<double> fitted_s(const step::Operator& op) const;
  [[nodiscard]] double default_s(const step::Operator& op, bool unfused) const;
  /// True if the job's framework runs an operator as several unfused kernels.
  [[nodiscard]] bool unfused(const step::Operator& op) const;
  /// Returns the rate of a product's arithmetic relative to operands along the inner dimension:
  /// below 1 in TF32 on Hopper for operands across it.
  [[nodiscard]] double transposed_rate(const step::Operator& op) const;
  [[nodiscard]] double arithmetic_s(const step::Operator& op) const;
  /// Returns the peak FLOP/s of the type that an operator multiplies in.
  [[nodiscard]] double operator_peak_flops(const step::Operator& op) const;
  /// Returns the least seconds that the device's peaks allow for an operator.
  [[nodiscard]] double floor_s(const step::Operator& op) const;

  const cluster::DeviceGeneration* generation_;  ///< The generation of the device.
  plan::Kernels kernels_;
  DeviceLoad load_;
  double attention_speedup_ = 1;   ///< Factor on the rate of fused attention for its type.
  double attention_backward_ = 1;  ///< Rate of a fused attention's backward over its forward.
  /// Clock of a running job relative to the best-known board of the generation.
  double clock_ = 1;
  std::string device_;
  DevicePeaks peaks_;
  /// Peak FLOP/s by type; 0: the device does not state it.
  std::array<double, kDTypes> peak_flops_{};
  /// Factor on the rate of products by type; 0: no fit has the type.
  std::array<double, kDTypes> narrow_speedup_{};
  Rates rates_;
  std::array<std::array<Fitted, kPasses>, kOperatorClasses> fitted_{};
};

}  // namespace stepwright::cost
