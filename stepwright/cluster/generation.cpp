#include "stepwright/cluster/generation.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"

namespace stepwright::cluster {
namespace {

std::vector<DeviceGeneration> read_embedded() {
  std::vector<DeviceGeneration> all;
  for (const EmbeddedFile& file : embedded_generations()) {
    const YamlJsonDocument document =
        YamlJsonDocument::parse(file.text, std::string(file.name) + ".yaml");
    all.push_back(read_device_generation(document.root()));
  }
  return all;
}

const DeviceGeneration* find_generation(std::string_view word) {
  const auto called = [=](const DeviceGeneration& one) {
    return one.name == word || (!word.empty() && one.architecture == word);
  };
  const auto found = std::ranges::find_if(device_generations(), called);
  return found == device_generations().end() ? nullptr : &*found;
}

}  // namespace

std::span<const DeviceGeneration> device_generations() {
  static const std::vector<DeviceGeneration> kAll = read_embedded();
  return kAll;
}

const DeviceGeneration& find_device_generation(std::string_view word, DocumentNode where) {
  if (const DeviceGeneration* found = find_generation(word)) return *found;
  std::vector<std::string_view> names;
  for (const DeviceGeneration& one : device_generations()) names.push_back(one.name);
  where.fail(fmt::format("unknown generation '{}'{} (allowed: {})", word,
                         spelling_hint(word, names), join_with_commas(names)));
}

const DeviceGeneration& find_device_generation(std::string_view word) {
  const DeviceGeneration* found = find_generation(word);
  if (found == nullptr) fail_input(fmt::format("there is no generation '{}'", word));
  return *found;
}

double dense_sixteen_bit_peak_flops(const DeviceModel& device) {
  for (const DType type : {DType::kBf16, DType::kFp16, DType::kFp32, DType::kFp64}) {
    const auto peak = device.peak_flops.find(type);
    if (peak != device.peak_flops.end()) return peak->second;
  }
  return device.peak_flops.empty() ? 1 : device.peak_flops.begin()->second;
}

const DeviceGeneration& device_generation_of(const DeviceModel& device) {
  return device.generation != nullptr ? *device.generation
                                      : generation_of_peak(dense_sixteen_bit_peak_flops(device));
}

const DeviceGeneration& generation_of_peak(double sixteen_bit_flops_per_s) {
  for (const DeviceGeneration& one : device_generations()) {
    if (sixteen_bit_flops_per_s >= one.lowest_flops &&
        sixteen_bit_flops_per_s <= one.highest_flops) {
      return one;
    }
  }
  return find_device_generation(kFallbackDeviceGenerationName);
}

}  // namespace stepwright::cluster
