#include <fmt/format.h>

#include "stepwright/cluster/fields.h"
#include "stepwright/cluster/generation.h"

namespace stepwright::cluster {
namespace {

/// Keys that need a source but are not among `kGenerationFigures`.
constexpr std::string_view kOthers[] = {"peak",    "compute_capability", "adding_switches",
                                        "kernels", "attention",          "attention_backward"};

/// Reads the sources: one for all figures, or one for each key.
void read_sources(DocumentNode root, DeviceGeneration& read) {
  const DocumentNode given = root.get("source");
  const auto add = [&](std::string_view key) {
    if (!root.find(key)) return;
    const DocumentNode source = given.is_mapping() ? given.get(key) : given;
    std::string text = source.text();
    if (text.empty()) source.fail(fmt::format("states no source of {}", key));
    read.sources.emplace(key, std::move(text));
  };
  std::vector<std::string_view> keys(std::begin(kOthers), std::end(kOthers));
  for (const DeviceGenerationFileKey& figure : kGenerationFigures) keys.push_back(figure.key);
  if (given.is_mapping()) given.allow_only_keys(keys);
  for (const std::string_view key : keys) add(key);
}

void read_attention(DocumentNode root, DeviceGeneration& read) {
  const DocumentNode shares = root.get("attention");
  std::vector<std::string_view> fused;
  for (const auto& [kernel, name] : kAttentionKernelNames) {
    if (kernel == AttentionKernel::kUnfused) continue;
    fused.push_back(name);
    read.attention_peak_share[static_cast<std::size_t>(kernel)] = shares.get(name).number(0.01, 1);
  }
  shares.allow_only_keys(fused);
  const DocumentNode kernels = root.get("kernels");
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const AttentionKernel kernel = kernels.at(i).choice(kAttentionKernelNames);
    if (kernel == AttentionKernel::kUnfused) kernels.at(i).fail("exists everywhere");
    read.has_kernel[static_cast<std::size_t>(kernel)] = true;
  }
  const auto backward = root.find("attention_backward");
  if (!backward) return;
  backward->allow_only_keys(fused);
  for (const auto& [kernel, name] : kAttentionKernelNames) {
    if (const auto rate = backward->find(name)) {
      read.attention_backward_rate_ratio[static_cast<std::size_t>(kernel)] = rate->number(0.01, 2);
    }
  }
}

}  // namespace

DeviceGeneration read_device_generation(DocumentNode root) {
  std::vector<std::string_view> keys = {"name", "architecture", "source"};
  keys.insert(keys.end(), std::begin(kOthers), std::end(kOthers));
  for (const DeviceGenerationFileKey& figure : kGenerationFigures) keys.push_back(figure.key);
  check_mapping_keys(root, MappingPlace::kFile, "generation/1", keys);
  DeviceGeneration read;
  read_name(root, "name", read.name);
  if (root.find("architecture")) read_name(root, "architecture", read.architecture);
  if (const auto peak = root.find("peak")) {
    peak->allow_only_keys({"from", "to"});
    read.lowest_flops =
        read_quantity(peak->get("from"), QuantityKind::kFlops, 1, kMaxClusterFileQuantity);
    read.highest_flops = read_quantity(peak->get("to"), QuantityKind::kFlops, read.lowest_flops,
                                       kMaxClusterFileQuantity);
  }
  if (const auto capability = root.find("compute_capability")) {
    read.compute_capability = static_cast<int>(capability->integer(1, 1000));
  }
  read.adding_switches = root.get("adding_switches").boolean();
  for (const auto& [key, value, lowest, highest] : kGenerationFigures) {
    if (lowest == 1 && !root.find(key)) continue;
    read.*value = root.get(key).number(lowest, highest);
  }
  read_attention(root, read);
  read_sources(root, read);
  return read;
}

}  // namespace stepwright::cluster
