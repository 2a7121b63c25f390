#include "stepwright/collective/fair_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "switched_cluster.h"

namespace stepwright::collective {
namespace {

std::vector<double> rates_of(const LinkMap& links, const std::vector<LinkPath>& paths) {
  std::vector<const LinkPath*> pointers;
  for (const LinkPath& path : paths) pointers.push_back(&path);
  MaxMinFairRates share;
  const auto flow_rates = share.flow_rates(links, pointers);
  return {flow_rates.begin(), flow_rates.end()};
}

TEST(MaxMinFairRates, GivesOthersWhatAFullLinkKeepsAFlowFromUsing) {
  // Devices behind one switch, 6 NICs' rate each. Three flows end at device 1, which gives each a
  // third; the fourth shares device 0's way out with one of them and has the rest.
  const cluster::Cluster cluster = switched(8, 1, 1, 6);
  LinkMap links(cluster, true);
  const std::vector<LinkPath> paths = {
      links.links_between_devices(0, 1), links.links_between_devices(2, 1),
      links.links_between_devices(3, 1), links.links_between_devices(0, 4)};
  const double whole = 6 * kTestNic;
  const std::vector<double> flow_rates = rates_of(links, paths);
  for (int i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(flow_rates[i], whole / 3);
  EXPECT_DOUBLE_EQ(flow_rates[3], whole * 2 / 3);
}

TEST(MaxMinFairRates, IsMaxMinFairForAnyFlows) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const cluster::Cluster cluster = switched(4, 4, 1 + static_cast<std::int32_t>(random() % 4), 3);
    LinkMap links(cluster, random() % 2 == 0);
    std::vector<LinkPath> paths;
    while (paths.size() < 1 + random() % 40) {
      const auto from = static_cast<std::int64_t>(random() % 16);
      const auto to = static_cast<std::int64_t>(random() % 16);
      if (from != to) paths.push_back(links.links_between_devices(from, to));
    }
    const std::vector<double> flow_rates = rates_of(links, paths);
    std::vector<double> used(links.size());
    std::vector<double> highest(links.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      for (std::int32_t k = 0; k < paths[i].count; ++k) {
        const auto link = static_cast<std::size_t>(paths[i].links[static_cast<std::size_t>(k)]);
        used[link] += flow_rates[i];
        highest[link] = std::max(highest[link], flow_rates[i]);
      }
    }
    for (std::size_t link = 0; link < used.size(); ++link) {
      EXPECT_LE(used[link], links.bytes_per_s(static_cast<std::int32_t>(link)) * (1 + 1e-9));
    }
    // Every flow has a full link on which nothing is faster.
    for (std::size_t i = 0; i < paths.size(); ++i) {
      bool held = false;
      for (std::int32_t k = 0; k < paths[i].count; ++k) {
        const std::int32_t id = paths[i].links[static_cast<std::size_t>(k)];
        const auto link = static_cast<std::size_t>(id);
        held |= used[link] >= links.bytes_per_s(id) * (1 - 1e-9) &&
                highest[link] <= flow_rates[i] * (1 + 1e-9);
      }
      EXPECT_TRUE(held);
    }
  }
}

}  // namespace
}  // namespace stepwright::collective
