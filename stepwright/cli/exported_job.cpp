#include "stepwright/cli/exported_job.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "stepwright/cli/logger.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/cli/prediction_text.h"
#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/framework_files/file_ending.h"
#include "stepwright/plan/choices/changes.h"
#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/nearest_fit.h"

namespace stepwright::cli {
namespace {

/// Returns a note with the predicted step time of the exported files and, if it differs, of the
/// plan.
std::string time_note(const plan::PlannedJob& planned, const simulate::PlanPrediction& started) {
  const double here_s = simulate::predict_plan(planned).step_time_s();
  const double there_s = started.step_time_s();
  const std::string there =
      fmt::format("A step takes {} as started by the file, with attention {}", format_time(there_s),
                  name_of(cluster::kAttentionKernelNames, started.planned.job.kernels.attention));
  if (format_time(here_s) == format_time(there_s)) return there + ".";
  return fmt::format("{}; {} as in the plan, with {}.", there, format_time(here_s),
                     name_of(cluster::kAttentionKernelNames, planned.job.kernels.attention));
}

/// Returns a note with the excess of memory of the exported files.
std::string misfit_note(const simulate::PlanPrediction& started) {
  const memory::MemoryReport& memory = started.memory;
  const bool tight = memory.memory_fit_verdict_of_job() == memory::MemoryFitVerdict::kTight;
  return fmt::format("The job that the file starts {}: {}it needs {}, {}",
                     tight ? "is tight" : "DOES NOT FIT", memory_fit_probability_text(memory),
                     memory_use_text(memory), memory_shortage_text(memory));
}

[[noreturn]] void fail_misfit(const ExportRequest& request, const std::string& why) {
  throw Error(ErrorKind::kRuntime, fmt::format("{}: {}", request.plan, why),
              {.file = request.plan});
}

/// Returns the launch file of the nearest plan that fits, if the exported one does not.
framework_files::LaunchFile fitting_file(const ExportRequest& request,
                                         const plan::PlannedJob& planned,
                                         const simulate::PlanPrediction& misfit) {
  const plan::PlannedJob& started = misfit.planned;
  const std::optional<plan::Plan> fit = tune::nearest_fitting_plan(started);
  if (!fit) {
    fail_misfit(request, misfit_note(misfit) +
                             ", and no plan of this job that the framework runs fits; "
                             "--even-if-it-does-not-fit writes the file anyway");
  }
  framework_files::LaunchFile file = framework_files::export_plan(
      request.to, {planned.job, *fit}, request.release, true, request.plan);
  file.notes.push_back(
      fmt::format("The nearest plan that fits was written; it has {}.",
                  plan::differing_choices_text(plan::canonical_plan(planned.plan, planned.job),
                                               file.started.plan)));
  return file;
}

/// Returns the request with the release that the extension of its output file implies, if no
/// release is given.
ExportRequest with_release(ExportRequest request, const plan::PlannedJob& planned,
                           const Console& console) {
  if (!request.release.empty() || !planned.job.framework.version.empty()) return request;
  request.release = framework_files::release_for_file_ending(request.to, request.output);
  if (!request.release.empty()) {
    console.log.info(fmt::format("The file is for release {}, which the ending of {} requires.",
                                 request.release, request.output));
  }
  return request;
}

}  // namespace

framework_files::LaunchFile export_launch_file(const ExportRequest& given, const Console& console) {
  const plan::PlannedJob planned = load_settled_plan(
      given.plan, console, framework_files::framework_of_export_target(given.to, given.release));
  const ExportRequest request = with_release(given, planned, console);
  framework_files::LaunchFile file = framework_files::export_plan(
      request.to, planned, request.release, request.nearest, request.plan);
  simulate::PlanPrediction there = simulate::predict_plan(file.started);
  const auto fails = [&] {
    return !request.even_if_it_does_not_fit &&
           there.memory.memory_fit_verdict_of_job() == memory::MemoryFitVerdict::kDoesNotFit;
  };
  if (fails() && request.nearest) {
    file = fitting_file(request, planned, there);
    there = simulate::predict_plan(file.started);
  }
  if (fails()) {
    fail_misfit(
        request,
        misfit_note(there) +
            fmt::format("; {}--even-if-it-does-not-fit writes the file anyway",
                        request.nearest ? "" : "--nearest writes the nearest plan that fits, "));
  }
  for (const std::string& note : file.notes) console.log.info(note);
  const std::string other = framework_files::wrong_file_ending_text(
      request.to, file.started.job.framework.version, request.output);
  if (!other.empty()) console.log.warn(other);
  console.log.info(time_note(planned, there));
  if (!there.memory.fits()) console.log.warn(misfit_note(there) + ".");
  return file;
}

}  // namespace stepwright::cli
