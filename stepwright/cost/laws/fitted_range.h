#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::cost {

/// One size of an operator or message ("keys", "rows", "bytes", ...) with its value.
struct NamedSize {
  std::string_view name;
  double value = 0;
};

/// The least and the greatest value of one size (rows, keys, bytes, ...) in the measurements on
/// which a fit rests, both included.
struct FittedSizeRange {
  std::string name;
  double low = 0, high = 0;
};

/// Widens the range of each named size so that it includes the given value; adds a range for a size
/// that has none.
void widen_fitted_ranges(std::vector<FittedSizeRange>& ranges, std::span<const NamedSize> sizes);

/// Reads the fitted ranges `{NAME: [lowest, highest], ...}` of a profile file. Fails with `kInput`,
/// naming file and field.
std::vector<FittedSizeRange> read_fitted_ranges(DocumentNode node);

/// Returns text about the size that lies farthest outside its fitted range, as "keys 32768, fitted
/// 1024 to 5120"; empty if all sizes are inside or have no range.
std::string outside_fitted_range_text(std::span<const FittedSizeRange> ranges,
                                      std::span<const NamedSize> sizes);

}  // namespace stepwright::cost
