#include "stepwright/cli/prediction_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stepwright/cli/breakdown_text.h"
#include "stepwright/cli/whole_run_text.h"
#include "stepwright/core/format.h"
#include "stepwright/core/table.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/choices/words.h"
#include "stepwright/simulate/document_figures.h"
#include "stepwright/simulate/losses.h"
#include "stepwright/whole_run/duration.h"

namespace stepwright::cli {
namespace {

const simulate::StageTimeBreakdown& critical(const simulate::PlanPrediction& prediction) {
  const simulate::Simulation& simulation = prediction.simulation;
  return simulation.stages[static_cast<std::size_t>(simulation.critical_stage)].breakdown;
}

/// Names the critical stage if the plan has several stages.
std::string whose_time(const simulate::PlanPrediction& prediction) {
  const std::size_t stages = prediction.simulation.stages.size();
  if (stages == 1) return "";
  return fmt::format("Pipeline stage {} (of 0 to {}), which the others wait for:\n",
                     prediction.simulation.critical_stage, stages - 1);
}

std::vector<std::string> figure(const std::string& name, const std::string& before,
                                const std::string& after) {
  return {name, before, after};
}

std::string figures_text(const simulate::PlanPrediction& before,
                         const simulate::PlanPrediction& after) {
  TextTable table{.columns = {{"figure"},
                              {"before", ColumnAlignment::kRight},
                              {"after", ColumnAlignment::kRight}},
                  .rows = {}};
  const auto add = [&](const std::string& name, auto&& value) {
    table.rows.push_back(figure(name, value(before), value(after)));
  };
  add("step time", [](const simulate::PlanPrediction& p) { return format_time(p.step_time_s()); });
  add("tokens/s per device",
      [](const simulate::PlanPrediction& p) { return format_number(p.tokens_per_s_per_device); });
  add("MFU", [](const simulate::PlanPrediction& p) { return format_percent(p.mfu); });
  add("HFU", [](const simulate::PlanPrediction& p) { return format_percent(p.hfu); });
  add("peak memory",
      [](const simulate::PlanPrediction& p) { return format_bytes(p.memory.peak_bytes); });
  add("probability that it fits", [](const simulate::PlanPrediction& p) {
    return fmt::format("{:.0f}%", 100 * p.memory.p_fits);
  });
  return format_text_table(table);
}

/// Number of examples in an epoch, if it is not known.
constexpr double kAssumedExamples = 10'000;

/// True if a job fine-tunes a model that is already trained.
bool tunes(const plan::Job& job) {
  return job.model.has_frozen_weights() || job.method.kind != plan::TrainingMethodKind::kPretrain;
}

/// Returns the examples per hour, and the time of an epoch with an assumed number of examples.
std::string examples_line(const simulate::PlanPrediction& prediction, std::int64_t devices) {
  const plan::Job& job = prediction.planned.job;
  const double per_sequence =
      job.documents ? simulate::document_step_metrics(prediction).per_sequence : 1;
  const double per_s = static_cast<double>(job.sequences) * per_sequence / prediction.step_time_s();
  const double epoch_s = kAssumedExamples / per_s;
  return fmt::format(
      "{} examples an hour; an epoch of {} (assumed) takes {} and {:.3g} GPU-hours, without "
      "restarts, "
      "checkpoints and evaluation",
      format_count(std::llround(3600 * per_s)), format_count(std::llround(kAssumedExamples)),
      whole_run::duration_text(epoch_s), epoch_s * static_cast<double>(devices) / 3600);
}

/// Returns days and GPU-hours of the requested run, else of a trillion tokens; for fine-tuning
/// jobs, `examples_line`.
std::string run_line(const simulate::PlanPrediction& prediction,
                     const whole_run::RequestedTrainingRun& asked) {
  const plan::Job& job = prediction.planned.job;
  const bool assumed = !asked.run && !job.run.tokens;
  if (assumed && tunes(job)) {
    return examples_line(prediction, job.cluster.devices() + asked.idle.devices);
  }
  return whole_run_summary_line(prediction, whole_run::whole_run_settings(job, asked), asked.idle,
                                assumed);
}

/// Returns the largest losses in one line: "5.62 s (9.8%) exposed tensor-parallel messages".
std::string losses_line(const simulate::PlanPrediction& prediction) {
  constexpr std::size_t kMost = 3;
  std::string text;
  const std::vector<simulate::StepTimeLoss> list = simulate::step_time_losses(prediction);
  for (std::size_t i = 0; i < std::min(kMost, list.size()) && list[i].seconds > 0; ++i) {
    text += fmt::format("{}{} ({}) {}", i == 0 ? "" : "; ", format_time(list[i].seconds),
                        format_percent(list[i].seconds / prediction.step_time_s()), list[i].name);
  }
  return text;
}

/// Returns the line about trained parameters, for a model with frozen parameters.
std::string trained_line(const simulate::PlanPrediction& prediction) {
  const model::ModelArchitecture& model = prediction.planned.job.model;
  if (!model.has_frozen_weights()) return "";
  const std::int64_t trained = model::count_trained_parameters(model);
  if (trained == prediction.parameters) return "";  // The frozen parameters belong to an encoder.
  const double share = static_cast<double>(trained) / static_cast<double>(prediction.parameters);
  return fmt::format("trained     {} of {} parameters ({})\n", format_count(trained),
                     format_count(prediction.parameters), format_percent(share));
}

/// The share of the model's FLOPs above the causal mask from which on it is mentioned.
constexpr double kMaskedWorthSaying = 0.2;

/// Returns the MFU: "89.9%, 53.0% without what lies behind the causal mask". Kernels skip most of
/// the masked FLOPs.
std::string mfu_text(const simulate::PlanPrediction& prediction) {
  std::string text = format_percent(prediction.mfu);
  if (prediction.unmasked_mfu > (1 - kMaskedWorthSaying) * prediction.mfu) return text;
  return text + fmt::format(", {} without the masked half of attention",
                            format_percent(prediction.unmasked_mfu));
}

std::string summary(const simulate::PlanPrediction& prediction,
                    const whole_run::RequestedTrainingRun& asked,
                    const std::string& framework = "") {
  const plan::Job& job = prediction.planned.job;
  const double step_s = prediction.step_time_s();
  const std::string of_frameworks =
      prediction.frameworks
          ? fmt::format("frameworks  {}\n",
                        simulate::step_time_range_over_frameworks_text(*prediction.frameworks))
          : "";
  return fmt::format(
      "{}\n\n"
      "{}"
      "plan        {}\n"
      "{}{}"
      "step time   {} ({} to {} with a probability of 80%)\n"
      "throughput  {} tokens/s, {} tokens/s per device\n"
      "training    {}\n"
      "memory      {}\n"
      "MFU         {} (HFU {}): {} per device of {}, the dense peak in {}\n"
      "losses      {}\n",
      plan::job_summary_line(job), framework, plan::plan_description(prediction.planned.plan, job),
      trained_line(prediction), of_frameworks, format_time(step_s),
      format_time(prediction.interval.low * step_s), format_time(prediction.interval.high * step_s),
      format_count(std::llround(prediction.tokens_per_s())),
      format_number(prediction.tokens_per_s_per_device), run_line(prediction, asked),
      predicted_memory_line(prediction.memory), mfu_text(prediction),
      format_percent(prediction.hfu), format_flops(prediction.flops_per_s_per_device),
      format_flops(prediction.peak_flops), name_of(plan::kPrecisionNames, job.precision),
      losses_line(prediction));
}

/// Returns text about documents of unequal lengths; empty: the job has none.
std::string documents_text(const simulate::PlanPrediction& prediction) {
  if (!prediction.planned.job.documents) return "";
  const simulate::DocumentStepMetrics figures = simulate::document_step_metrics(prediction);
  const double step_s = prediction.step_time_s();
  std::string text = fmt::format(
      "\ndocuments   {} of tokens are theirs ({} documents of {} tokens in a sequence of {}): "
      "{} tokens/s\n"
      "waits       {} ({}) for unequal micro-batches; four of five steps take {} to {}\n",
      format_percent(figures.efficiency), format_number(figures.per_sequence),
      format_number(figures.mean_length), format_number(figures.padded_sequence_tokens),
      format_number(figures.tokens_per_s), format_time(figures.uneven.waits_s),
      format_percent(figures.uneven.waits_s / step_s), format_time(step_s + figures.uneven.low_s),
      format_time(step_s + figures.uneven.high_s));
  if (figures.too_long > 0) {
    const packing::LongDocumentPolicy rule = prediction.planned.job.documents->packing.too_long;
    text += fmt::format("            {} of the data's documents are too long, and {}\n",
                        format_percent(figures.too_long),
                        rule == packing::LongDocumentPolicy::kSplit  ? "split"
                        : rule == packing::LongDocumentPolicy::kDrop ? "dropped"
                                                                     : "cut short");
  }
  TextTable table{.columns = {{"packing"},
                              {"step time", ColumnAlignment::kRight},
                              {"documents' tokens/s", ColumnAlignment::kRight},
                              {"gain", ColumnAlignment::kRight}},
                  .rows = {}};
  for (const simulate::DocumentPackingGain& gain : simulate::document_packing_gains(prediction)) {
    table.rows.push_back({gain.set, format_time(gain.step_time_s), format_number(gain.tokens_per_s),
                          fmt::format("{:+.1f}%", 100 * gain.gain)});
  }
  if (const auto dynamic = simulate::dynamic_context_parallel_gain(prediction)) {
    table.rows.push_back({"context degree by micro-batch", "", format_number(dynamic->tokens_per_s),
                          fmt::format("{:+.1f}%", 100 * dynamic->gain)});
  }
  return text + "\n" + format_text_table(table);
}

}  // namespace

std::string prediction_text(const simulate::PlanPrediction& prediction,
                            const whole_run::RequestedTrainingRun& asked,
                            const std::string& framework) {
  return fmt::format("{}{}\n{}{}", summary(prediction, asked, framework),
                     documents_text(prediction), whose_time(prediction),
                     step_time_breakdown_text(critical(prediction)));
}

std::string prediction_difference_text(const simulate::PlanPrediction& before,
                                       const simulate::PlanPrediction& after,
                                       const whole_run::RequestedTrainingRun& asked) {
  return fmt::format("{}\n{}\n{}", summary(after, asked), figures_text(before, after),
                     step_time_difference_text(critical(before), critical(after)));
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "- " + note + "\n";
  return text.empty() ? text : "\nNotes\n" + text;
}

std::string first_notes_text(std::vector<std::string> notes, bool verbose) {
  constexpr std::size_t kMostNotes = 5;
  if (verbose || notes.size() <= kMostNotes) return notes_text(notes);
  const std::size_t more = notes.size() - kMostNotes;
  notes.resize(kMostNotes);
  return notes_text(notes) + fmt::format("Further notes with `--verbose`: {}\n", more);
}

std::string unmeasured_operators_text(const simulate::PlanPrediction& prediction) {
  if (prediction.unmeasured.empty()) return "";
  std::string text = "\nSizes that were not measured\n";
  for (const simulate::UnmeasuredOperatorSizes& way : prediction.unmeasured) {
    text += fmt::format("- {}: {}\n", fmt::join(way.operators, ", "), way.how);
  }
  return text;
}

std::string predicted_memory_line(const memory::MemoryReport& memory) {
  const std::string line = memory_use_text(memory);
  if (memory.fits()) return line;
  const bool tight = memory.memory_fit_verdict_of_job() == memory::MemoryFitVerdict::kTight;
  return fmt::format("{}, {}: {}{}, most of it {}", line, tight ? "tight" : "DOES NOT FIT",
                     memory_fit_probability_text(memory), memory_shortage_text(memory),
                     memory::largest_part_of_scarce_memory(memory));
}

std::string memory_fit_probability_text(const memory::MemoryReport& memory) {
  if (memory.fits() || memory.confidence == 0 || memory.fits_devices()) return "";
  return fmt::format("probability of fitting {:.0f}%; ", 100 * memory.p_fits);
}

std::string memory_shortage_text(const memory::MemoryReport& memory) {
  const std::string bytes = format_bytes(memory.memory_shortage_bytes());
  if (memory.memory_fit_verdict_of_job() != memory::MemoryFitVerdict::kTight)
    return bytes + " too much";
  return fmt::format("{} above the limit with which plans fit with {}", bytes,
                     format_percent(memory.confidence));
}

std::string_view memory_fit_status_text(memory::MemoryFitVerdict verdict) {
  switch (verdict) {
    case memory::MemoryFitVerdict::kTight: return "tight";
    case memory::MemoryFitVerdict::kDoesNotFit: return "does not fit";
    case memory::MemoryFitVerdict::kFits: break;
  }
  return "";
}

std::string memory_use_text(const memory::MemoryReport& memory) {
  std::string text =
      fmt::format("{} of {}", format_bytes(memory.peak_bytes), format_bytes(memory.capacity_bytes));
  if (memory.reserve_bytes > 0) {
    text += fmt::format(" ({} kept free)", format_bytes(memory.reserve_bytes));
  }
  if (memory.fits()) {
    text += fmt::format(", which fits with a probability of {:.0f}%", 100 * memory.p_fits);
  }
  if (!memory.offloads_to_host_memory() && memory.fits_hosts()) return text;
  if (memory.host_capacity_bytes == 0) {
    return fmt::format("{}; host memory unknown: needs {} on a node", text,
                       format_bytes(memory.host_bytes));
  }
  return fmt::format("{}; host memory of a node: {} of {}", text, format_bytes(memory.host_bytes),
                     format_bytes(memory.host_capacity_bytes));
}

}  // namespace stepwright::cli
