#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::cost {

/// A size of an operator or message, with its name.
struct NamedSize {
  std::string_view name;
  double value = 0;
};

/// The range of one size over the rows of a fit, both ends included.
struct FittedRange {
  std::string name;
  double low = 0, high = 0;
};

/// Extends ranges to include these sizes; a size without a range gets one.
void widen_ranges(std::vector<FittedRange>& ranges, std::span<const NamedSize> sizes);

/// Reads `{NAME: [lowest, highest], ...}` of a profile. Fails with `kInput`, naming file and field.
std::vector<FittedRange> read_ranges(Node node);

/// Returns in words the size that is farthest outside of its range ("keys 32768, fitted 1024 to
/// 5120"); empty when all sizes are inside or have no range.
std::string outside_range(std::span<const FittedRange> ranges, std::span<const NamedSize> sizes);

}  // namespace stepwright::cost
