#include "stepwright/validate/rows/row_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"
#include "stepwright/validate/rows/words.h"

namespace stepwright {
namespace {

constexpr double kGigabit = 1e9 / 8;
constexpr double kGigabyte = 1e9;

/// The word of a GPU's name that decides, and the profile it stands for; the first match counts.
struct GpuProfile {
  std::string_view word;
  std::string_view also;  ///< A second word that must be there; empty: none.
  std::string_view profile;
};
constexpr GpuProfile kGpus[] = {
    {"gb300", "", "gb300-nvl72"},
    {"gb200", "", "gb200-nvl72"},
    {"b300", "", "dgx-b300"},
    {"b200", "", "dgx-b200"},
    {"gh200", "", "vista-gh200"},
    {"h200", "nvl-", ""},  // a PCIe card
    {"h200", "", "dgx-h200"},
    {"h800", "", "h800-8gpu"},
    {"h100", "pcie", "h100-pcie-8gpu"},
    {"h100", "", "dgx-h100"},
    {"a800", "", "a800-8gpu"},
    {"a100", "pcie", "a100-pcie-8gpu"},
    {"a100", "40g", "dgx-a100-40g"},
    {"a100", "", "dgx-a100-80g"},
    {"v100", "dgx-2", "v100-dgx2"},
    {"v100", "16g", "v100-dgx1-16g"},
    {"v100", "", "v100-dgx1"},
    {"mi300x", "", "mi300x-8gpu"},
    {"mi325x", "", "mi325x-8gpu"},
    {"mi355x", "", "mi355x-8gpu"},
    {"h20", "", "h20-8gpu"},
    {"4090", "", "rtx4090-8gpu-pcie"},
    {"l40s", "", "l40s-8gpu-pcie"},
    {"a40", "", "a40-8gpu-pcie"},
};

/// Clusters that a row's network names, whose public documents say what they are made of.
struct NamedCluster {
  std::string_view word;  ///< Of the network.
  std::string_view gpu;
  std::string_view profile;
};
constexpr NamedCluster kNamedClusters[] = {
    // AWS by the hosts, file system and libfabric settings of the launch script that the runs were
    // started with: `run_multinode.sh` of github.com/huggingface/nanotron at 38fcb8bc.
    {"hugging face science cluster", "h100", "aws-p5-h100"},
    {"(p4d)", "a100", "aws-p4d-a100"},
};

std::optional<std::string_view> named_cluster(const RunRow& row) {
  const Words network(row.network);
  const Words gpu(row.gpu);
  for (const NamedCluster& entry : kNamedClusters) {
    if (network.has(entry.word) && gpu.has(entry.gpu)) return entry.profile;
  }
  return std::nullopt;
}

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
    if (network.nics > 0) cluster["nics_per_node"] = network.nics;
    cluster["nic"] = network.nic_bytes_per_s;
  }
  return cluster;
}

/// The first number that one of the units follows.
std::optional<double> number_of(std::string_view text,
                                std::initializer_list<std::string_view> units) {
  for (auto number = first_number(text); number; number = first_number(number->after)) {
    for (const std::string_view unit : units) {
      if (number->after.starts_with(unit)) return static_cast<double>(number->value);
    }
  }
  return std::nullopt;
}

/// "8x ConnectX-7 IB NDR 400Gb/s": a count, and in the same phrase the rate of each.
std::optional<NodeNetwork> counted_nics(std::string_view text, std::string_view unit,
                                        double bytes_per_s) {
  for (auto count = first_number(text); count; count = first_number(count->after)) {
    if (!count->after.starts_with('x')) continue;
    const std::string_view phrase = count->after.substr(0, count->after.find_first_of(",;:()"));
    const auto rate = number_of(phrase, {unit});
    if (rate) return NodeNetwork{count->value, *rate * bytes_per_s};
  }
  return std::nullopt;
}

}  // namespace

NodeNetwork node_network(const std::string& note, std::int64_t gpus_per_node) {
  const Words words(note);
  std::string text = words.text();
  if (const std::size_t compute = text.find("compute:"); compute != std::string::npos) {
    text = text.substr(compute);
  }
  if (const auto nics = counted_nics(note, "GB/s", kGigabyte)) return *nics;
  if (const auto nics = counted_nics(text, "g", kGigabit)) return *nics;
  if (const auto rate = number_of(text, {"gb/s per gpu"})) {
    return {gpus_per_node, kGigabit * *rate};
  }
  if (const auto rate =
          number_of(text, {"gbps per node", "gb/s per node", "gbps node-node", "gb/s node-node"})) {
    return {gpus_per_node, kGigabit * *rate / static_cast<double>(gpus_per_node)};
  }
  if (const auto rate = number_of(text, {"gb/s"}); rate && words.has("infiniband", "roce", "ib ")) {
    return {0, kGigabit * *rate};
  }
  return {};
}

void require_cluster(const std::string& name) { load_cluster(name, 1); }

std::variant<Cluster, Skipped> row_cluster(const RunRow& row) {
  if (!row.gpus) return Skipped{"gpus not stated"};
  std::string name = row.cluster;
  if (name.empty()) {
    auto known = named_cluster(row);
    if (!known) known = profile_of(row.gpu);
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
