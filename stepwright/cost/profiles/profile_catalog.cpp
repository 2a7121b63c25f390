#include "stepwright/cost/profiles/profile_catalog.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/nearest.h"

namespace stepwright::cost {
namespace {

YamlJsonDocument parsed(const EmbeddedFile& file, std::string_view text) {
  return YamlJsonDocument::parse(text, fmt::format("built-in profile {}", file.name));
}

/// Reads a profile file without its operators, which are most of its text: the device is stated
/// before them.
OperatorProfile read_head(const EmbeddedFile& file) {
  const std::string head(file.text.substr(0, file.text.find("\"operators\":")));
  return read_operator_profile(parsed(file, head + "\"operators\": []}"));
}

/// Returns the enumerator of a word, which must be in the table.
template <class EnumNamedByWord, std::size_t kCount>
EnumNamedByWord value_of(const Named<EnumNamedByWord> (&table)[kCount], std::string_view word) {
  return std::ranges::find(table, word, &Named<EnumNamedByWord>::name)->value;
}

/// Finds the position of each operator's text, to be read when it is asked for.
void find_operators(const EmbeddedFile& file, OperatorProfile& profile) {
  static_assert(simdjson::SIMDJSON_PADDING <= kEmbeddedFilePaddingBytes);
  const simdjson::padded_string_view padded(file.text,
                                            file.text.size() + kEmbeddedFilePaddingBytes);
  simdjson::ondemand::parser parser;
  auto profile_text = parser.iterate(padded);
  for (simdjson::ondemand::object entry : profile_text["operators"]) {
    const OperatorClass what = value_of(kOperatorClassNames, entry["class"]);
    const OperatorPass pass = value_of(kPassNames, entry["pass"]);
    cluster::AttentionKernel kernel = cluster::AttentionKernel::kFlash2;
    if (what == OperatorClass::kAttention) {
      kernel = value_of(cluster::kAttentionKernelNames, entry["kernel"]);
    }
    entry.reset();
    const std::string_view text = entry.raw_json();
    auto later = std::make_unique<const Later<OperatorClassFit>>([&file, text] {
      const YamlJsonDocument document = parsed(file, text);
      return read_operator_entry(document.root());
    });
    profile.add(what, pass, {kernel, std::move(later)});
  }
}

/// A built-in profile: its head is read at once, its operators when a job needs them; afterwards it
/// is constant.
class BuiltIn {
 public:
  explicit BuiltIn(const EmbeddedFile& file)
      : head_(read_head(file)), whole_([&file] {
          OperatorProfile profile = read_head(file);
          find_operators(file, profile);
          return profile;
        }) {}
  [[nodiscard]] const OperatorProfile& head() const { return head_; }
  [[nodiscard]] const OperatorProfile& whole() const { return whole_.get(); }

 private:
  OperatorProfile head_;
  Later<OperatorProfile> whole_;
};

const std::vector<std::unique_ptr<BuiltIn>>& all_profiles() {
  static const std::vector<std::unique_ptr<BuiltIn>> kProfiles = [] {
    std::vector<std::unique_ptr<BuiltIn>> profiles;
    for (const EmbeddedFile& file : embedded_operator_profiles()) {
      profiles.push_back(std::make_unique<BuiltIn>(file));
    }
    return profiles;
  }();
  return kProfiles;
}

double distance(const OperatorProfile& profile, const cluster::DeviceModel& device) {
  if (profile.device == device.name) return -1;
  return std::abs(std::log(cluster::dense_sixteen_bit_peak_flops(device) / profile.peaks.flops)) +
         std::abs(
             std::log(device.memory_bandwidth_bytes_per_s / profile.peaks.bandwidth_bytes_per_s));
}

/// True if programs have operators of the class; the other classes exist for samples only.
bool in_programs(OperatorClass what) {
  return what != OperatorClass::kUnfusedSoftmax && what != OperatorClass::kMask &&
         what != OperatorClass::kUnfusedOptimizer;
}

/// True if the profiles have entries for every class that programs have.
bool covers_programs(std::span<const OperatorProfile* const> profiles) {
  for (const Named<OperatorClass>& what : kOperatorClassNames) {
    if (!in_programs(what.value)) continue;
    for (const Named<OperatorPass>& pass : kPassNames) {
      if (what.value == OperatorClass::kOptimizer && pass.value == OperatorPass::kBackward)
        continue;
      const bool found = std::ranges::any_of(profiles, [&](const OperatorProfile* profile) {
        return profile->find(what.value, pass.value) != nullptr;
      });
      if (!found) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string_view> built_in_profile_names() {
  return embedded_file_names(embedded_operator_profiles());
}

YamlJsonDocument load_profile(const std::string& name_or_path) {
  if (const EmbeddedFile* file = find_embedded_file(embedded_operator_profiles(), name_or_path)) {
    return parsed(*file, file->text);
  }
  if (path_exists(name_or_path)) return YamlJsonDocument::load(name_or_path);
  fail_input(fmt::format("{}: is neither a file nor a built-in profile; allowed: {}", name_or_path,
                         join_with_commas(built_in_profile_names())));
}

std::vector<const OperatorProfile*> operator_profiles_for(const cluster::DeviceModel& device) {
  std::vector<const BuiltIn*> nearest_first;
  for (const auto& profile : all_profiles()) nearest_first.push_back(profile.get());
  std::ranges::stable_sort(
      nearest_first, {}, [&](const BuiltIn* profile) { return distance(profile->head(), device); });
  std::vector<const OperatorProfile*> profiles;
  for (const BuiltIn* profile : nearest_first) {
    if (covers_programs(profiles)) break;
    profiles.push_back(&profile->whole());
  }
  return profiles;
}

}  // namespace stepwright::cost
