#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stepwright::validate {

/// Statistics of signed relative errors, `predicted / measured - 1`, as fractions.
struct ErrorStatistics {
  std::size_t used = 0;
  double median_abs = 0;
  double mean_abs = 0;
  double p90_abs = 0;
  double mean_signed = 0;
  double within_10_percent = 0;  ///< Share of rows whose error is at most 10 %.
};

/// Returns the median of values, at least one; for an even number, the mean of the middle two.
double median(std::vector<double> values);

/// Returns the statistics of errors; all members are zero if there are none. p90: the smallest
/// error that nine tenths of the rows do not exceed.
ErrorStatistics error_statistics(std::span<const double> errors);

/// The errors of one group of rows; a row may have several errors.
class ErrorGroup {
 public:
  void add(std::size_t row, double error);
  /// Returns statistics over all errors; `used` counts rows, not errors.
  [[nodiscard]] ErrorStatistics statistics() const;

 private:
  std::vector<double> errors_;
  std::size_t rows_ = 0;
  std::size_t last_ = 0;  ///< Row of the last error that was added; rows are added in order.
};

}  // namespace stepwright::validate
