#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/cost/profiles/operator_profile.h"
#include "stepwright/fit/samples/operator_sample.h"

namespace stepwright::fit {

/// Relative errors of predicted over measured time.
struct FitError {
  double mean = 0;    ///< Mean of |predicted / measured - 1| over rows.
  double median = 0;  ///< Median of |predicted / measured - 1| over rows.
  double p90 = 0;     ///< 90th percentile of |predicted / measured - 1| over rows.
  double bias = 0;    ///< Median of predicted / measured - 1.
  std::size_t rows = 0;
};

/// Errors of the candidates that were tried for a class and pass, each on rows left out together by
/// hidden size.
struct FitCandidates {
  FitError law, trees, law_times_trees;
  FitError unfitted;  ///< Error of the documented defaults, which were fitted to no row.
};

/// The fit of one class of operators in one pass, with its errors and dropped rows.
struct FittedOperator {
  cost::OperatorEntry entry;
  std::vector<std::string> series;  ///< Names of the class's operators in the tables.
  FitCandidates errors;
  /// Errors of the chosen candidate, by series.
  std::map<std::string, FitError> by_series;
  std::map<std::string, std::size_t> dropped;  ///< Number of dropped rows, by reason.
  std::size_t rows = 0;
  std::string refused;  ///< Why it must not be used; empty: it may be.
  /// The law from which it was derived, since nothing was measured; empty: it was measured.
  std::string derived;
};

/// The device that a fit is for.
struct FitTarget {
  cluster::Device device;
  int multiprocessors = 1;
  /// Attention kernel whose documented default a fit must beat.
  cluster::AttentionKernel attention = cluster::AttentionKernel::kFlash2;
};

struct DeviceFit {
  std::vector<FittedOperator> operators;
  std::vector<BadRow> dropped;  ///< Dropped rows, in order of file and line.
};

/// Fits every class and pass that has samples. Rows above a peak, in wrong units, or far from all
/// other rows are dropped and listed; a series with mostly impossible rows is dropped as a whole.
/// The candidate is chosen by its mean error on hidden sizes left out (six folds); a fit that is
/// worse than the default on them is refused.
DeviceFit fit_device(std::span<const OperatorTable> tables, const FitTarget& device);

}  // namespace stepwright::fit
