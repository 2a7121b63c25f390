#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stepwright::validate {

/// Statistics of signed relative errors, `predicted / measured - 1`; all are fractions.
struct ErrorStatistics {
  std::size_t used = 0;
  double median_abs = 0;
  double mean_abs = 0;
  double p90_abs = 0;
  double mean_signed = 0;
  double within_10_percent = 0;  ///< Share of the rows.
};

/// The median, of an even number the mean of the two in the middle. `values` is not empty.
double median(std::vector<double> values);

/// Zero everywhere when there are none; p90 is the smallest error that nine tenths do not exceed.
ErrorStatistics error_statistics(std::span<const double> errors);

/// Errors of a group of rows; a row may have several.
class ErrorGroup {
 public:
  void add(std::size_t row, double error);
  /// Statistics over errors; `used` counts rows.
  [[nodiscard]] ErrorStatistics statistics() const;

 private:
  std::vector<double> errors_;
  std::size_t rows_ = 0;
  std::size_t last_ = 0;  ///< Row of the last error; rows come in order.
};

}  // namespace stepwright::validate
