#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stepwright {

/// Statistics of signed relative errors, `predicted / measured - 1`; all are fractions.
struct ErrorStatistics {
  std::size_t used = 0;
  double median_abs = 0;
  double mean_abs = 0;
  double p90_abs = 0;
  double mean_signed = 0;
  double within_10_percent = 0;  ///< Share of the rows.
};

/// Zero everywhere when there are none. The median of an even number is the mean of the two in the
/// middle; p90 is the smallest error that nine tenths do not exceed.
ErrorStatistics error_statistics(std::span<const double> errors);

/// Errors by a word of their rows, such as the source.
using ErrorGroups = std::map<std::string, std::vector<double>>;

}  // namespace stepwright
