#include "stepwright/cli/prediction_text.h"

#include <fmt/format.h>

#include "stepwright/cli/breakdown_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/words.h"

namespace stepwright {
namespace {

const Breakdown& critical(const Prediction& prediction) {
  const Simulation& simulation = prediction.simulation;
  return simulation.stages[static_cast<std::size_t>(simulation.critical_stage)].breakdown;
}

std::string memory_line(const MemoryReport& memory) {
  const std::string line = memory_use(memory);
  if (memory.fits()) return line;
  return fmt::format("{}: DOES NOT FIT, {} too much, most of it {}", line,
                     format_bytes(memory.over_by_bytes()),
                     name_of(kMemoryKindNames, largest_kind(memory)));
}

std::string tokens_rate(double tokens_per_s) { return fmt::format("{:.4g}", tokens_per_s); }

/// "The critical stage" where there are several.
std::string whose_time(const Prediction& prediction) {
  const std::size_t stages = prediction.simulation.stages.size();
  if (stages == 1) return "";
  return fmt::format("Stage {} of {}, the critical one:\n", prediction.simulation.critical_stage,
                     stages);
}

std::vector<std::string> figure(const std::string& name, const std::string& before,
                                const std::string& after) {
  return {name, before, after};
}

std::string figures_text(const Prediction& before, const Prediction& after) {
  Table table{.columns = {{"figure"}, {"before", Align::kRight}, {"after", Align::kRight}},
              .rows = {}};
  const auto add = [&](const std::string& name, auto&& value) {
    table.rows.push_back(figure(name, value(before), value(after)));
  };
  add("step time", [](const Prediction& p) { return format_time(p.step_time_s()); });
  add("tokens/s per device",
      [](const Prediction& p) { return tokens_rate(p.tokens_per_s_per_device); });
  add("MFU", [](const Prediction& p) { return format_percent(p.mfu); });
  add("HFU", [](const Prediction& p) { return format_percent(p.hfu); });
  add("peak memory", [](const Prediction& p) { return format_bytes(p.memory.peak_bytes); });
  add("fits", [](const Prediction& p) { return std::string(p.memory.fits() ? "yes" : "no"); });
  return to_text(table);
}

}  // namespace

std::string prediction_summary(const Prediction& prediction) {
  const Job& job = prediction.planned.job;
  return fmt::format(
      "{}\n\n"
      "plan         {}\n"
      "step time    {} (80 %: {} to {})\n"
      "throughput   {} tokens/s per device\n"
      "MFU          {} (HFU {}): {} per device of {}, the dense peak in {}\n"
      "memory       {}\n",
      job_line(job), plan_words(prediction.planned.plan, job),
      format_time(prediction.step_time_s()),
      format_time(prediction.interval.low * prediction.step_time_s()),
      format_time(prediction.interval.high * prediction.step_time_s()),
      tokens_rate(prediction.tokens_per_s_per_device), format_percent(prediction.mfu),
      format_percent(prediction.hfu), format_flops(prediction.flops_per_s_per_device),
      format_flops(prediction.peak_flops), name_of(kPrecisionNames, job.precision),
      memory_line(prediction.memory));
}

std::string prediction_text(const Prediction& prediction) {
  return fmt::format("{}\n{}{}{}", prediction_summary(prediction), whose_time(prediction),
                     breakdown_text(critical(prediction)), notes_text(prediction.notes));
}

std::string comparison_text(const Prediction& before, const Prediction& after) {
  return fmt::format("{}\n{}\n{}{}", prediction_summary(after), figures_text(before, after),
                     difference_text(critical(before), critical(after)), notes_text(after.notes));
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "- " + note + "\n";
  return text.empty() ? text : "\nNotes\n" + text;
}

std::string memory_use(const MemoryReport& memory) {
  std::string text =
      fmt::format("{} of {}", format_bytes(memory.peak_bytes), format_bytes(memory.capacity_bytes));
  if (memory.reserve_bytes > 0) {
    text += fmt::format(" ({} kept in reserve)", format_bytes(memory.reserve_bytes));
  }
  return fmt::format("{}, P(fits) {:.2f}", text, memory.p_fits);
}

}  // namespace stepwright
