#include "stepwright/cli/phases_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stepwright/cli/prediction_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/codes.h"
#include "stepwright/plan/choices/words.h"

namespace stepwright::cli {
namespace {

std::string words_of(const phases::PhasedStep& step, const phases::StepPhase& phase) {
  switch (phase.kind) {
    case phases::StepPhaseKind::kGeneration:
      return phase.assumed() ? "generation, assumed" : "generation, as given";
    case phases::StepPhaseKind::kOldLogProbabilities: return "old log-probabilities";
    case phases::StepPhaseKind::kReference: return "log-probabilities of the reference";
    case phases::StepPhaseKind::kValues: return "values of the critic";
    case phases::StepPhaseKind::kUpdate:
      return step.method().updates == 1 ? "update"
                                        : count_with_noun(step.method().updates, "update");
    case phases::StepPhaseKind::kCriticUpdate: return "the same for the critic";
    case phases::StepPhaseKind::kWeightSync: return "weights to where sequences are generated";
    case phases::StepPhaseKind::kSwitch: break;
  }
  return "change between generation and training, as given";
}

std::string devices_line(const phases::PhasedStep& step) {
  std::string text = count_with_noun(step.update.planned.job.cluster.devices(), "GPU");
  text += " train";
  const plan::SecondModel& critic = step.method().critic;
  if (critic.place == plan::SecondModelPlace::kOther) {
    text += fmt::format(" the policy, {} the critic", critic.devices);
  }
  if (!step.method().rollout) return text;
  const std::int64_t generating = step.method().rollout->devices;
  if (generating == 0) return text + " and generate in turns";
  return text + fmt::format(", {} generate {}", generating,
                            step.method().staleness > 0 ? "beside them" : "in turns with them");
}

std::string step_line(const phases::PhasedStep& step) {
  return fmt::format("{} ({} to {}, with a probability of 80%), {} tokens/s on each of {}",
                     format_time(step.step_s), format_time(step.low_s), format_time(step.high_s),
                     format_number(step.tokens_per_s_per_device()),
                     count_with_noun(step.devices, "GPU"));
}

/// Returns the memory verdict, such as ": tight, fits with a probability of 83%"; empty: it fits.
std::string misfit_words(const phases::PhasedStep& step) {
  switch (step.memory_fit_verdict_of_step()) {
    case memory::MemoryFitVerdict::kFits: break;
    case memory::MemoryFitVerdict::kTight:
      return fmt::format(": tight, fits with a probability of {:.0f}%",
                         100 * step.probability_of_fitting());
    case memory::MemoryFitVerdict::kDoesNotFit: return ": it does not fit";
  }
  return "";
}

std::string device_memory_line(const phases::PhasedStep& step) {
  return fmt::format("{} of {} of a GPU that trains{}", format_bytes(step.peak_bytes),
                     format_bytes(step.update.memory.capacity_bytes), misfit_words(step));
}

std::string sync_line(const phases::PhasedStep& step) {
  if (!step.method().rollout) return "";
  const phases::PolicyWeightSync& sync = step.sync;
  return fmt::format("weights      {}: gathered in {}{}\n", format_bytes(sync.bytes),
                     format_time(sync.gather_s),
                     sync.broadcast_s > 0 ? ", sent in " + format_time(sync.broadcast_s) : "");
}

std::string phases_table(const phases::PhasedStep& step) {
  TextTable table{.columns = {{"phase"},
                              {"time", ColumnAlignment::kRight},
                              {"GPUs", ColumnAlignment::kRight},
                              {"peak memory", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const phases::StepPhase& phase : step.phases) {
    std::string devices = format_count(phase.devices);
    if (phase.beside) devices += " others";
    std::string time = format_time(phase.seconds);
    if (phase.assumed()) {
      time =
          fmt::format("{} ({} to {})", time, format_time(phase.low_s), format_time(phase.high_s));
    }
    table.rows.push_back({words_of(step, phase), time, devices,
                          phase.peak_bytes > 0 ? format_bytes(phase.peak_bytes) : "-"});
  }
  table.rows.push_back({"step", format_time(step.step_s), format_count(step.devices), ""});
  return format_text_table(table);
}

/// Returns where a step's critic is trained; "-": there is none.
std::string critic_text(const phases::PhasedStep& step) {
  const plan::SecondModel& critic = step.method().critic;
  if (critic.place == plan::SecondModelPlace::kOther) return format_count(critic.devices);
  return critic.place == plan::SecondModelPlace::kNone ? "-" : "there";
}

}  // namespace

std::string phased_step_text(const phases::PhasedStep& step, bool verbose) {
  const auto& [job, plan] = step.update.planned;
  std::string text = fmt::format(
      "{}\n\n"
      "method       {}\n"
      "plan         {}\n"
      "devices      {}\n"
      "step         {}\n"
      "memory       {}\n"
      "{}\n"
      "{}",
      plan::job_summary_line(job), name_of(plan::kMethodNames, step.method().kind),
      plan::plan_description(plan, job), devices_line(step), step_line(step),
      device_memory_line(step), sync_line(step), phases_table(step));
  std::vector<std::string> notes = step.notes;
  if (step.phases.size() == 1) {
    notes.insert(notes.begin(),
                 "A step of this method has one phase. `objective: {kind: grpo}` in the job names "
                 "another (dpo, grpo or ppo; docs/phases.md).");
  }
  return text + first_notes_text(std::move(notes), verbose);
}

std::string device_splits_table(const phases::DevicePoolSplits& splits) {
  if (splits.steps.size() < 2) return "";
  TextTable table{.columns = {{"train", ColumnAlignment::kRight},
                              {"critic", ColumnAlignment::kRight},
                              {"generate", ColumnAlignment::kRight},
                              {"step", ColumnAlignment::kRight},
                              {"training", ColumnAlignment::kRight},
                              {"generation", ColumnAlignment::kRight},
                              {"tokens/s/GPU", ColumnAlignment::kRight},
                              {"plan"}},
                  .rows = {}};
  std::vector<plan::Plan> plans;
  for (const phases::PhasedStep& step : splits.steps) {
    const plan::PlannedJob& planned = step.update.planned;
    plans.push_back(planned.plan);
    const std::int64_t generating = step.method().rollout->devices;
    table.rows.push_back({format_count(planned.job.cluster.devices()), critic_text(step),
                          generating > 0 ? format_count(generating) : "in turns",
                          format_time(step.step_s), format_time(step.training_s),
                          format_time(step.seconds_of_phase(phases::StepPhaseKind::kGeneration)),
                          format_number(step.tokens_per_s_per_device()),
                          plan::short_plan_code(planned.plan)});
  }
  return fmt::format("\nSplits of the GPUs, the shortest step first\n\n{}\n{}",
                     format_text_table(table), plan::legend_of_plan_codes(plans));
}

}  // namespace stepwright::cli
