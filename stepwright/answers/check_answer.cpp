#include "stepwright/answers/check_answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/answers/made_by.h"
#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/tree.h"
#include "stepwright/plan/laws/legality.h"

namespace stepwright::answers {
namespace {

/// Reads a plan file, or the files of a framework.
framework_files::ImportedPlan read_plan_or_files(const JobCheckRequest& request) {
  const UserFile& first = request.job.files.front();
  if (declares_job(first)) {
    fail_input(
        fmt::format(
            "{0}: is a job, which contains no plan to check: `stepwright tune {1}` finds a plan",
            first.name, quoted_for_shell(first.name)),
        {.file = first.name});
  }
  if (!declares_plan(first)) {
    return import_framework_plan(request.job, true);
  }
  reject_options_redundant_with_plan(request.job);
  framework_files::ImportedPlan imported{
      .target = "", .planned = read_plan(first), .report = {}, .refused = {}};
  imported.refused = plan::find_plan_rejection(imported.planned.job, imported.planned.plan);
  return imported;
}

/// Checks a job; errors of the search are prefixed with the name of the job's file.
check::JobCheckResult checked(framework_files::ImportedPlan imported, const std::string& name) {
  try {
    return check::check_job(std::move(imported));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    fail_input(fmt::format("{}: {}", name, error.what()), {.file = name});
  }
}

std::optional<double> read_gain(const std::string& gain) {
  if (gain.empty()) return std::nullopt;
  const bool percent = gain.ends_with('%');
  const std::string number = percent ? gain.substr(0, gain.size() - 1) : gain;
  const YamlJsonDocument document =
      YamlJsonDocument::from_tree(DocumentTree::make_scalar(number, false), "--gain");
  const double value = document.root().number(0, percent ? 100 : 1);
  return percent ? value / 100 : value;
}

}  // namespace

JobCheckAnswer check_job_before_queueing(const JobCheckRequest& request) {
  const std::optional<double> most_gain = read_gain(request.gain);
  framework_files::ImportedPlan imported = read_plan_or_files(request);
  request.reserve.replace_memory_margin_of_job(imported.planned.job);
  JobCheckAnswer answer{.check = checked(std::move(imported), request.job.files.front().name)};
  if (!request.logs.empty() && answer.check.is_plan_legal()) {
    answer.run = compare_prediction_with_logs(*answer.check.prediction, request.logs);
  }
  answer.fault = check::reason_not_to_submit_job(answer.check, most_gain);
  if (answer.fault.empty() && answer.run && answer.run->differs()) {
    answer.fault = "the messages of its run differ from those of the plan";
  }
  return answer;
}

nlohmann::ordered_json check_command_answer_json(const JobCheckAnswer& answer) {
  nlohmann::ordered_json json = check::job_check_json(answer.check, answer.fault);
  json["made_by"] = producer_version_json();
  if (answer.run)
    json["log"] = prediction_run_comparison_json(*answer.run, *answer.check.prediction);
  return json;
}

}  // namespace stepwright::answers
