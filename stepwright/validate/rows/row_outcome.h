#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// The prediction for one measurement of a table's row, compared with the measurement.
struct TableRowPrediction {
  std::string id;
  double predicted = 0;  ///< Predicted seconds, or predicted bytes of memory.
  double measured = 0;
  double error = 0;  ///< Relative error of the prediction: predicted / measured - 1.
  /// Interval that contains the step time of a training run with a probability of 80 %, in seconds;
  /// 0: the row is not a training run.
  double low_s = 0, high_s = 0;
  /// Share of a training run's predicted step spent waiting (`simulate::waiting_share`).
  double waiting_share = 0;
  /// How many of a training run's framework, device generation and precision (0 to 3) occur in no
  /// run to which the cost model was fitted.
  int unknown_parts = 0;
  /// Parts of the prediction: seconds by cause ("compute", "bubble", ...), or bytes by kind of
  /// memory.
  std::vector<std::pair<std::string_view, double>> terms;
  std::vector<std::string> notes;
  /// Groups to which the row belongs in error statistics: one value ("H100") for each key in
  /// `prediction_error_group_keys` ("device").
  std::vector<std::string> groups;
  /// Text that is equal for rows that differ only in the plan, so that their plans can be compared;
  /// empty: the row is not compared.
  std::string alike = {};
  /// Text that identifies the plan: runs with equal `alike` and `plan` are repeated measurements.
  /// Empty: the plan was measured once.
  std::string plan = {};
  /// Bytes of device memory, for rows that measure memory; else 0.
  double capacity_bytes = 0;
  /// Predicted probability that the run fits in the device's memory.
  double p_fits = 0;
  [[nodiscard]] std::string_view largest_term() const;
};

/// Outcome of one row of a table: a result for each of its measurements, or the reason why it was
/// skipped.
struct TableRowOutcome {
  std::vector<TableRowPrediction> results;
  std::optional<SkippedRowReason> skipped;
  /// Measurements of the row that were not used, each with a reason.
  std::vector<SkippedRowReason> left_out;
};

}  // namespace stepwright::validate
