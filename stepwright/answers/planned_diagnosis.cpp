#include "stepwright/answers/planned_diagnosis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "stepwright/check/check.h"
#include "stepwright/core/format.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/utf8.h"
#include "stepwright/diagnose/advice.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/memory/allocations.h"
#include "stepwright/plan/grid.h"
#include "stepwright/snapshot/compare_snapshots.h"
#include "stepwright/step/document_sizes.h"

namespace stepwright::answers {
namespace {

constexpr double kMiB = 1024.0 * 1024;
/// The most tensors of the requested size that are named.
constexpr std::size_t kMostNamed = 3;
/// Share of device memory that a remedy must free if the message does not tell how much was
/// missing.
constexpr double kUnknownShortage = 0.02;

using diagnose::DiagnosedFaultKind;
using diagnose::FaultFinding;
using diagnose::OutOfMemoryReport;

/// Returns the pipeline position of a rank; nullopt: the plan has no such rank.
std::optional<std::int64_t> stage_of(const plan::Plan& plan, std::int64_t rank) {
  const plan::RankGrid grid(plan);
  if (rank < 0 || rank >= grid.ranks()) return std::nullopt;
  return grid.coordinates(rank).pipeline;
}

/// True if a size that is printed with two digits may be that of a tensor with this many bytes.
bool same_size(double asked_bytes, double tensor_bytes) {
  const double unit = asked_bytes >= 1024 * kMiB ? 1024 * kMiB : kMiB;
  return std::abs(allocator_segment_bytes(tensor_bytes) - asked_bytes) <= 0.0051 * unit;
}

/// Returns tensors of a pipeline position that are allocated with the requested size, the most
/// frequent first: "mlp.fc1: activation (24)".
std::vector<std::string> tensors_of_size(const simulate::PlanPrediction& prediction,
                                         std::int64_t stage, double asked_bytes) {
  std::map<std::string, std::int64_t> counts;
  const auto& planned = prediction.planned;
  memory::visit_predicted_allocations(
      planned.job, prediction.program, prediction.program.stages[static_cast<std::size_t>(stage)],
      {.allocate =
           [&](std::int64_t, const memory::PredictedAllocation& block) {
             if (same_size(asked_bytes, static_cast<double>(block.bytes)))
               ++counts[memory::allocation_name(block)];
           },
       .free = [](std::int64_t) {},
       .begin_step = [] {}});
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [name, count] : counts) sorted.emplace_back(-count, name);
  std::ranges::sort(sorted);
  if (sorted.size() > kMostNamed) sorted.resize(kMostNamed);
  std::vector<std::string> names;
  for (const auto& [count, name] : sorted) names.push_back(fmt::format("{} ({})", name, -count));
  return names;
}

/// Returns the plan with so much memory reserved that it exceeds the device by the bytes that were
/// missing.
plan::PlannedJob with_shortage(const simulate::PlanPrediction& prediction,
                               const OutOfMemoryReport& event) {
  plan::PlannedJob planned = prediction.planned;
  const memory::MemoryReport& report = prediction.memory;
  if (!report.fits_devices() || report.capacity_bytes <= 0) return planned;
  double shortage = kUnknownShortage * report.capacity_bytes;
  if (event.asked_bytes >= 0 && event.free_bytes >= 0)
    shortage = std::max(shortage, event.asked_bytes - event.free_bytes);
  const double usable = std::max(0.0, report.device_bytes_needed_by_plan() - shortage);
  planned.job.objective.memory_reserve = std::clamp(1 - usable / report.capacity_bytes, 0.0, 0.99);
  return planned;
}

std::string change_text(const check::MemoryRemedyWithFlags& said) {
  return fmt::format("{} (predicted: a step of {}, a peak of {})", fmt::join(said.words, "; "),
                     format_time(said.remedy.step_time_s),
                     format_bytes(said.remedy.peak_memory_bytes));
}

/// Returns blocks in the fullest rank's snapshot that the plan does not predict.
std::vector<std::string> unplanned_blocks(const std::vector<diagnose::SnapshotMemory>& snapshots,
                                          const simulate::PlanPrediction& prediction) {
  std::vector<std::string> files;
  for (const diagnose::SnapshotMemory& one : snapshots) {
    if (std::ranges::find(files, one.file) == files.end() && path_exists(one.file))
      files.push_back(one.file);
  }
  if (files.empty()) return {};
  const snapshot::SnapshotComparison found =
      snapshot::compare_snapshots(files, prediction.planned.job, prediction.program);
  const snapshot::RankSnapshotComparison& rank = found.ranks[found.fullest];
  std::vector<std::string> lines = {
      fmt::format("{}: the plan has blocks for {} of the peak of {}", rank.file,
                  format_bytes(static_cast<double>(rank.match.matched_bytes)),
                  format_bytes(static_cast<double>(rank.recording.peak_bytes)))};
  for (std::size_t i = 0; i < rank.match.unexplained.size() && i < kMostNamed; ++i) {
    const snapshot::SameStackBlocks& group = rank.match.unexplained[i];
    lines.push_back(fmt::format(
        "{}: not in the plan: {} in {}, at {}", rank.file,
        format_bytes(static_cast<double>(group.bytes)), count_with_noun(group.count, "block"),
        group.frames.empty() ? "frames that were not recorded"
                             : one_line_printable_text(group.frames.front())));
  }
  return lines;
}

/// Adds the plan's figures about an out-of-memory device, in front of those from the log.
void add_memory(const OutOfMemoryReport& event,
                const std::vector<diagnose::SnapshotMemory>& snapshots,
                PredictionAndMeasurements& answer, FaultFinding& finding) {
  const simulate::PlanPrediction& prediction = answer.prediction;
  const auto stage = stage_of(prediction.planned.plan, event.rank);
  const std::int64_t shown = stage.value_or(check::fullest_memory_stage(prediction).stage);
  const auto index = static_cast<std::size_t>(shown);
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("{} {} of {}, for which the plan predicts a peak of {} on a device of {}",
                  stage ? fmt::format("Rank {} is of stage", event.rank)
                        : "No rank is known; the fullest is stage",
                  shown, prediction.memory.stages.size(),
                  format_bytes(prediction.memory.stages[index].peak_bytes),
                  format_bytes(prediction.memory.capacity_bytes)));
  if (event.allocated_bytes >= 0) {
    const auto allocated =
        memory::pytorch_allocated_memory(prediction.planned.job, prediction.program);
    lines.push_back(fmt::format("PyTorch had allocated {}; the plan predicts at most {}",
                                format_bytes(event.allocated_bytes),
                                format_bytes(allocated[index].peak_bytes)));
  }
  if (event.asked_bytes > 0) {
    const auto tensors = tensors_of_size(prediction, shown, event.asked_bytes);
    lines.push_back(tensors.empty()
                        ? fmt::format("No tensor of the plan has the size of {}",
                                      format_bytes(event.asked_bytes))
                        : fmt::format("Tensors of the plan with the size of {}: {}",
                                      format_bytes(event.asked_bytes), fmt::join(tensors, ", ")));
  }
  std::ranges::move(unplanned_blocks(snapshots, prediction), std::back_inserter(lines));
  finding.evidence.insert(finding.evidence.begin(), lines.begin(), lines.end());
  answer.remedies = check::find_memory_remedies_with_flags(with_shortage(prediction, event));
  std::vector<std::string> changes;
  for (const check::MemoryRemedyWithFlags& said : answer.remedies)
    changes.push_back(change_text(said));
  finding.changes.insert(finding.changes.begin(), changes.begin(), changes.end());
}

