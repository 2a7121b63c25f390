#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/core/document.h"
#include "stepwright/core/later.h"
#include "stepwright/cost/laws/boosted_trees.h"
#include "stepwright/cost/laws/fitted_range.h"
#include "stepwright/cost/laws/operator_class.h"
#include "stepwright/cost/laws/operator_law.h"
#include "stepwright/plan/job.h"

namespace stepwright::cost {

/// Which model a fit chose for one operator class, forward or backward: a law, boosted trees, or
/// both.
enum class FitModelKind : std::uint8_t {
  kLaw,            ///< A physical law (FLOPs, bytes, start) alone.
  kTrees,          ///< Boosted trees that predict the logarithm of the seconds.
  kLawTimesTrees,  ///< A physical law, corrected by trees that predict the logarithm of its error.
};
inline constexpr Named<FitModelKind> kFitKindNames[] = {
    {FitModelKind::kLaw, "law"},
    {FitModelKind::kTrees, "trees"},
    {FitModelKind::kLawTimesTrees, "law_times_trees"}};

/// The fitted model of one operator class, forward or backward, on one device.
struct OperatorClassFit {
  OperatorClass what{};
  OperatorPass pass{};
  FitModelKind kind{};
  OperatorTimeLawConstants law;
  BoostedTrees trees;
  /// Least and greatest output of the trees (a logarithm) on the measured rows; predictions are
  /// clamped to this range.
  double lowest_log = 0, highest_log = 0;
  std::vector<FittedSizeRange> range;
  /// Attention kernel that was measured; used only by the class kAttention.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
};

/// One fitted model of an operator class, forward or backward. Attention has one for each kernel
/// that was measured; other classes have one.
struct FittedKernel {
  /// Attention kernel that was measured; used only by the class kAttention.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
  std::unique_ptr<const Later<OperatorClassFit>> entry;
};

/// All fitted operator classes of one device: the content of a profile file (docs/formats.md,
/// "Profile").
struct OperatorProfile {
  std::string name;
  std::string device;  ///< Name of the measured device, usually a built-in one.
  /// Generation of the measured device; for an unknown device, the one that its peak FLOP/s
  /// suggest.
  const cluster::DeviceGeneration* generation = nullptr;
  DevicePeakRates peaks;
  int multiprocessors = 1;
  /// Fitted models, indexed by class and pass (forward, backward); empty: not fitted. Built-in ones
  /// are parsed at first use.
  std::array<std::array<std::vector<FittedKernel>, kPasses>, kOperatorClasses> entries;

  /// Returns the fitted model of a class and pass; null if there is none. For attention: that of
  /// `kernel`, else of the kernel with the nearest share of the peak.
  [[nodiscard]] const Later<OperatorClassFit>* find(
      OperatorClass what, OperatorPass pass,
      cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2) const;
  /// Adds a fitted model; returns false if the class, pass and attention kernel already have one.
  bool add(OperatorClass what, OperatorPass pass, FittedKernel fitted);
};

/// Reads the fitted operators of a profile document and ignores its other keys. Fails with
/// `kInput`, naming file and field.
OperatorProfile read_operator_profile(const YamlJsonDocument& document);
/// Reads one entry of the `operators` list of a profile. Fails with `kInput`, naming file and
/// field.
OperatorClassFit read_operator_entry(DocumentNode node);

/// Conditions under which a fitted model predicts a time: the target device's peaks, its speed-up,
/// and how kernels are launched.
struct FittedTimeConditions {
  DevicePeakRates peaks;
  /// Factor on the fitted FLOP/s, as of a narrower type or another generation.
  double arithmetic_speedup = 1;
  bool trees = true;  ///< True if the fit's boosted trees are used; false: only its law.
  /// True if the host launches a kernel before the device is ready for it, as in a training step
  /// (launch time is then counted by `CostModel::host_kernel_launch_seconds`); false: each kernel
  /// has the start time that was measured.
  bool issued_ahead = false;
};
/// Returns the seconds of each kernel of an operator's forward or backward: the fitted law with the
/// target device's peaks, corrected by the fit's boosted trees.
std::array<double, 2> fitted_kernel_seconds(const OperatorProfile& profile,
                                            const OperatorClassFit& entry, const step::Operator& op,
                                            const FittedTimeConditions& use);

/// Returns a lower bound, by the fitted model, on the seconds of any operator of its class and pass
/// with `flops` FLOPs.
double min_seconds_by_fitted_model(const OperatorClassFit& entry, double flops,
                                   const FittedTimeConditions& use);

/// Returns text about the operator's size that lies farthest outside the measured range, as "keys
/// 32768, fitted 1024 to 5120"; empty if all are inside.
std::string outside_fitted_range_text(const OperatorClassFit& entry, const step::Operator& op);

}  // namespace stepwright::cost
