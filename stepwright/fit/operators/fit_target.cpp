#include "stepwright/fit/operators/fit_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "stepwright/cluster/catalog.h"
#include "stepwright/core/error.h"

namespace stepwright::fit {
namespace {

struct Multiprocessors {
  std::string_view device;  ///< Beginning of a device's name.
  int count;
};
/// Enabled streaming multiprocessors by beginning of the device's name; the last match counts. From
/// NVIDIA's architecture whitepapers; B200 and GB200 from the device query.
constexpr Multiprocessors kMultiprocessors[] = {
    {"v100", 80},       {"a10", 72},       {"a100", 108},     {"a800", 108},     {"a40", 84},
    {"h100-pcie", 114}, {"h100-sxm", 132}, {"h100-nvl", 132}, {"h800", 132},     {"h20", 78},
    {"h200", 132},      {"gh200", 132},    {"b200", 148},     {"b300", 148},     {"gb200", 152},
    {"gb300", 152},     {"l4", 58},        {"l40", 142},      {"rtx-4090", 128}, {"rtx-5090", 170}};

/// Returns the words of a name; digits and letters next to each other form one word.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char letter : name) {
    if (letter == '-' || letter == '_' || letter == '.') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  return words;
}

/// Returns how many words two names share, where one may be the beginning of the other; 0 when the
/// first words differ.
int shared_words(std::string_view a, std::string_view b) {
  const std::vector<std::string> left = words_of(a), right = words_of(b);
  if (left.front() != right.front()) return 0;
  int shared = 0;
  for (const std::string& word : left) {
    shared += std::ranges::any_of(right, [&](const std::string& other) {
      return word.starts_with(other) || other.starts_with(word);
    });
  }
  return shared;
}

/// Returns the device that a file's name means; empty when no device is nearer than all others. A
/// variant is meant if its own words occur.
std::string device_of_file(const std::string& file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  std::string best;
  int most = 0;
  for (const std::string_view device : cluster::built_in_device_names()) {
    const int shared = shared_words(stem, device);
    if (shared < most || shared == 0) continue;
    if (shared == most && cluster::built_in_device(device).variant) continue;
    const bool tied = shared == most && (best.empty() || !cluster::built_in_device(best).variant);
    best = tied ? "" : device;
    most = shared;
  }
  return best;
}

}  // namespace

OperatorFitDevice find_operator_fit_device(std::string_view device) {
  OperatorFitDevice target{.device = cluster::built_in_device(device)};
  for (const Multiprocessors& known : kMultiprocessors) {
    if (device.starts_with(known.device)) target.multiprocessors = known.count;
  }
  if (target.multiprocessors == 1) {
    fail_input(fmt::format("the multiprocessors of device '{}' are not known", device));
  }
  return target;
}

std::string device_of_samples(std::span<const OperatorSampleTable> tables) {
  std::set<std::string> devices;
  std::vector<std::string_view> files;
  for (const OperatorSampleTable& table : tables) {
    files.emplace_back(table.file);
    for (const OperatorSample& sample : table.samples) {
      if (!sample.device.empty()) devices.insert(sample.device);
    }
    const std::string of_file = table.samples.empty() || !table.samples.front().device.empty()
                                    ? std::string()
                                    : device_of_file(table.file);
    if (!of_file.empty()) devices.insert(of_file);
  }
  if (devices.size() == 1) return *devices.begin();
  fail_input(fmt::format(
      "{}: the samples are of {}; name one with --device", fmt::join(files, ", "),
      devices.empty() ? "an unknown device" : fmt::format("{}", fmt::join(devices, ", "))));
}

}  // namespace stepwright::fit
