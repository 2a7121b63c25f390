#include <fmt/format.h>

#include <optional>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/description.h"
#include "stepwright/core/document.h"
#include "stepwright/core/name.h"
#include "stepwright/core/named.h"
#include "stepwright/core/quantity.h"
#include "stepwright/core/utf8.h"
#include "stepwright/lab/spec.h"

namespace stepwright::lab {
namespace {

constexpr Named<NicOwner> kNicOwnerNames[] = {{NicOwner::kNode, "node"}, {NicOwner::kRank, "rank"}};

/// Reads a rate from 1 Mbit/s to 100 Gbit/s.
double read_rate(DocumentNode node) {
  constexpr double kLeast = 125e3;
  constexpr double kMost = 12.5e9;
  return read_quantity(node, QuantityKind::kRate, kLeast, kMost);
}

RateLimitedLink read_link(DocumentNode node) {
  constexpr std::int64_t kMostBurst = std::int64_t{1} << 30;
  if (const auto latency = node.find("latency")) {
    latency->fail_unsupported("a latency cannot be emulated: tbf shapes rates only");
  }
  RateLimitedLink link = rate_limited_link(read_rate(node.get("rate")));
  if (const auto burst = node.find("burst")) {
    // A packet that no bucket can hold would never leave.
    const auto least = static_cast<double>(link.packet_bytes + 14);
    link.burst_bytes = static_cast<std::int64_t>(
        read_quantity(*burst, QuantityKind::kBytes, least, static_cast<double>(kMostBurst)));
  }
  return link;
}

void read_nic(DocumentNode node, EmulatedClusterSpec& lab) {
  node.allow_only_keys({"rate", "per", "burst", "latency"});
  lab.nic = read_link(node);
  if (const auto owner = node.find("per")) lab.nic_of = owner->choice(kNicOwnerNames);
}

RateLimitedLink read_inside(DocumentNode node) {
  node.allow_only_keys({"rate", "burst", "latency"});
  return read_link(node);
}

cluster::DeviceModel read_lab_device(DocumentNode node) {
  cluster::DeviceModel device;
  if (const auto stated = node.find("device")) {
    cluster::read_device(*stated, device);
  } else {
    device = cluster::built_in_device("a100-sxm-80g");
  }
  return device;
}

}  // namespace

EmulatedClusterSpec read_emulated_cluster(DocumentNode node) {
  const DocumentNode version = node.get("stepwright");
  if (version.text() != "lab/1") {
    version.fail(
        fmt::format("must be lab/1 here; it is '{}'", one_line_printable_text(version.text())));
  }
  node.allow_only_keys(
      {"stepwright", "name", "nodes", "ranks_per_node", "nic", "inside", "device"});
  EmulatedClusterSpec lab;
  lab.nodes = node.get("nodes").integer(1, kMaxEmulatedNodes);
  lab.ranks_per_node = node.get("ranks_per_node").integer(1, kMaxLabRanksPerNode);
  read_nic(node.get("nic"), lab);
  lab.inside = read_inside(node.get("inside"));
  const auto name = node.find("name");
  lab.name = name ? read_name(*name) : fmt::format("lab-{}x{}", lab.nodes, lab.ranks_per_node);
  if (lab.name.empty()) name->fail("must not be empty");
  lab.device = read_lab_device(node);
  return lab;
}

EmulatedClusterSpec load_emulated_cluster(const std::filesystem::path& path) {
  const YamlJsonDocument document = YamlJsonDocument::load(path);
  return read_emulated_cluster(document.root());
}

}  // namespace stepwright::lab
