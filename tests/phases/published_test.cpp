#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/core/scalar.h"
#include "stepwright/phases/generation.h"
#include "stepwright/phases/phased_step.h"
#include "stepwright/plan/files.h"

namespace stepwright::phases {
namespace {

/// A published step, and the predictions about it.
struct PublishedStep {
  std::string id, gpus, model, note, on_policy;
  std::optional<double> old_s, reference_s, update_s, step_s, weight_sync_s;
  /// Published seconds of the forward passes of policy and reference model together.
  std::optional<double> forwards_s;
  PhasedStep predicted;

  /// Returns the published update time divided by the predicted one; it differs from 1 because
  /// sequence lengths are assumed.
  [[nodiscard]] double stretch() const {
    const double dispatch = sequence_dispatch_s(predicted.update.planned.job);
    return (*update_s - dispatch) / (predicted.seconds_of_phase(StepPhaseKind::kUpdate) - dispatch);
  }
  /// Returns the forward seconds that match the published update time.
  [[nodiscard]] double forward_s() const {
    const double dispatch = sequence_dispatch_s(predicted.update.planned.job);
    return dispatch +
           stretch() * (predicted.seconds_of_phase(StepPhaseKind::kOldLogProbabilities) - dispatch);
  }
  /// Returns the sequence length, in tokens, with which the predicted update takes as long as the
  /// published one.
  [[nodiscard]] double explaining_length() const {
    const packing::LengthHistogram& lengths =
        predicted.update.planned.job.documents->packs.documents;
    return packing::total_tokens(lengths) / packing::total_document_count(lengths) * stretch();
  }
};

plan::PlannedJob plan_of_row(const std::string& job, std::string choices) {
  // The members of the plan, `{a: b, c: d}`, continue after the job.
  choices = choices.substr(1, choices.size() - 2);
  const std::string text = "{stepwright: plan/2, job: " + job + ", " + choices + "}";
  return plan::read_plan(YamlJsonDocument::parse("# a row\n" + text + "\n", "row"), {});
}

const std::vector<PublishedStep>& published_steps() {
  static const std::vector<PublishedStep> known = [] {
    std::vector<PublishedStep> steps;
    const CsvTable table = load_csv("data/reinforcement_steps.csv");
    for (const CsvRow& row : table.rows) {
      const auto text = [&](const char* column) { return row.cells[*table.column(column)]; };
      const auto number = [&](const char* column) { return read_double(text(column)); };
      steps.push_back({.id = text("id"),
                       .gpus = text("gpus"),
                       .model = text("model"),
                       .note = text("source_note"),
                       .on_policy = text("on_policy"),
                       .old_s = number("old_log_probabilities_s"),
                       .reference_s = number("reference_s"),
                       .update_s = number("update_s"),
                       .step_s = number("step_s"),
                       .weight_sync_s = number("weight_sync_s"),
                       .forwards_s = number("forwards_s"),
                       .predicted = predict_phased_step(plan_of_row(text("job"), text("plan")))});
    }
    return steps;
  }();
  return known;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string percent(double share) { return fmt::format("{:+.0f} %", 100 * share); }

std::string error_text(double predicted, const std::optional<double>& printed) {
  if (!printed) return "-";
  return fmt::format("{:.0f} s ({})", *printed, percent(predicted / *printed - 1));
}

double both_forwards_s(const PublishedStep& step) {
  return step.predicted.seconds_of_phase(StepPhaseKind::kOldLogProbabilities) +
         step.predicted.seconds_of_phase(StepPhaseKind::kReference);
}

/// Returns the table of docs/accuracy/reinforcement.md about forward passes for log-probabilities
/// and updates.
std::string table_of_forwards() {
  std::string text =
      "| run | GPUs | update, printed | forward, predicted of it | old log-probabilities, printed "
      "| "
      "reference, printed | sequences that explain the update |\n|---|---|---|---|---|---|---|\n";
  for (const PublishedStep& step : published_steps()) {
    if (!step.update_s || step.forwards_s || !(step.old_s || step.reference_s)) continue;
    const double forward = step.forward_s();
    text += fmt::format("| {} | {} | {:.0f} s | {:.0f} s | {} | {} | {:.0f} tokens |\n", step.id,
                        step.gpus, *step.update_s, forward, error_text(forward, step.old_s),
                        error_text(forward, step.reference_s), step.explaining_length());
  }
  return text;
}

/// Returns the table of phases, for sequences of known length.
std::string table_of_phases() {
  std::string text =
      "| run | GPUs | updates, predicted | printed | both forwards, predicted | printed |\n"
      "|---|---|---|---|---|---|\n";
  for (const PublishedStep& step : published_steps()) {
    if (!step.forwards_s) continue;
    const double updates = step.predicted.seconds_of_phase(StepPhaseKind::kUpdate);
    const double forwards = both_forwards_s(step);
    text += fmt::format("| {} ({}) | {} | {:.1f} s | {} | {:.1f} s | {} |\n", step.id, step.model,
                        step.gpus, updates, error_text(updates, step.update_s), forwards,
                        error_text(forwards, step.forwards_s));
  }
  return text;
}

/// Returns the generation seconds of a step whose phases alternate: the published step without
/// training and weight transfer.
double generation_s(const PublishedStep& step) {
  return *step.step_s - step.predicted.training_s - step.predicted.sync.seconds();
}

const PublishedStep& row_of(const std::string& id) {
  return *std::ranges::find(published_steps(), id, &PublishedStep::id);
}

/// Returns the seconds of a step that generates as in the alternating step, on as many devices as
/// generate here.
double predicted_s(const PublishedStep& step) {
  const PublishedStep& turns = row_of(step.on_policy);
  const double generating =
      static_cast<double>(step.predicted.update.planned.job.method.rollout->devices);
  const double generation = generation_s(turns) * static_cast<double>(turns.predicted.devices) /
                            generating * step.predicted.trained_tokens_of_step() /
                            turns.predicted.trained_tokens_of_step();
  return std::max(generation, step.predicted.training_s) + step.predicted.sync.seconds();
}

std::string table_of_steps() {
  std::string text =
      "| run | GPUs | step | training, predicted | of the step | step, predicted | error |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const PublishedStep& step : published_steps()) {
    if (step.update_s || step.weight_sync_s) continue;
    const double training = step.predicted.training_s;
    const bool apart = !step.on_policy.empty();
    text +=
        fmt::format("| {} ({}) | {} | {:.1f} s | {:.1f} s | {:.0f} % | {} | {} |\n", step.id,
                    step.model, step.gpus, *step.step_s, training, 100 * training / *step.step_s,
                    apart ? fmt::format("{:.1f} s", predicted_s(step)) : "-",
                    apart ? percent(predicted_s(step) / *step.step_s - 1) : "-");
  }
  return text;
}

std::string table_of_syncs() {
  std::string text =
      "| model | train, generate | weights | predicted | printed | |\n|---|---|---|---|---|---|\n";
  for (const PublishedStep& step : published_steps()) {
    if (!step.weight_sync_s) continue;
    const PolicyWeightSync& sync = step.predicted.sync;
    text += fmt::format("| {} | {}, {} | {:.0f} GB | {:.2f} s | {:.2f} s | {} |\n", step.model,
                        step.gpus, step.gpus, sync.bytes / 1e9, sync.seconds(), *step.weight_sync_s,
                        step.note.substr(0, step.note.find(';')));
  }
  return text;
}

/// Returns the errors of all published forward passes, predicted from the update in their row.
std::vector<double> forward_errors() {
  std::vector<double> errors;
  for (const PublishedStep& step : published_steps()) {
    for (const auto& printed : {step.old_s, step.reference_s}) {
      if (printed) errors.push_back(std::abs(step.forward_s() / *printed - 1));
    }
  }
  return errors;
}

TEST(PublishedSteps, HaveForwardsThatFollowFromTheirUpdates) {
  const std::vector<double> errors = forward_errors();
  EXPECT_EQ(errors.size(), 9);
  EXPECT_LT(median(errors), 0.2);
}

TEST(PublishedSteps, SendWeightsNoFasterThanLinksCarryThem) {
  for (const PublishedStep& step : published_steps()) {
    if (!step.weight_sync_s || step.note.starts_with("with ")) continue;
    EXPECT_LT(step.predicted.sync.seconds(), *step.weight_sync_s) << step.id;
  }
}

TEST(PublishedSteps, AreNoShorterThanTheirTraining) {
  for (const PublishedStep& step : published_steps()) {
    if (step.update_s || step.weight_sync_s) continue;
    EXPECT_LT(step.predicted.training_s * step.predicted.update.interval.low, *step.step_s)
        << step.id;
  }
}

TEST(PublishedSteps, StandInTheDocument) {
  std::ifstream file("docs/accuracy/reinforcement.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(document.find(table_of_forwards()), std::string::npos) << table_of_forwards();
  EXPECT_NE(document.find(table_of_phases()), std::string::npos) << table_of_phases();
  EXPECT_NE(document.find(table_of_steps()), std::string::npos) << table_of_steps();
  EXPECT_NE(document.find(table_of_syncs()), std::string::npos) << table_of_syncs();
  const std::string median_text =
      fmt::format("{:.0f} % in the median", 100 * median(forward_errors()));
  EXPECT_NE(document.find(median_text), std::string::npos) << median_text;
}

}  // namespace
}  // namespace stepwright::phases
