#include "stepwright/simulate/earliest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace stepwright {
namespace {

TEST(Earliest, FindsTheFirstOfTheSmallest) {
  std::mt19937 random(1);
  for (const std::int32_t count : {1, 2, 3, 5, 8, 13, 64}) {
    Earliest earliest(count);
    std::vector<double> times(count, std::numeric_limits<double>::infinity());
    for (int round = 0; round < 2000; ++round) {
      const auto index = static_cast<std::int32_t>(random() % count);
      times[index] = random() % 4 == 0 ? std::numeric_limits<double>::infinity()
                                       : static_cast<double>(random() % 16);
      earliest.set(index, times[index]);
      const auto smallest = std::min_element(times.begin(), times.end());
      ASSERT_EQ(earliest.time(), *smallest);
      ASSERT_EQ(earliest.index(), smallest - times.begin());
    }
  }
}

}  // namespace
}  // namespace stepwright