/// Returns the measured seconds of a step: logged directly, or the plan's tokens divided by the
/// logged rate.
std::optional<double> measured_time(const plan::PlannedJob& planned,
                                    const diagnose::SteadySteps& steady) {
  if (steady.step_time_s > 0) return steady.step_time_s;
  if (steady.tokens_per_s <= 0) return std::nullopt;
  const auto ranks = static_cast<double>(plan::RankGrid(planned.plan).ranks());
  return step::step_tokens(planned.job, planned.plan).slots / (steady.tokens_per_s * ranks);
}

std::string of_predicted_rate(double predicted_s, double measured_s) {
  return fmt::format("{} of the predicted rate", format_percent(predicted_s / measured_s));
}

void add_step_time(const diagnose::LoggedStepSummary& measured, PredictionAndMeasurements& answer,
                   diagnose::Diagnosis& diagnosis) {
  const simulate::PlanPrediction& prediction = answer.prediction;
  const double predicted = prediction.step_time_s();
  const double step = *answer.measured_s;
  const double low = predicted * prediction.interval.low;
  const double high = predicted * prediction.interval.high;
  const std::string both = fmt::format(
      "A step takes {} (the median of {}), {} are predicted (80 %: {} to {}): {}.",
      format_time(step), count_with_noun(measured.steady.steps, "step"), format_time(predicted),
      format_time(low), format_time(high), of_predicted_rate(predicted, step));
  if (step <= high) {
    diagnosis.notes.push_back(both);
    return;
  }
  const auto micro_batches = static_cast<double>(
      plan::micro_batches_per_pipeline(prediction.planned.job, prediction.planned.plan));
  FaultFinding finding{
      .kind = DiagnosedFaultKind::kStepTime,
      .lost_s = step - predicted,
      .where = {.file = measured.file},
      .what = both,
      .evidence = {fmt::format("The difference is {} of each of {:.0f} micro-batches",
                               format_time((step - predicted) / micro_batches), micro_batches)}};
  if (measured.steady.slow_steps > 0) finding.evidence.push_back(measured.steady.slow_steps_text());
  diagnose::add_causes_and_remedies(finding, "slow.gap");
  diagnosis.findings.push_back(std::move(finding));
}

}  // namespace

double allocator_segment_bytes(double tensor_bytes) {
  if (tensor_bytes < kMiB) return 2 * kMiB;
  if (tensor_bytes < 10 * kMiB) return 20 * kMiB;
  return std::ceil(tensor_bytes / (2 * kMiB)) * 2 * kMiB;
}

PredictionAndMeasurements add_plan_prediction(const plan::PlannedJob& planned,
                                              diagnose::Diagnosis& diagnosis) {
  PredictionAndMeasurements answer{
      .prediction = simulate::predict_plan(planned), .measured_s = {}, .remedies = {}};
  const auto event = std::ranges::find(diagnosis.out_of_memory, false, &OutOfMemoryReport::host);
  if (event != diagnosis.out_of_memory.end() && !diagnosis.findings.empty() &&
      diagnosis.findings.front().kind == DiagnosedFaultKind::kOutOfMemory) {
    add_memory(*event, diagnosis.snapshots, answer, diagnosis.findings.front());
  }
  for (const diagnose::LoggedStepSummary& measured : diagnosis.measured) {
    answer.measured_s = measured_time(answer.prediction.planned, measured.steady);
    if (!answer.measured_s) continue;
    add_step_time(measured, answer, diagnosis);
    break;
  }
  return answer;
}

}  // namespace stepwright::answers
