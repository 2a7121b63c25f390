#include <fmt/format.h>

#include "stepwright/cli/fit_samples.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/core/format.h"
#include "stepwright/fit/own_cluster/step_fit.h"
#include "stepwright/logs/readers/read_logs.h"

namespace stepwright::cli {
namespace {

std::string steps_text(const fit::MeasuredStepFit& fitted) {
  std::string text = fmt::format("step {}, of it {} waiting for messages\n\n",
                                 format_time(fitted.step_s), format_time(fitted.waiting_s));
  for (const std::string& note : fitted.notes) text.insert(0, note + "\n");
  return text;
}

}  // namespace

void fit_profile_to_step_traces(const ProfileFitRequest& request, const Console& console) {
  const plan::PlannedJob planned = load_settled_plan(request.plan, console);
  const fit::TensorWidths widths = fit::tensor_widths_of_program(
      step::build_step_program(planned.job, planned.plan), planned.job.model);
  std::vector<fit::RankHostTrace> ranks;
  const logs::CommunicationLog log =
      logs::read_kineto_host_traces(request.files, [&](const logs::KinetoTrace& trace) {
        ranks.push_back(fit::read_host_trace_steps(trace, widths));
      });
  const fit::MeasuredStepFit fitted = fit::fit_measured_steps(planned, ranks, log);
  write_measured_profile(fitted.fit, request, steps_text(fitted), console);
}

}  // namespace stepwright::cli
