#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// The prediction for one measurement of a row.
struct RowResult {
  std::string id;
  double predicted = 0;  ///< Predicted seconds, or bytes of memory.
  double measured = 0;
  double error = 0;  ///< Relative error: predicted / measured - 1.
  /// Interval that contains a run's step with a probability of 80 %, in seconds; 0: the row is no
  /// run.
  double low_s = 0, high_s = 0;
  double waiting_share = 0;  ///< Share of a run's step spent waiting (`simulate::waiting_share`).
  int unknown_parts = 0;     ///< Number of unknown parts of a run (`cost::unfitted_parts_count`).
  /// Terms of the prediction: seconds by term ("compute", "bubble", ...), or bytes by kind.
  std::vector<std::pair<std::string_view, double>> terms;
  std::vector<std::string> notes;
  std::vector<std::string> groups;  ///< The row's value for each key in `error_groups`.
  /// Key that is equal for runs that differ only in the plan; empty: the row is not compared with
  /// others.
  std::string alike = {};
  /// Key of the plan: runs with equal `alike` and equal `plan` are repeated measurements. Empty: no
  /// other run has this plan.
  std::string plan = {};
  /// Bytes of the device's memory, for rows with a peak or a label.
  double capacity_bytes = 0;
  /// Predicted probability that the run fits in `capacity_bytes`.
  double p_fits = 0;
  [[nodiscard]] std::string_view largest_term() const;
};

/// The outcome of one row: a result for each of its measurements, or the reason why it was skipped.
struct RowOutcome {
  std::vector<RowResult> results;
  std::optional<Skipped> skipped;
  std::vector<Skipped> left_out;  ///< Measurements of the row that were not used, with reasons.
};

}  // namespace stepwright::validate
