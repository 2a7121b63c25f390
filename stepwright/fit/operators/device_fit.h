#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "stepwright/cost/profiles/operator_profile.h"
#include "stepwright/fit/samples/operator_sample.h"

namespace stepwright::fit {

/// Summary of the relative errors of predicted over measured operator times.
struct OperatorFitErrors {
  double mean = 0;  ///< Mean of |predicted / measured - 1| over rows.
  /// Median of |predicted / measured - 1| over the rows of operator times.
  double median = 0;
  /// 90th percentile of |predicted / measured - 1| over the rows of operator times.
  double p90 = 0;
  double bias = 0;  ///< Median of predicted / measured - 1; positive: predicted times are too long.
  std::size_t rows = 0;
};

/// Errors of the three kinds of fits that are tried for a class of operators and a pass (forward or
/// backward), each on rows left out together by hidden size.
struct FitCandidateErrors {
  OperatorFitErrors law, trees, law_times_trees;
  /// Errors on the same rows of the documented default constants, which are fitted to no row.
  OperatorFitErrors unfitted;
};

/// The fit of one class of operators in one pass (forward or backward), with its errors and the
/// rows that it dropped.
struct FittedOperator {
  cost::OperatorClassFit entry;
  /// Names by which the tables of samples call the operators of this class.
  std::vector<std::string> series;
  FitCandidateErrors errors;
  /// Errors of the chosen kind of fit, for each operator name in the tables.
  std::map<std::string, OperatorFitErrors> by_series;
  /// Number of rows that the fit did not use, by reason.
  std::map<std::string, std::size_t> dropped;
  std::size_t rows = 0;
  std::string refused;  ///< Why the fit must not be used; empty: it may be used.
  /// Name of the formula from which the fit was derived because no sample measured the class;
  /// empty: samples did.
  std::string derived;
};

/// The device to which operator times are fitted, with facts that the fit needs.
struct OperatorFitDevice {
  cluster::DeviceModel device;
  int multiprocessors = 1;
  /// Attention kernel whose default prediction a fit must beat.
  cluster::AttentionKernel attention = cluster::AttentionKernel::kFlash2;
};

struct DeviceFit {
  std::vector<FittedOperator> operators;
  /// Rows that the fit did not use, each with its reason, in order of file and line.
  std::vector<UnusableOperatorRow> dropped;
};

/// Fits the times of every class of operators and pass that has samples. Rows above a peak, in
/// wrong units, or far from all other rows are dropped and listed; operators with mostly impossible
/// rows are dropped as a whole. Of three kinds of fits, the one with the least mean error on hidden
/// sizes left out (six folds) is chosen, and refused if the defaults are better.
DeviceFit fit_device_operators(std::span<const OperatorSampleTable> tables,
                               const OperatorFitDevice& device);

}  // namespace stepwright::fit
