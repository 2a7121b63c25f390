#include <fmt/format.h>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/description.h"
#include "stepwright/cluster/fields.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cluster {
namespace {

void read_peaks(DocumentNode node, std::map<DType, double>& peaks) {
  std::vector<std::string_view> precisions;
  for (const Named<DType>& type : kDTypeNames) {
    if (type.value <= DType::kNvfp4) precisions.push_back(type.name);
  }
  node.allow_only_keys(precisions);
  for (const Named<DType>& type : kDTypeNames) {
    if (const auto peak = node.find(type.name))
      peaks[type.value] = read_quantity(*peak, QuantityKind::kFlops, 1, kMaxClusterFileQuantity);
  }
  if (peaks.empty()) node.fail("must state at least one of " + join_with_commas(precisions));
}

void read_mapping(DocumentNode node, MappingPlace place, DeviceModel& device) {
  static constexpr std::string_view kKeys[] = {"name",        "generation", "variant",
                                               "board_power", "memory",     "memory_bandwidth",
                                               "host_link",   "peak",       "source"};
  check_mapping_keys(node, place, "device/1", kKeys);
  read_name(node, "name", device.name);
  read_quantity_field(node, "memory", QuantityKind::kBytes, device.memory_bytes);
  read_quantity_field(node, "memory_bandwidth", QuantityKind::kRate,
                      device.memory_bandwidth_bytes_per_s);
  if (const auto link = node.find("host_link")) {
    device.host_link_bytes_per_s =
        read_quantity(*link, QuantityKind::kRate, 1, kMaxClusterFileQuantity);
  }
  if (device.peak_flops.empty() || node.find("peak")) {
    read_peaks(node.get("peak"), device.peak_flops);
    device.generation = nullptr;  // its peaks are different
  }
  if (const auto generation = node.find("generation")) {
    device.generation = &find_device_generation(generation->text(), *generation);
  }
  if (const auto variant = node.find("variant")) device.variant = variant->boolean();
  if (const auto power = node.find("board_power")) device.board_power_w = power->number(1, 1e5);
}

DeviceModel read_file(const EmbeddedFile& file) {
  const YamlJsonDocument document =
      YamlJsonDocument::parse(file.text, std::string(file.name) + ".yaml");
  DeviceModel device;
  read_mapping(document.root(), MappingPlace::kFile, device);
  return device;
}

}  // namespace

void read_device(DocumentNode node, DeviceModel& device) {
  if (!node.is_scalar()) return read_mapping(node, MappingPlace::kInside, device);
  const EmbeddedFile* file = find_embedded_file(embedded_devices(), node.text());
  if (file == nullptr)
    fail_unknown_built_in_name(node, "device", node.text(), embedded_devices(), "a mapping");
  device = read_file(*file);
}

DeviceModel built_in_device(std::string_view name) {
  const EmbeddedFile* file = find_embedded_file(embedded_devices(), name);
  if (file == nullptr) {
    fail_input(fmt::format("there is no device '{}'{}", one_line_printable_text(name),
                           unknown_word_hint_text(name, embedded_file_names(embedded_devices()),
                                                  "stepwright list profiles")));
  }
  return read_file(*file);
}

}  // namespace stepwright::cluster
