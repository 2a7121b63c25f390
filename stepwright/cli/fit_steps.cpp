#include <fmt/format.h>

#include "stepwright/cli/fit_samples.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/core/format.h"
#include "stepwright/fit/own_cluster/step_fit.h"
#include "stepwright/logs/read_logs.h"

namespace stepwright {
namespace {

std::string steps_text(const StepFit& fitted) {
  std::string text = fmt::format("step {}, of it {} waiting for messages\n\n",
                                 format_time(fitted.step_s), format_time(fitted.waiting_s));
  for (const std::string& note : fitted.notes) text.insert(0, note + "\n");
  return text;
}

}  // namespace

void fit_step_traces(const FitRequest& request, const Console& console) {
  const PlannedJob planned = load_settled_plan(request.plan, console);
  const ModelWidths widths = widths_of(build_program(planned.job, planned.plan), planned.job.model);
  std::vector<HostTrace> ranks;
  const Log log = read_host_traces(
      request.files, [&](const KinetoTrace& trace) { ranks.push_back(host_steps(trace, widths)); });
  const StepFit fitted = fit_steps(planned, ranks, log);
  write_measured(fitted.fit, request, steps_text(fitted), console);
}

}  // namespace stepwright
