#include "stepwright/cost/profiles/collective_profiles.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/cost/profiles/machine_files.h"

namespace stepwright::cost {
namespace {

using Json = nlohmann::ordered_json;

/// A constant of an operation, with its key in files.
struct Scalar {
  std::string_view key;
  double CollectiveOperationConstants::* value;
  double most;
};
constexpr Scalar kScalars[] = {
    {"fill", &CollectiveOperationConstants::fill, 20},
    {"inside_share", &CollectiveOperationConstants::inside_share, 1},
    {"few_ranks", &CollectiveOperationConstants::few_ranks, 0.95},
    {"network_share", &CollectiveOperationConstants::network_share, 1},
    {"tree_share", &CollectiveOperationConstants::tree_share, 1},
    {"switch_share", &CollectiveOperationConstants::switch_share, 1},
    {"crowding", &CollectiveOperationConstants::congestion, 1},
};

/// A constant of each protocol, with its key in files.
struct PerProtocol {
  std::string_view key;
  double CollectiveProtocolConstants::* value;
  double most;
};
constexpr PerProtocol kPerProtocol[] = {
    {"start_us", &CollectiveProtocolConstants::start_us, 1e5},
    {"hop", &CollectiveProtocolConstants::hop, 1e4},
    {"network_hop", &CollectiveProtocolConstants::network_hop, 1e4},
    {"rate", &CollectiveProtocolConstants::rate, 1},
    {"belief", &CollectiveProtocolConstants::selection, 1},
};

/// Fails if a later protocol has a lower rate or a greater selection factor than an earlier one:
/// time could fall as bytes grow.
void check_order(DocumentNode node, const CollectiveOperationConstants& operation) {
  for (int i = 1; i < kProtocols; ++i) {
    const CollectiveProtocolConstants& before = operation.protocols[i - 1];
    const CollectiveProtocolConstants& after = operation.protocols[i];
    if (after.rate < before.rate) node.fail("rates must not fall from protocol to protocol");
    if (after.selection > before.selection)
      node.fail("beliefs must not grow from protocol to protocol");
  }
}

void read_operation(DocumentNode node, CollectiveOperationConstants& operation) {
  std::vector<std::string_view> keys;
  for (const Scalar& scalar : kScalars) keys.push_back(scalar.key);
  for (const PerProtocol& each : kPerProtocol) keys.push_back(each.key);
  node.allow_only_keys(keys);
  for (const Scalar& scalar : kScalars) {
    if (const auto found = node.find(scalar.key)) {
      const bool share = scalar.key.ends_with("_share") && scalar.key != "switch_share";
      operation.*scalar.value = found->number(share ? 1e-6 : 0, scalar.most);
    }
  }
  for (const PerProtocol& each : kPerProtocol) {
    const auto found = node.find(each.key);
    if (!found) continue;
    if (found->size() != kProtocols) found->fail("must have one number for each protocol");
    const bool positive = each.most == 1;  // true for `rate` and `belief`
    for (int i = 0; i < kProtocols; ++i) {
      operation.protocols[i].*each.value = found->at(i).number(positive ? 1e-6 : 0, each.most);
    }
  }
  check_order(node, operation);
}

bool has_mesh(const cluster::Cluster& cluster) {
  return std::ranges::any_of(cluster.levels, &cluster::NetworkLevel::mesh);
}

double rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

/// Overwrites constants with those of the built-in profile of that name; false if there is none.
bool overlay(std::string_view name, std::string_view library,
             MachineCollectiveConstants& constants) {
  const EmbeddedFile* file = find_embedded_file(embedded_machine_profiles(), name);
  if (file == nullptr) return false;
  const YamlJsonDocument document =
      YamlJsonDocument::parse(file->text, std::string(name) + ".json");
  const auto list = document.root().find("collectives");
  if (!list || !read_collective_constants(*list, library, constants)) return false;
  constants.fit = name;
  return true;
}

void read_operations(DocumentNode operations, MachineCollectiveConstants& constants) {
  std::vector<std::string_view> known;
  for (const auto& each : kCollectiveNames) known.push_back(each.name);
  operations.allow_only_keys(known);
  for (const auto& each : kCollectiveNames) {
    if (const auto node = operations.find(each.name)) {
      read_operation(*node, constants.operations[static_cast<std::size_t>(each.value)]);
    }
  }
}

}  // namespace

MachineCollectiveConstants collective_constants_without_fit(const cluster::Cluster& cluster) {
  MachineCollectiveConstants constants = default_collective_constants();
  double tree = kChainTreeToRingRateRatio;
  if (cluster::node_switches_reduce(cluster::in_network_reduction_support(cluster))) {
    constants.operations[static_cast<std::size_t>(collective::CollectiveOperation::kAllReduce)]
        .switch_share = kDefaultNvlsLineRateShare;
    tree = kSwitchTreeToRingRateRatio;
  }
  if (has_mesh(cluster)) {
    for (CollectiveOperationConstants& operation : constants.operations) operation.few_ranks = 0;
  }
  const double share = cluster::device_generation_of(cluster.device).network_share;
  for (CollectiveOperationConstants& operation : constants.operations) {
    operation.network_share = share;
    operation.tree_share = tree * share;
  }
  return constants;
}

MachineCollectiveConstants collective_constants_of_cluster(const cluster::Cluster& cluster,
                                                           std::string_view library) {
  MachineCollectiveConstants constants = collective_constants_without_fit(cluster);
  constants.of_cluster = overlay(cluster.name, library, constants);
  if (!constants.of_cluster) overlay(cluster.device.name, library, constants);
  return constants;
}

MachineCollectiveConstants collective_constants_of_profile(const cluster::Cluster& cluster,
                                                           std::string_view profile,
                                                           std::string_view library) {
  MachineCollectiveConstants constants = collective_constants_without_fit(cluster);
  overlay(profile, library, constants);
  return constants;
}

bool read_collective_constants(DocumentNode list, std::string_view library,
                               MachineCollectiveConstants& constants) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const DocumentNode entry = list.at(i);
    entry.allow_only_keys({"library", "rows", "range", "held_out_error", "operations"});
    if (entry.get("library").text() != library) continue;
    read_operations(entry.get("operations"), constants);
    const auto range = entry.find("range");
    for (const auto& each : kCollectiveNames) {
      const auto found = range ? range->find(each.name) : std::nullopt;
      auto& ranges = constants.ranges[static_cast<std::size_t>(each.value)];
      ranges = found ? read_fitted_ranges(*found) : std::vector<FittedSizeRange>();
    }
    return true;
  }
  return false;
}

Json collective_constants_json(const CollectiveOperationConstants& constants,
                               DeterminedConstantFlags parts) {
  Json json = Json::object();
  for (const Scalar& scalar : kScalars) {
    if (scalar.key == "network_share" && !parts.network) continue;
    if (scalar.key == "tree_share" && !parts.tree) continue;
    if (scalar.key == "switch_share" && constants.switch_share == 0) continue;
    if (scalar.key == "crowding" && constants.congestion == 0) continue;
    json[std::string(scalar.key)] = rounded(constants.*scalar.value);
  }
  for (const PerProtocol& each : kPerProtocol) {
    if (each.key == "network_hop" && !parts.network) continue;
    Json numbers = Json::array();
    for (const CollectiveProtocolConstants& protocol : constants.protocols) {
      numbers.push_back(rounded(protocol.*each.value));
    }
    json[std::string(each.key)] = std::move(numbers);
  }
  return json;
}

}  // namespace stepwright::cost
