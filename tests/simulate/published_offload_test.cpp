// Published runs with states offloaded to hosts (data/offloaded_runs.csv), which were not used to
// fit any constant.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/csv.h"
#include "stepwright/core/scalar.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/plan/files.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::simulate {
namespace {

constexpr double kGb = 1e9;
constexpr double kBytesPerGib = 1024.0 * 1024 * 1024;

struct OffloadedRun {
  std::string id, base, no_plan;
  std::optional<double> after_step_gb, peak_gib, step_s, over_base;
  double predicted_s = 0;
  double allocated_bytes = 0;  ///< Bytes of the fullest stage after a step.
  double peak_bytes = 0;       ///< Peak bytes of the fullest stage during a step.
};

void predict_run(OffloadedRun& run, const std::string& job, std::string choices) {
  choices = choices.substr(1, choices.size() - 2);
  const std::string text = "{stepwright: plan/2, job: " + job + ", " + choices + "}";
  const PlanPrediction prediction =
      predict_plan(plan::read_plan(YamlJsonDocument::parse("# a row\n" + text, "row"), {}));
  run.predicted_s = prediction.step_time_s();
  const plan::PlannedJob& planned = prediction.planned;
  for (const memory::PyTorchAllocatedMemory& stage :
       memory::pytorch_allocated_memory(planned.job, prediction.program)) {
    run.allocated_bytes = std::max(run.allocated_bytes, stage.after_step_bytes);
    run.peak_bytes = std::max(run.peak_bytes, stage.peak_bytes);
  }
}

const std::vector<OffloadedRun>& offloaded_runs() {
  static const std::vector<OffloadedRun> known = [] {
    std::vector<OffloadedRun> runs;
    const CsvTable table = load_csv("data/offloaded_runs.csv");
    for (const CsvRow& row : table.rows) {
      const auto text = [&](const char* column) { return row.cells[*table.column(column)]; };
      const auto number = [&](const char* column) { return read_double(text(column)); };
      runs.push_back({.id = text("id"),
                      .base = text("base"),
                      .no_plan = text("no_plan"),
                      .after_step_gb = number("after_step_gb"),
                      .peak_gib = number("peak_gib"),
                      .step_s = number("step_s"),
                      .over_base = number("over_base")});
      if (runs.back().no_plan.empty()) predict_run(runs.back(), text("job"), text("plan"));
    }
    return runs;
  }();
  return known;
}

const OffloadedRun& run_of(const std::string& id) {
  return *std::ranges::find(offloaded_runs(), id, &OffloadedRun::id);
}

/// A figure of a run, published and predicted.
struct Figure {
  std::string run, what;
  double printed = 0;
  double predicted = 0;
  bool memory = false;

  [[nodiscard]] double error() const { return predicted / printed - 1; }
};

std::vector<Figure> figures() {
  std::vector<Figure> all;
  for (const OffloadedRun& run : offloaded_runs()) {
    if (!run.no_plan.empty()) continue;
    const auto add = [&](const char* what, const std::optional<double>& printed, double predicted,
                         bool memory) {
      if (printed) all.push_back({run.id, what, *printed, predicted, memory});
    };
    add("GB after a step", run.after_step_gb, run.allocated_bytes / kGb, true);
    add("GiB at most", run.peak_gib, run.peak_bytes / kBytesPerGib, true);
    add("s of a step", run.step_s, run.predicted_s, false);
    if (run.over_base) {
      add("steps of the first", run.over_base, run.predicted_s / run_of(run.base).predicted_s,
          false);
    }
  }
  return all;
}

std::string figures_text() {
  std::string text = "| run | | printed | predicted | error |\n|---|---|---|---|---|\n";
  for (const Figure& figure : figures()) {
    text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:+.1f} % |\n", figure.run, figure.what,
                        figure.printed, figure.predicted, 100 * figure.error());
  }
  return text;
}

TEST(OffloadedRuns, TakeTheMemoryAndTheTimeThatTheyTook) {
  ASSERT_EQ(figures().size(), 7U);
  for (const Figure& figure : figures()) {
    EXPECT_LT(std::abs(figure.error()), figure.memory ? 0.05 : 0.15)
        << figure.run << ", " << figure.what;
  }
}

TEST(OffloadedRuns, StandInTheDocument) {
  std::ifstream file("docs/accuracy/unseen_tables.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(document.find(figures_text()), std::string::npos) << figures_text();
}

}  // namespace
}  // namespace stepwright::simulate
