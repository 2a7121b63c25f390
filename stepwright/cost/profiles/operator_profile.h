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

/// The form that a fit chose for one class and pass.
enum class FitKind : std::uint8_t {
  kLaw,            ///< The physical law only, without trees.
  kTrees,          ///< Trees that predict the logarithm of the seconds.
  kLawTimesTrees,  ///< The law, corrected by trees over the logarithm of its error.
};
inline constexpr Named<FitKind> kFitKindNames[] = {{FitKind::kLaw, "law"},
                                                   {FitKind::kTrees, "trees"},
                                                   {FitKind::kLawTimesTrees, "law_times_trees"}};

/// The fit of one class and pass on one device.
struct OperatorEntry {
  OperatorClass what{};
  Pass pass{};
  FitKind kind{};
  LawConstants law;
  BoostedTrees trees;
  /// Least and greatest sum of the trees (a logarithm) on the fitted rows; later sums are clamped
  /// to them.
  double lowest_log = 0, highest_log = 0;
  std::vector<FittedRange> range;
  /// The attention kernel that was sampled, for kAttention.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
};

/// One fit of a class and pass. A class and pass has one fit; attention has one for each kernel
/// that was sampled.
struct FittedKernel {
  cluster::AttentionKernel kernel =
      cluster::AttentionKernel::kFlash2;  ///< The attention kernel, for kAttention entries.
  std::unique_ptr<const Later<OperatorEntry>> entry;
};

/// The fitted operators of one device, as a profile file has them (docs/formats.md, "Profile").
struct OperatorProfile {
  std::string name;
  std::string device;  ///< Name of the device, usually a built-in one.
  /// The device's generation, or else the one that its peak suggests.
  const cluster::DeviceGeneration* generation = nullptr;
  DevicePeaks peaks;
  int multiprocessors = 1;
  /// Fits by class and pass; empty: not fitted. Fits of built-in profiles are read when they are
  /// first asked for.
  std::array<std::array<std::vector<FittedKernel>, kPasses>, kOperatorClasses> entries;

  /// Returns the fit of a class and pass; for attention the fit of `kernel`, or else of the kernel
  /// whose share of the peak is nearest. Null without a fit.
  [[nodiscard]] const Later<OperatorEntry>* find(
      OperatorClass what, Pass pass,
      cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2) const;
  /// Adds a fit. False if the class, pass and kernel have one already.
  bool add(OperatorClass what, Pass pass, FittedKernel fitted);
};

/// Reads the operators of a profile document, and ignores its other keys. Fails with `kInput`,
/// naming file and field.
OperatorProfile read_operator_profile(const Document& document);
/// Reads one entry of the `operators` of a profile. Fails as `read_operator_profile` does.
OperatorEntry read_operator_entry(Node node);

/// The circumstances under which a fit is asked for a price.
struct FitPriceConditions {
  DevicePeaks peaks;
  double arithmetic_speedup = 1;  ///< Factor on the rate of arithmetic.
  bool trees = true;              ///< True if trees correct the law.
  /// True if the host has issued a kernel before the device reaches it, as in a step, where the
  /// host's time is counted apart (`CostModel::host_s`); false: a start takes as long as it was
  /// sampled.
  bool issued_ahead = false;
};
/// Returns the seconds of each kernel of a pass on a device: the law with the device's peaks,
/// corrected by the fit's trees.
std::array<double, 2> fitted_seconds(const OperatorProfile& profile, const OperatorEntry& entry,
                                     const step::Operator& op, const FitPriceConditions& use);

/// Returns the least seconds, by the fit, of an operator of the class and pass with `flops` FLOPs.
double least_fitted_seconds(const OperatorEntry& entry, double flops,
                            const FitPriceConditions& use);

/// Returns in words the quantity that is farthest outside of the fitted range ("keys 32768, fitted
/// 1024 to 5120"); empty when all are inside.
std::string outside_range(const OperatorEntry& entry, const step::Operator& op);

}  // namespace stepwright::cost
