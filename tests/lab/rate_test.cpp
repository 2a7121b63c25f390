#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <map>
#include <sstream>

#include "own_lab.h"
#include "stepwright/lab/capacity.h"

namespace stepwright::lab {
namespace {

/// A flow of data from one rank to another.
struct Flow {
  int from = 0;
  int to = 0;
  double bytes = 0;
  int times = 1;
};

std::string name_of(const Flow& flow) { return fmt::format("{}>{}", flow.from, flow.to); }

/// Returns the seconds of each flow when all start together; tools/lab/lab_traffic.py sends them.
std::map<std::string, double> seconds_of(const EmulatedCluster& lab,
                                         const std::vector<Flow>& flows) {
  CommandLine command{"python3", "-B", "tools/lab/lab_traffic.py"};
  for (const Flow& flow : flows) {
    command.push_back(fmt::format("{}:{}*{}", name_of(flow), flow.bytes, flow.times));
  }
  const Ran ran = run_everywhere(lab, command);
  EXPECT_EQ(ran.result.failure, "") << ran.err;
  std::map<std::string, double> seconds;
  std::istringstream words(ran.out);
  std::string rank;
  std::string name;
  while (words >> rank >> name >> seconds[name]) {
  }
  seconds.erase("");
  return seconds;
}

/// Returns the best of many tries. A quiet machine needs one; other programs may load the machine
/// for half a minute. A link is never too fast.
template <class Rate>
void expect_rate(Rate rate, double expected_bytes_per_s) {
  constexpr int kTries = 60;
  double best = 0;
  for (int i = 0; i < kTries && best < 0.95 * expected_bytes_per_s; ++i)
    best = std::max(best, rate());
  EXPECT_GE(best, 0.95 * expected_bytes_per_s);
  EXPECT_LE(best, 1.05 * expected_bytes_per_s);
}

/// Returns the bytes/s of all flows together, until the last one ends.
double joint_rate(const EmulatedCluster& lab, const std::vector<Flow>& flows) {
  double bytes = 0;
  double longest = 0;
  for (const Flow& flow : flows) bytes += flow.bytes;
  const auto seconds = seconds_of(lab, flows);
  EXPECT_EQ(seconds.size(), flows.size());
  for (const auto& [name, taken] : seconds) longest = std::max(longest, taken);
  return bytes / longest;
}

class LabRate : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_LAB(); }
};

TEST_F(LabRate, OfANicIsReachedByLargeTransfers) {
  expect_rate([] { return joint_rate(EmulatedCluster(small_lab(2, 1)), {{0, 1, 12e6}}); }, 25e6);
}

TEST_F(LabRate, OfANicIsReachedByMessagesOfAMegabyte) {
  const Flow flow{0, 1, 1e6, 9};
  expect_rate(
      [&] { return 1e6 / seconds_of(EmulatedCluster(small_lab(2, 1)), {flow})[name_of(flow)]; },
      25e6);
}

TEST_F(LabRate, OfANicHoldsEachWay) {
  expect_rate(
      [] { return joint_rate(EmulatedCluster(small_lab(2, 1)), {{0, 1, 12e6}, {1, 0, 12e6}}); },
      50e6);
}

TEST_F(LabRate, OfANicIsSharedByTheRanksOfANode) {
  expect_rate(
      [] { return joint_rate(EmulatedCluster(small_lab(2, 2)), {{0, 2, 6e6}, {1, 3, 6e6}}); },
      25e6);
}

TEST_F(LabRate, OfANicLimitsWhatArrives) {
  expect_rate(
      [] { return joint_rate(EmulatedCluster(small_lab(3, 1)), {{0, 2, 6e6}, {1, 2, 6e6}}); },
      25e6);
}

TEST_F(LabRate, OfRailsAddsUp) {
  const EmulatedCluster rails(small_lab(2, 2, NicOwner::kRank));
  expect_rate([&] { return joint_rate(rails, {{0, 2, 12e6}, {1, 3, 12e6}}); }, 50e6);
}

TEST_F(LabRate, OfTheBusHoldsForAllRanksOfANodeTogether) {
  const EmulatedCluster node(small_lab(1, 4));
  expect_rate([&] { return joint_rate(node, {{0, 1, 25e6}}); }, 50e6);
  expect_rate([&] { return joint_rate(node, {{0, 1, 12e6}, {2, 3, 12e6}}); }, 50e6);
}

TEST_F(LabRate, OfTheBusIsNotThatOfTheNic) {
  const EmulatedCluster lab(small_lab(2, 2));
  const std::vector<Flow> flows{{0, 1, 25e6}, {0, 2, 12e6}};
  expect_rate([&] { return 25e6 / seconds_of(lab, flows)["0>1"]; }, 50e6);
  expect_rate([&] { return 12e6 / seconds_of(lab, flows)["0>2"]; }, 25e6);
}

TEST_F(LabRate, IsKeptByAllLinksAtOnce) {
  const EmulatedClusterSpec lab = small_lab(2, 2, NicOwner::kRank);
  expect_rate([&] { return measure_busy_links(lab, 1).nic; }, 1);
  expect_rate([&] { return measure_busy_links(lab, 1).inside; }, 1);
  EXPECT_EQ(measure_busy_links(small_lab(1, 1), 0.1).nic, 1);
}

TEST_F(LabRate, OfTheMachineIsThatOfUnshapedLinks) {
  EXPECT_GT(machine_tcp_bytes_per_s(0.3), 4 * 25e6);
}

TEST_F(LabRate, OfALabIsItsOwn) {
  const EmulatedCluster one(small_lab(2, 1));
  const EmulatedCluster two(small_lab(2, 1));
  expect_rate(
      [&] {
        const auto rate = [](const EmulatedCluster* lab) {
          return joint_rate(*lab, {{0, 1, 12e6}});
        };
        std::future<double> beside = std::async(std::launch::async, rate, &one);
        return rate(&two) + beside.get();
      },
      50e6);
}

}  // namespace
}  // namespace stepwright::lab
