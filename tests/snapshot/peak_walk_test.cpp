#include "stepwright/snapshot/peak_walk.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace stepwright::snapshot {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> sizes_at_peak(const MemoryPeakFinder& walk) {
  std::vector<std::int64_t> sizes;
  for (const MemoryBlock& block : walk.blocks_at_peak()) sizes.push_back(block.bytes);
  return sizes;
}

TEST(MemoryPeakFinder, CountsWhatWasThereBefore) {
  MemoryPeakFinder walk;
  walk.free(1, {.bytes = 3, .event = 0});
  walk.allocate(2, {.bytes = 5, .event = 1});
  EXPECT_TRUE(walk.allocate(3, {.bytes = 1, .event = 2}));
  walk.free(2, {.bytes = 5, .event = 3});
  walk.add_block_in_use_at_end(4, {.bytes = 10});
  walk.add_block_in_use_at_end(3, {.bytes = 1});
  EXPECT_EQ(walk.bytes_before_first_event(), 13);
  EXPECT_EQ(walk.peak_bytes(), 16);
  EXPECT_EQ(walk.peak_event_index(), 2);
  EXPECT_THAT(sizes_at_peak(walk), ElementsAre(10, 5, 1));
}

TEST(MemoryPeakFinder, IsBeforeTheFirstEventWhereBlocksAreOnlyFreed) {
  MemoryPeakFinder walk;
  walk.free(1, {.bytes = 3, .event = 0});
  walk.free(2, {.bytes = 4, .event = 1});
  EXPECT_EQ(walk.peak_event_index(), -1);
  EXPECT_EQ(walk.peak_bytes(), 7);
  EXPECT_THAT(sizes_at_peak(walk), ElementsAre(4, 3));
}

/// Compares the peak of random events, and its blocks, with a list of all sums.
TEST(MemoryPeakFinder, IsTheLargestOfAllSums) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::map<std::uint64_t, std::int64_t> in_use;
    for (std::uint64_t key = 100; key < 103; ++key) in_use[key] = std::int64_t(random() % 20 + 1);
    const auto before = in_use;
    MemoryPeakFinder walk;
    std::map<std::uint64_t, std::int64_t> at_peak = in_use;
    const auto sum = [](const auto& blocks) {
      std::int64_t bytes = 0;
      for (const auto& [key, size] : blocks) bytes += size;
      return bytes;
    };
    for (std::int64_t event = 0; event < 40; ++event) {
      if (random() % 2 == 0 && !in_use.empty()) {
        const auto gone = std::next(in_use.begin(), static_cast<long>(random() % in_use.size()));
        walk.free(gone->first, {.bytes = gone->second, .event = event});
        in_use.erase(gone);
      } else {
        const auto key = static_cast<std::uint64_t>(event);
        in_use[key] = std::int64_t(random() % 20 + 1);
        walk.allocate(key, {.bytes = in_use[key], .event = event});
      }
      if (sum(in_use) > sum(at_peak)) at_peak = in_use;
    }
    for (const auto& [key, bytes] : in_use) walk.add_block_in_use_at_end(key, {.bytes = bytes});
    EXPECT_EQ(walk.bytes_before_first_event(), sum(before));
    EXPECT_EQ(walk.peak_bytes(), sum(at_peak));
    std::vector<std::int64_t> expected;
    for (const auto& [key, bytes] : at_peak) expected.push_back(bytes);
    EXPECT_THAT(sizes_at_peak(walk), ::testing::UnorderedElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace stepwright::snapshot
