#include "stepwright/framework_files/starters.h"

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/plan/frameworks/law.h"

namespace stepwright::framework_files {
namespace {

/// Plan name at the start of refusal messages, which is removed from them.
constexpr std::string_view kPlace = "plan";

std::vector<RoundTripFramework> all_starters() {
  std::vector<RoundTripFramework> all;
  for (const LaunchTarget& target : launch_targets()) {
    if (target.write == nullptr || target.read == nullptr || target.framework.empty()) continue;
    all.push_back({target.word, framework_of_export_target(target.word, "")});
  }
  return all;
}

}  // namespace

std::span<const RoundTripFramework> importable_and_exportable_frameworks() {
  static const std::vector<RoundTripFramework> kAll = all_starters();
  return kAll;
}

std::string plan_not_run_unchanged_reason(const RoundTripFramework& starter,
                                          const plan::PlannedJob& planned) {
  // The framework's rules are checked first, since that is faster than writing its files.
  const plan::TrainingFramework framework = framework_for_exported_job(starter.target, planned.job);
  for (const plan::UnsupportedChoice& what :
       plan::choices_unsupported_by_framework(framework, planned.job, planned.plan)) {
    if (what.ability != plan::FrameworkProperty::kAttention) return what.message;
  }
  try {
    const LaunchFile file = export_plan(starter.target, planned, "", false, kPlace);
    return file.as_it_is ? "" : file.notes.back();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
    return std::string(error.what()).substr(kPlace.size() + 2);
  }
}

std::vector<std::string> framework_names_running_plan(const plan::PlannedJob& planned) {
  std::vector<std::string> names;
  for (const RoundTripFramework& starter : importable_and_exportable_frameworks()) {
    if (plan_not_run_unchanged_reason(starter, planned).empty())
      names.emplace_back(starter.framework_or_variant_name());
  }
  return names;
}

}  // namespace stepwright::framework_files
