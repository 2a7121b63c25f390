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

/// The candidates that were tried for a class and pass, each judged on whole hidden sizes left out.
struct Candidates {
  FitError law, trees, law_times_trees;
  FitError unfitted;  ///< The documented defaults, which saw no row.
};

/// The fit of one class of operators in one pass, with its errors and dropped rows.
struct FittedOperator {
  cost::OperatorEntry entry;
  std::vector<std::string> series;  ///< Names of the operators in the tables.
  Candidates errors;
  /// The errors of the chosen candidate by series.
  std::map<std::string, FitError> by_series;
  std::map<std::string, std::size_t> dropped;  ///< Dropped rows, by reason.
  std::size_t rows = 0;
  std::string refused;  ///< Why it is not to be used; empty when it is.
  std::string derived;  ///< Law from which it follows if nothing was measured; empty: measured.
};

/// The target of a fit.
struct FitTarget {
  cluster::Device device;
  int multiprocessors = 1;
  cluster::AttentionKernel attention =
      cluster::AttentionKernel::kFlash2;  ///< Kernel whose default a fit must beat.
};

struct DeviceFit {
  std::vector<FittedOperator> operators;
  std::vector<BadRow> dropped;  ///< Dropped rows, in order of file and line.
};

/// Fits every class and pass that the samples have. Rows above a peak, in wrong units, or far off
/// all other rows are dropped and listed; a series most of whose rows are impossible goes whole. A
/// candidate is chosen by its mean error on hidden sizes left out (six folds); a fit that is worse
/// than the default there is refused.
DeviceFit fit_device(std::span<const OperatorTable> tables, const FitTarget& device);

}  // namespace stepwright::fit
