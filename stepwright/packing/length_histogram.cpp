#include "stepwright/packing/length_histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stepwright/core/normal.h"

namespace stepwright::packing {
namespace {

constexpr int kReach = 4;   // standard deviations to each side
constexpr int kSteps = 50;  // steps per standard deviation

}  // namespace

double total_document_count(const LengthHistogram& histogram) {
  double sum = 0;
  for (const auto& [length, count] : histogram) sum += count;
  return sum;
}

double total_tokens(const LengthHistogram& histogram) {
  double sum = 0;
  for (const auto& [length, count] : histogram) sum += static_cast<double>(length) * count;
  return sum;
}

LengthHistogram merge_equal_lengths(LengthHistogram histogram) {
  std::ranges::sort(histogram, {}, &DocumentLengthCount::length);
  LengthHistogram made;
  for (const DocumentLengthCount& each : histogram) {
    if (each.count <= 0) continue;
    if (!made.empty() && made.back().length == each.length) {
      made.back().count += each.count;
    } else {
      made.push_back(each);
    }
  }
  return made;
}

LengthHistogram lognormal_length_histogram(double median, double sigma) {
  LengthHistogram histogram;
  const double all = normal_cdf(kReach) - normal_cdf(-kReach);
  const double mean = median * std::exp(sigma * sigma / 2);
  for (int i = -kReach * kSteps; i < kReach * kSteps; ++i) {
    const double low = static_cast<double>(i) / kSteps;
    const double high = static_cast<double>(i + 1) / kSteps;
    const double share = normal_cdf(high) - normal_cdf(low);
    const double length = mean * (normal_cdf(high - sigma) - normal_cdf(low - sigma)) / share;
    histogram.push_back({std::max<std::int64_t>(1, std::llround(length)), share / all});
  }
  return merge_equal_lengths(std::move(histogram));
}

}  // namespace stepwright::packing
