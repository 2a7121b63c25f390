#include "stepwright/check/remedies.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/framework_files/changed_lines.h"
#include "stepwright/framework_files/starters.h"
#include "stepwright/plan/frameworks/defaults.h"

namespace stepwright::check {
namespace {

/// Returns the framework or variant whose plans the files of a target start.
plan::TrainingFramework framework_of(std::string_view target) {
  for (const framework_files::RoundTripFramework& starter :
       framework_files::importable_and_exportable_frameworks()) {
    if (starter.target == target) return starter.framework;
  }
  return {};
}

std::vector<std::string> words_of(const tune::MemoryRemedy& remedy, const plan::PlannedJob& planned,
                                  std::string_view target) {
  std::vector<std::string> lines =
      framework_files::changed_launch_file_lines(target, planned, remedy.changed);
  if (!lines.empty()) return lines;
  const auto& own = plan::framework_defaults(planned.job.framework).remedies;
  const auto word = own.find(remedy.kind);
  return word == own.end() ? remedy.set : std::vector<std::string>{word->second};
}

}  // namespace

std::string_view export_target_of_framework(const plan::TrainingFramework& framework) {
  const auto starters = framework_files::importable_and_exportable_frameworks();
  const auto same = [&](const framework_files::RoundTripFramework& one) {
    return one.framework.name == framework.name && one.framework.variant == framework.variant;
  };
  const auto found = std::ranges::find_if(starters, same);
  return found == starters.end() ? std::string_view() : found->target;
}

std::vector<MemoryRemedyWithFlags> find_memory_remedies_with_flags(const plan::PlannedJob& planned,
                                                                   std::string_view target,
                                                                   const tune::TuneResult* searched,
                                                                   int threads) {
  if (target.empty()) target = export_target_of_framework(planned.job.framework);
  std::vector<MemoryRemedyWithFlags> said;
  for (tune::MemoryRemedy& remedy : tune::find_memory_remedies(
           planned, {.trainer = framework_of(target), .searched = searched, .threads = threads})) {
    std::vector<std::string> words = words_of(remedy, planned, target);
    said.push_back({std::move(remedy), std::move(words)});
  }
  return said;
}

nlohmann::ordered_json memory_remedies_json(const std::vector<MemoryRemedyWithFlags>& remedies) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [remedy, words] : remedies) {
    list.push_back({{"kind", name_of(plan::kRemedyKindNames, remedy.kind)},
                    {"set", remedy.set},
                    {"words", words},
                    {"step_time_s", remedy.step_time_s},
                    {"peak_memory_bytes", static_cast<std::int64_t>(remedy.peak_memory_bytes)},
                    {"p_fits", remedy.p_fits}});
  }
  return list;
}

std::string memory_remedies_sentence(const std::vector<MemoryRemedyWithFlags>& remedies) {
  std::vector<tune::MemoryRemedy> list;
  for (const MemoryRemedyWithFlags& said : remedies) list.push_back(said.remedy);
  return tune::memory_remedies_text(list);
}

}  // namespace stepwright::check
