#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"

namespace stepwright::cost {

/// A size in plain numbers, by its name.
struct NamedSize {
  std::string_view name;
  double value = 0;
};

/// Sizes over which a fit saw rows, both ends included.
struct FittedRange {
  std::string name;
  double low = 0, high = 0;
};

/// Makes ranges hold these sizes; a size without a range gets one.
void widen(std::vector<FittedRange>& ranges, std::span<const NamedSize> sizes);

/// `{NAME: [lowest, highest], ...}` of a profile. Fails with `kInput` naming file and field.
std::vector<FittedRange> read_ranges(Node node);

/// The size that is farthest outside of its range, in words ("keys 32768, fitted 1024 to 5120");
/// empty when all are inside or have none.
std::string outside_range(std::span<const FittedRange> ranges, std::span<const NamedSize> sizes);

}  // namespace stepwright::cost
