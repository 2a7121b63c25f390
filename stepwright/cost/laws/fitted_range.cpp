#include "stepwright/cost/laws/fitted_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/core/format.h"

namespace stepwright::cost {

void widen_fitted_ranges(std::vector<FittedSizeRange>& ranges, std::span<const NamedSize> sizes) {
  for (const NamedSize& size : sizes) {
    const auto range = std::ranges::find(ranges, size.name, &FittedSizeRange::name);
    if (range == ranges.end()) {
      ranges.push_back({std::string(size.name), size.value, size.value});
      continue;
    }
    range->low = std::min(range->low, size.value);
    range->high = std::max(range->high, size.value);
  }
}

std::vector<FittedSizeRange> read_fitted_ranges(DocumentNode node) {
  std::vector<FittedSizeRange> ranges;
  for (const auto& [name, ends] : node.mapping_members()) {
    if (ends.size() != 2) ends.fail("is not a pair: lowest and highest");
    ranges.push_back({name, ends.at(0).number(), ends.at(1).number()});
  }
  return ranges;
}

std::string outside_fitted_range_text(std::span<const FittedSizeRange> ranges,
                                      std::span<const NamedSize> sizes) {
  double farthest = 1;
  std::string words;
  for (const NamedSize& size : sizes) {
    const auto range = std::ranges::find(ranges, size.name, &FittedSizeRange::name);
    if (range == ranges.end()) continue;
    const double factor = std::max(size.value / range->high, range->low / size.value);
    if (factor <= farthest) continue;
    farthest = factor;
    const auto whole = [](double value) { return format_count(std::llround(value)); };
    words = fmt::format("{} {}, measured {} to {}", size.name, whole(size.value), whole(range->low),
                        whole(range->high));
  }
  return words;
}

}  // namespace stepwright::cost
