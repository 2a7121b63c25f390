#include "stepwright/lab/topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepwright::lab {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::vector<std::string> lines(const std::vector<CommandLine>& commands) {
  std::vector<std::string> found;
  for (const CommandLine& command : commands)
    found.push_back(fmt::format("{}", fmt::join(command, " ")));
  return found;
}

EmulatedClusterSpec spec(std::int64_t nodes, std::int64_t ranks, NicOwner owner) {
  return {.nodes = nodes,
          .ranks_per_node = ranks,
          .nic = rate_limited_link(50e6),
          .nic_of = owner,
          .inside = rate_limited_link(200e6)};
}

TEST(Topology, OneNodeIsBuiltByTheseCommands) {
  const EmulatedClusterSpec lab = spec(1, 2, NicOwner::kNode);
  EXPECT_THAT(
      lines(namespace_network_commands(lab, "L")),
      ElementsAre("ip netns add L-switch", "ip netns add L-node0",
                  "ip -n L-switch link add rail0 type bridge", "ip -n L-switch link set rail0 up",
                  "ip netns exec L-node0 sh -c echo reno "
                  ">/proc/sys/net/ipv4/tcp_congestion_control",
                  "ip netns exec L-node0 sh -c echo 0 "
                  ">/proc/sys/net/ipv4/tcp_slow_start_after_idle",
                  "ip -n L-node0 link set lo mtu 10000 up",
                  "ip -n L-switch link add n0r0 mtu 9000 type veth peer name nic0 mtu 9000 "
                  "netns L-node0",
                  "ip -n L-switch link set n0r0 master rail0 up",
                  "ip -n L-node0 addr add 10.0.0.1/24 dev nic0", "ip -n L-node0 link set nic0 up"));
  EXPECT_THAT(lines(traffic_control_commands(lab, "L")),
              ElementsAre("tc -n L-node0 qdisc replace dev lo root tbf rate 1600000000bit "
                          "burst 30014 limit 16777216",
                          "tc -n L-node0 qdisc replace dev nic0 root tbf rate 400000000bit "
                          "burst 14014 limit 16777216",
                          "tc -n L-switch qdisc replace dev n0r0 root tbf rate 400000000bit "
                          "burst 14014 limit 16777216"));
}

TEST(Topology, RailsHaveBridgesOfTheirOwn) {
  const EmulatedClusterSpec lab = spec(3, 2, NicOwner::kRank);
  const auto network = lines(namespace_network_commands(lab, "L"));
  EXPECT_THAT(network, Contains("ip -n L-switch link set n2r0 master rail0 up"));
  EXPECT_THAT(network, Contains("ip -n L-switch link set n2r1 master rail1 up"));
  EXPECT_THAT(network, Contains("ip -n L-node2 addr add 10.0.1.3/24 dev nic1"));
  EXPECT_EQ(network.size(), 4 + 2 * 2 + 3 * (3 + 2 * 4));
  EXPECT_EQ(traffic_control_commands(lab, "L").size(), 3 * (1 + 2 * 2));
}

TEST(Topology, EveryCommandStaysInTheNamespacesOfItsLab) {
  const EmulatedClusterSpec lab = spec(3, 2, NicOwner::kRank);
  std::vector<CommandLine> commands = namespace_network_commands(lab, "L");
  for (CommandLine& command : traffic_control_commands(lab, "L"))
    commands.push_back(std::move(command));
  const auto names = cluster_namespace_names(lab, "L");
  for (const CommandLine& command : commands) {
    if (command[1] == "netns") {
      EXPECT_THAT(names, Contains(command[3]));
    } else {
      EXPECT_EQ(command[1], "-n");
      EXPECT_THAT(names, Contains(command[2]));
    }
  }
}

TEST(Topology, RanksFindWhatTorchrunSets) {
  auto environment = rank_environment_variables(spec(2, 2, NicOwner::kNode), 3);
  EXPECT_EQ(environment["RANK"], "3");
  EXPECT_EQ(environment["LOCAL_RANK"], "1");
  EXPECT_EQ(environment["WORLD_SIZE"], "4");
  EXPECT_EQ(environment["LOCAL_WORLD_SIZE"], "2");
  EXPECT_EQ(environment["GROUP_RANK"], "1");
  EXPECT_EQ(environment["MASTER_ADDR"], "10.0.0.1");
  EXPECT_EQ(environment["GLOO_SOCKET_IFNAME"], "nic0");
  EXPECT_EQ(environment["STEPWRIGHT_LAB_NODE"], "1");
  EXPECT_EQ(environment["STEPWRIGHT_LAB_ADDRESS"], "10.0.0.2");
  EXPECT_EQ(environment["STEPWRIGHT_LAB_ADDRESSES"], "10.0.0.1,10.0.0.1,10.0.0.2,10.0.0.2");
}

TEST(Topology, RanksWithRailsFindTheirOwn) {
  auto environment = rank_environment_variables(spec(2, 2, NicOwner::kRank), 3);
  EXPECT_EQ(environment["GLOO_SOCKET_IFNAME"], "nic1");
  EXPECT_EQ(environment["STEPWRIGHT_LAB_ADDRESS"], "10.0.1.2");
  EXPECT_EQ(environment["STEPWRIGHT_LAB_ADDRESSES"], "10.0.0.1,10.0.1.1,10.0.0.2,10.0.1.2");
  EXPECT_EQ(environment["MASTER_ADDR"], "10.0.0.1");
}

}  // namespace
}  // namespace stepwright::lab
