#include "stepwright/validate/rows/row_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string_view>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/validate/rows/words.h"

namespace stepwright {
namespace {

constexpr double kGigabit = 1e9 / 8;

/// The word of a GPU's name that decides, and the profile it stands for; the first match counts.
struct GpuProfile {
  std::string_view word;
  std::string_view also;  ///< A second word that must be there; empty: none.
  std::string_view profile;
};
constexpr GpuProfile kGpus[] = {
    {"gb300", "", "gb300-nvl72"},       {"gb200", "", "gb200-nvl72"},
    {"b300", "", "dgx-b300"},           {"b200", "", "dgx-b200"},
    {"gh200", "", "vista-gh200"},       {"h200", "nvl-", ""},  // a PCIe card
    {"h200", "", "dgx-h200"},           {"h800", "", "h800-8gpu"},
    {"h100", "pcie", "h100-pcie-8gpu"}, {"h100", "", "dgx-h100"},
    {"a800", "", "a800-8gpu"},          {"a100", "pcie", "a100-pcie-8gpu"},
    {"a100", "40g", "dgx-a100-40g"},    {"a100", "", "dgx-a100-80g"},
    {"v100", "dgx-2", "v100-dgx2"},     {"v100", "16g", "v100-dgx1-16g"},
    {"v100", "", "v100-dgx1"},          {"mi300x", "", "mi300x-8gpu"},
};

std::optional<std::string_view> profile_of(const std::string& gpu) {
  const Words words(gpu);
  for (const GpuProfile& entry : kGpus) {
    if (!words.has(entry.word) || !words.has(entry.also)) continue;
    return entry.profile.empty() ? std::nullopt : std::optional(entry.profile);
  }
  return std::nullopt;
}

/// GPUs of one NVLink domain: those of a node as the source counts them, except in racks whose
/// domain spans nodes; there the largest part of a rack that fills the job evenly.
std::int64_t domain_size(const RunRow& row, const Cluster& profile) {
  const std::int64_t stated = row.gpus_per_node.value_or(profile.devices_per_node);
  if (profile.devices_per_node <= 16) return stated;
  for (std::int64_t size = std::min(*row.gpus, profile.devices_per_node); size > stated; --size) {
    if (*row.gpus % size == 0 && size % stated == 0) return size;
  }
  return stated;
}

/// The profile with other sizes, as a person would write it.
nlohmann::ordered_json description(const RunRow& row, std::string_view name,
                                   const Cluster& profile) {
  nlohmann::ordered_json cluster{{"profile", name}, {"devices", *row.gpus}};
  const std::int64_t size = domain_size(row, profile);
  if (size != profile.devices_per_node) {
    cluster["devices_per_node"] = size;
    cluster["nics_per_node"] =
        std::max<std::int64_t>(1, profile.nics_per_node * size / profile.devices_per_node);
    cluster["levels"] = {{{"name", profile.levels.front().name},
                          {"size", size},
                          {"bandwidth", profile.levels.front().uplink_bytes_per_s}}};
  }
  const NodeNetwork network = node_network(row.network, size);
  if (network.nic_bytes_per_s > 0) {
    cluster["nics_per_node"] = network.nics;
    cluster["nic"] = network.nic_bytes_per_s;
  }
  return cluster;
}

}  // namespace

NodeNetwork node_network(const std::string& note, std::int64_t gpus_per_node) {
  Words words(note);
  std::string text = words.text();
  if (const std::size_t compute = text.find("compute:"); compute != std::string::npos) {
    text = text.substr(compute);
  }
  std::smatch match;
  static const std::regex kCounted(R"((\d+)\s*x\s*[^,;:()]*?(\d+)\s*g(b(?:ps|/s| ?/sec)?|b per)?)");
  static const std::regex kBytes(R"((\d+)\s*x\s*(\d+)\s*GB/s)");
  static const std::regex kPerNode(R"((\d+)\s*gb(?:ps|/s) (?:per node|node-node))");
  static const std::regex kPerGpu(R"((\d+)\s*gb/s per gpu)");
  static const std::regex kBare(R"((\d+)\s*gb/s)");
  if (std::regex_search(note, match, kBytes)) {
    return {std::stoll(match[1]), 1e9 * std::stod(match[2])};
  }
  if (std::regex_search(text, match, kCounted)) {
    return {std::stoll(match[1]), kGigabit * std::stod(match[2])};
  }
  if (std::regex_search(text, match, kPerGpu)) {
    return {gpus_per_node, kGigabit * std::stod(match[1])};
  }
  if (std::regex_search(text, match, kPerNode)) {
    const std::int64_t nics = gpus_per_node;
    return {nics, kGigabit * std::stod(match[1]) / static_cast<double>(nics)};
  }
  if (std::regex_search(text, match, kBare) && words.has("infiniband", "roce", "ib ")) {
    return {1, kGigabit * std::stod(match[1])};
  }
  return {};
}

void require_cluster(const std::string& name) { load_cluster(name, 1); }

std::variant<Cluster, Skipped> row_cluster(const RunRow& row) {
  if (!row.gpus) return Skipped{"gpus not stated"};
  std::string name = row.cluster;
  if (name.empty()) {
    const auto known = profile_of(row.gpu);
    if (!known) return Skipped{fmt::format("no profile of the GPU: {}", row.gpu)};
    name = *known;
  }
  nlohmann::ordered_json stated{{"profile", name}, {"devices", *row.gpus}};
  try {
    const Cluster profile = load_cluster(name, 1);
    if (row.cluster.empty()) stated = description(row, name, profile);
  } catch (const Error& error) {
    return Skipped{fmt::format("no cluster profile: {}", name), error.what()};
  }
  try {
    const Document document = Document::parse(stated.dump(), "row");
    return read_cluster(document.root(), {});
  } catch (const Error& error) {
    return Skipped{"the GPUs do not fill nodes", error.what()};
  }
}

}  // namespace stepwright
