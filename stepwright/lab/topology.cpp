#include "stepwright/lab/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stepwright::lab {
namespace {

std::string bridge_name(std::int64_t rail) { return fmt::format("rail{}", rail); }

/// Returns the name of the switch's end of a NIC's cable.
std::string port_name(std::int64_t node, std::int64_t rail) {
  return fmt::format("n{}r{}", node, rail);
}

/// Splits a text at spaces into arguments.
CommandLine words(const std::string& text) {
  CommandLine found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

/// Appends the commands that add the cable of a NIC, with both ends up.
void add_cable(const EmulatedClusterSpec& spec, const std::string& lab, std::int64_t node,
               std::int64_t rail, std::vector<CommandLine>& commands) {
  const std::string hub = switch_namespace(lab);
  const std::string home = node_namespace(lab, node);
  const std::string nic = nic_interface_name(rail);
  const std::string port = port_name(node, rail);
  const std::int64_t packet = spec.nic.packet_bytes;
  commands.push_back(
      words(fmt::format("ip -n {} link add {} mtu {} type veth peer name {} mtu {} "
                        "netns {}",
                        hub, port, packet, nic, packet, home)));
  commands.push_back(
      words(fmt::format("ip -n {} link set {} master {} up", hub, port, bridge_name(rail))));
  commands.push_back(
      words(fmt::format("ip -n {} addr add {}/24 dev {}", home, nic_address(node, rail), nic)));
  commands.push_back(words(fmt::format("ip -n {} link set {} up", home, nic)));
}

/// Appends the commands that set Reno as congestion control: without losses its window only grows,
/// like the credit of a lossless fabric. Other algorithms estimate the rate from acknowledgements,
/// which here wait behind data that their own host sends, so a NIC that sends and receives would
/// pause in between.
void set_congestion_control(const std::string& home, std::vector<CommandLine>& commands) {
  constexpr const char* kSettings[] = {"echo reno >/proc/sys/net/ipv4/tcp_congestion_control",
                                       "echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle"};
  for (const char* setting : kSettings) {
    commands.push_back({"ip", "netns", "exec", home, "sh", "-c", setting});
  }
}

}  // namespace

std::string switch_namespace(const std::string& lab) { return lab + "-switch"; }

std::string node_namespace(const std::string& lab, std::int64_t node) {
  return fmt::format("{}-node{}", lab, node);
}

std::vector<std::string> cluster_namespace_names(const EmulatedClusterSpec& spec,
                                                 const std::string& lab) {
  std::vector<std::string> names{switch_namespace(lab)};
  for (std::int64_t node = 0; node < spec.nodes; ++node) names.push_back(node_namespace(lab, node));
  return names;
}

std::string nic_interface_name(std::int64_t rail) { return fmt::format("nic{}", rail); }

std::string nic_address(std::int64_t node, std::int64_t rail) {
  return fmt::format("10.0.{}.{}", rail, node + 1);
}

std::vector<CommandLine> namespace_network_commands(const EmulatedClusterSpec& spec,
                                                    const std::string& lab) {
  std::vector<CommandLine> commands;
  for (const std::string& name : cluster_namespace_names(spec, lab)) {
    commands.push_back({"ip", "netns", "add", name});
  }
  const std::string hub = switch_namespace(lab);
  for (std::int64_t rail = 0; rail < spec.nics_per_node(); ++rail) {
    commands.push_back({"ip", "-n", hub, "link", "add", bridge_name(rail), "type", "bridge"});
    commands.push_back({"ip", "-n", hub, "link", "set", bridge_name(rail), "up"});
  }
  for (std::int64_t node = 0; node < spec.nodes; ++node) {
    set_congestion_control(node_namespace(lab, node), commands);
    commands.push_back(words(fmt::format("ip -n {} link set lo mtu {} up",
                                         node_namespace(lab, node), spec.inside.packet_bytes)));
    for (std::int64_t rail = 0; rail < spec.nics_per_node(); ++rail) {
      add_cable(spec, lab, node, rail, commands);
    }
  }
  return commands;
}

CommandLine traffic_control_command(const std::string& network, const std::string& device,
                                    const RateLimitedLink& link) {
  // Long enough that nothing is dropped: TCP stops growing its window when a queue builds up.
  constexpr std::int64_t kQueueBytes = std::int64_t{16} << 20;
  return words(fmt::format("tc -n {} qdisc replace dev {} root tbf rate {}bit burst {} limit {}",
                           network, device, std::llround(link.rate_bytes_per_s * 8),
                           link.burst_bytes, kQueueBytes));
}

std::vector<CommandLine> traffic_control_commands(const EmulatedClusterSpec& spec,
                                                  const std::string& lab) {
  std::vector<CommandLine> commands;
  for (std::int64_t node = 0; node < spec.nodes; ++node) {
    const std::string home = node_namespace(lab, node);
    commands.push_back(traffic_control_command(home, "lo", spec.inside));
    for (std::int64_t rail = 0; rail < spec.nics_per_node(); ++rail) {
      commands.push_back(traffic_control_command(home, nic_interface_name(rail), spec.nic));
      commands.push_back(
          traffic_control_command(switch_namespace(lab), port_name(node, rail), spec.nic));
    }
  }
  return commands;
}

std::map<std::string, std::string> rank_environment_variables(const EmulatedClusterSpec& spec,
                                                              std::int64_t rank) {
  const auto rail_of = [&](std::int64_t of) {
    return spec.nic_of == NicOwner::kRank ? of % spec.ranks_per_node : 0;
  };
  const auto address_of = [&](std::int64_t of) {
    return nic_address(of / spec.ranks_per_node, rail_of(of));
  };
  std::string addresses = address_of(0);
  for (std::int64_t other = 1; other < spec.ranks(); ++other) addresses += "," + address_of(other);
  const std::string node = std::to_string(rank / spec.ranks_per_node);
  return {{"RANK", std::to_string(rank)},
          {"LOCAL_RANK", std::to_string(rank % spec.ranks_per_node)},
          {"WORLD_SIZE", std::to_string(spec.ranks())},
          {"LOCAL_WORLD_SIZE", std::to_string(spec.ranks_per_node)},
          {"GROUP_RANK", node},
          {"GROUP_WORLD_SIZE", std::to_string(spec.nodes)},
          {"MASTER_ADDR", nic_address(0, 0)},
          {"MASTER_PORT", "29500"},
          {"GLOO_SOCKET_IFNAME", nic_interface_name(rail_of(rank))},
          {"STEPWRIGHT_LAB_NODE", node},
          {"STEPWRIGHT_LAB_ADDRESS", address_of(rank)},
          {"STEPWRIGHT_LAB_ADDRESSES", addresses}};
}

}  // namespace stepwright::lab
