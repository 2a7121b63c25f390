#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stepwright::validate {

/// Statistics of the relative errors of predictions, `predicted / measured - 1`, as fractions.
struct ErrorStatistics {
  std::size_t used = 0;
  double median_abs = 0;
  double mean_abs = 0;
  double p90_abs = 0;
  double mean_signed = 0;
  double within_10_percent = 0;  ///< Share of predictions whose absolute error is at most 10 %.
};

/// Returns the median of one or more values; for an even number, the mean of the middle two.
double median(std::vector<double> values);

/// Returns the statistics of relative errors; all members are zero if there are none. `p90_abs`:
/// smallest absolute error that nine tenths of the errors do not exceed.
ErrorStatistics error_statistics(std::span<const double> errors);

/// The errors of the predictions in one group of table rows; a row may have several errors.
class ErrorGroup {
 public:
  void add(std::size_t row, double error);
  /// Returns statistics over all errors of the group; `used` counts rows, not errors.
  [[nodiscard]] ErrorStatistics error_statistics_of_group() const;

 private:
  std::vector<double> errors_;
  std::size_t rows_ = 0;
  /// Index of the table row to which the last added error belongs; rows are added in order.
  std::size_t last_ = 0;
};

}  // namespace stepwright::validate
