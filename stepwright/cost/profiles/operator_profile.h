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
  kLaw,            ///< The physical law alone.
  kTrees,          ///< Trees over the logarithm of the seconds.
  kLawTimesTrees,  ///< The law, corrected by trees over the logarithm of what it misses.
};
inline constexpr Named<FitKind> kFitKindNames[] = {{FitKind::kLaw, "law"},
                                                   {FitKind::kTrees, "trees"},
                                                   {FitKind::kLawTimesTrees, "law_times_trees"}};

/// One class and pass on one device, fitted.
struct OperatorEntry {
  OperatorClass what{};
  Pass pass{};
  FitKind kind{};
  LawConstants law;
  BoostedTrees trees;
  /// Least and most that the trees add to the logarithm on the fitted rows; they never do more.
  double lowest_log = 0, highest_log = 0;
  std::vector<FittedRange> range;
  /// The kernel that was sampled, for kAttention.
  cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
};

/// A fit of a class and pass, which has one, or one for each attention kernel that was sampled.
struct FittedKernel {
  cluster::AttentionKernel kernel =
      cluster::AttentionKernel::kFlash2;  ///< Kernel of kAttention entries.
  std::unique_ptr<const Later<OperatorEntry>> entry;
};

/// The operators of one device, as a profile file has them (docs/formats.md, "Profile").
struct OperatorProfile {
  std::string name;
  std::string device;                               ///< A built-in device, as a rule.
  const cluster::Generation* generation = nullptr;  ///< The device's own, or that of its peak.
  DevicePeaks peaks;
  int multiprocessors = 1;
  /// Empty: not fitted. Built-in ones are read when they are first asked for.
  std::array<std::array<std::vector<FittedKernel>, kPasses>, kOperatorClasses> entries;

  /// The fit of a class and pass; of attention that of this kernel, or else of the one whose share
  /// of the peak is nearest. Null without one.
  [[nodiscard]] const Later<OperatorEntry>* find(
      OperatorClass what, Pass pass,
      cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2) const;
  /// Adds one of the fits. False where the class, pass and kernel have one.
  bool add(OperatorClass what, Pass pass, FittedKernel fitted);
};

/// Reads the operators of a profile document; what else a profile holds is passed over. Fails with
/// `kInput` naming file and field.
OperatorProfile read_operator_profile(const Document& document);
/// Reads one of the `operators` of a profile. Fails as above.
OperatorEntry read_operator_entry(Node node);

/// Under what a fit is asked for a price.
struct FitUse {
  DevicePeaks peaks;
  double arithmetic_speedup = 1;  ///< Factor on the rate of arithmetic.
  bool trees = true;              ///< Whether trees correct the law.
  /// Whether the host has issued a kernel before the device reaches it, as in a step, where its own
  /// time is counted apart (`CostModel::host_s`); else a start is as it was sampled.
  bool issued_ahead = false;
};
/// Seconds of each kernel of a pass on a device: the law there, corrected as on the device of the
/// fit.
std::array<double, 2> fitted_seconds(const OperatorProfile& profile, const OperatorEntry& entry,
                                     const step::Operator& op, const FitUse& use);

/// Seconds that no operator of the class and pass with as many FLOPs goes below, by the fit.
double least_fitted_seconds(const OperatorEntry& entry, double flops, const FitUse& use);

/// The quantity that is farthest outside of what the fit saw, in words ("keys 32768, fitted 1024
/// to 5120"); empty when all are inside.
std::string outside_range(const OperatorEntry& entry, const step::Operator& op);

}  // namespace stepwright::cost
