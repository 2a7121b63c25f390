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

/// Share of the 16-bit peak that a kernel of attention attains forward at head dimension 128.
double attention_share(const cluster::Generation& generation, cluster::AttentionKernel kernel);

/// Rate of a long fused attention backward over its forward.
double attention_backward(const cluster::Generation& generation, cluster::AttentionKernel kernel);

/// The share of its peak that arithmetic keeps under the power limit of a device's board, over that
/// of the best-known board of its generation: the power for each FLOP/s of the peak over that of
/// the best-known board, ((P - P0) / F / ((Pg - P0) / Fg))^(1/2), P0 what does not depend on the
/// clock; at most what no limit binds (`kFreeClock`). 1 where the device states no limit of its
/// own.
double clock_under_power(const cluster::Generation& generation, const cluster::Device& device);

/// Whether computations run back to back in a training step, where power lowers the clock of long
/// products, or one kernel alone, as operator samples are taken.
enum class Load : std::uint8_t { kRunning, kIsolated };

/// Prices computations of one job on its device. Immutable, safe to share between threads; pricing
/// allocates nothing. A class of operators that a profile has fitted follows its law and trees,
/// scaled to the device's peaks; what no profile has is priced by the documented defaults of
/// `docs/models.md`: a roofline with attainable rates.
class ComputeCost {
 public:
  /// Prices with the built-in profiles, those of the job's device first.
  explicit ComputeCost(const plan::Job& job);
  /// Prices with these profiles in order of preference, which must outlive this; with none,
  /// unfitted.
  ComputeCost(const plan::Job& job, std::span<const OperatorProfile* const> profiles,
              Load load = Load::kRunning);

  /// Seconds of an operator alone. Never above the device's peaks. Routed work counts the busiest
  /// rank. `repeats` does not count.
  [[nodiscard]] double seconds(const step::Operator& op) const;

  /// Seconds of a whole pass of a class as one measurement has it: the backward of a product is its
  /// data and its weight gradient.
  [[nodiscard]] double pass_seconds(OperatorClass what, Pass pass, const step::Operator& op) const;

  /// Seconds below which the device's peaks forbid any time of a pass.
  [[nodiscard]] double pass_floor_s(OperatorClass what, Pass pass, const step::Operator& op) const;

  /// Kernels that the device runs for an operator.
  [[nodiscard]] double kernels(const step::Operator& op) const;

  /// Seconds that a fused attention or a grouped product cannot go below however it is cut into
  /// shapes: its FLOPs at the best rate that its price knows.
  [[nodiscard]] double least_seconds(const step::Operator& op) const;

  /// The sizes in which an operator lies outside of what its profile was fitted on ("keys 32768,
  /// fitted 1024 to 5120"); empty when inside, or when no profile prices it.
  [[nodiscard]] std::string outside_range(const step::Operator& op) const;

  /// The profiles that price computations, those of other devices with "(scaled)"; nullopt: the
  /// documented defaults do.
  [[nodiscard]] std::optional<std::string> fit() const;

 private:
  static constexpr std::size_t kDTypes = std::size(kDTypeNames);

  /// Reciprocals of attainable rates, and what every kernel pays.
  struct Rates {
    std::array<double, kDTypes> matrix_s_per_flop{};
    std::array<double, kDTypes> attention_s_per_flop{};  ///< The job's kernel, forward pass.
    double vector_s_per_flop = 0;
    double memory_s_per_byte = 0;
    double start_s = 0;   ///< Start of a product or an attention.
    double launch_s = 0;  ///< Launch gap of any kernel.
  };
  /// The profile's entry that prices a class and pass.
  struct Fitted {
    const OperatorProfile* profile = nullptr;
    const Later<OperatorEntry>* entry = nullptr;
    /// The factor on the rate of arithmetic: another generation, another attention kernel, a
    /// running job.
    double speedup = 1;
  };

  void set_rates(const cluster::Device& device);
  [[nodiscard]] const Fitted* fitted(OperatorClass what, Pass pass) const;
  [[nodiscard]] Fitted best_fit(OperatorClass what, Pass pass,
                                std::span<const OperatorProfile* const> profiles) const;
  [[nodiscard]] double speedup(const OperatorProfile& profile, OperatorClass what, Pass pass,
                               const Later<OperatorEntry>& entry) const;
  [[nodiscard]] FitUse use_of(const Fitted& fit, const step::Operator& op) const;
  [[nodiscard]] double unrouted_s(const step::Operator& op) const;
  [[nodiscard]] std::optional<double> fitted_s(const step::Operator& op) const;
  [[nodiscard]] double default_s(const step::Operator& op, bool unfused) const;
  /// Whether the job's framework writes an operator as several kernels.
  [[nodiscard]] bool unfused(const step::Operator& op) const;
  /// The rate of a product's arithmetic over that of operands along the inner dimension: below 1 in
  /// TF32 on Hopper for those that lie across.
  [[nodiscard]] double transposed_rate(const step::Operator& op) const;
  [[nodiscard]] double arithmetic_s(const step::Operator& op) const;
  /// FLOP/s of the type that an operator multiplies in.
  [[nodiscard]] double peak_of(const step::Operator& op) const;
  /// Seconds that no device of these peaks can go below.
  [[nodiscard]] double floor_s(const step::Operator& op) const;

  const cluster::Generation* generation_;  ///< The generation of the device.
  plan::Kernels kernels_;
  Load load_;
  double attention_speedup_ = 1;   ///< Rate of fused attention in its type.
  double attention_backward_ = 1;  ///< Backward's rate of fused attention.
  double clock_ = 1;               ///< Clock of a running job, over that of the best-known board.
  std::string device_;
  DevicePeaks peaks_;
  std::array<double, kDTypes> peak_flops_{};      ///< 0: the device does not say.
  std::array<double, kDTypes> narrow_speedup_{};  ///< Rate of products; 0: no fit has the type.
  Rates rates_;
  std::array<std::array<Fitted, kPasses>, kOperatorClasses> fitted_{};
};

}  // namespace stepwright::cost
