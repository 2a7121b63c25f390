#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/validate/rows/run_row.h"

namespace stepwright::validate {

/// One row that was predicted.
struct RowResult {
  std::string id;
  double predicted = 0;  ///< Seconds; bytes of memory.
  double measured = 0;
  double error = 0;  ///< predicted / measured - 1.
  /// The interval of 80 % of a run, in seconds; 0: the row is no run.
  double low_s = 0, high_s = 0;
  double waiting_share = 0;  ///< Share of a run's step (`simulate::waiting_share`).
  int unknown_parts = 0;     ///< Unknown parts of a run (`cost::unknown_parts`).
  /// The terms of the prediction: seconds by term ("compute", "bubble", ...), bytes by kind.
  std::vector<std::pair<std::string_view, double>> terms;
  std::vector<std::string> notes;
  std::vector<std::string> groups;  ///< One word for each of `error_groups`.
  /// The key by which runs are alike: equal for runs that differ in nothing but the plan. Empty:
  /// not compared.
  std::string alike = {};
  /// The key of the plan: alike runs with one key are repeated measurements. Empty: no other run
  /// has this plan.
  std::string plan = {};
  /// Bytes of the device's memory, for a peak or a label of one that fitted or did not.
  double capacity_bytes = 0;
  /// The predicted probability that the run fits in those bytes.
  double p_fits = 0;
  [[nodiscard]] std::string_view largest_term() const;
};

/// The outcome of one row: results, one for each of its measurements, or why there is none.
struct RowOutcome {
  std::vector<RowResult> results;
  std::optional<Skipped> skipped;
  std::vector<Skipped> left_out;  ///< Measurements of the row that are not used.
};

}  // namespace stepwright::validate
