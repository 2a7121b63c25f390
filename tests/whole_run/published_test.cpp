#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "stepwright/core/csv.h"
#include "stepwright/core/scalar.h"
#include "stepwright/whole_run/run_process.h"

namespace stepwright::whole_run {
namespace {

/// A published share of useful time, and the known facts of its run.
struct PublishedRun {
  std::string id;
  double useful = 0;
  std::string bound;  ///< Meaning of `useful`: least (lower bound), most (upper bound) or value.
  /// True if failures, restarts and checkpoints are known or assumed, so that a prediction can be
  /// judged.
  bool judged = false;
  bool restart_assumed = false;  ///< True if the restart is assumed: 10 minutes, between 5 and 20.
  std::optional<double> failures_per_s, restart_s, checkpoint_s, interval_s;
};

std::vector<PublishedRun> published_runs() {
  const CsvTable table = load_csv("data/whole_runs.csv");
  std::vector<PublishedRun> runs;
  for (const CsvRow& row : table.rows) {
    const auto text = [&](const char* column) { return row.cells[*table.column(column)]; };
    const auto number = [&](const char* column) { return read_double(text(column)); };
    PublishedRun run{.id = text("id"),
                     .useful = *number("useful"),
                     .bound = text("useful_bound"),
                     .judged = text("judged") == "yes",
                     .restart_assumed = text("restart_is") == "assumed",
                     .restart_s = number("restart_s"),
                     .checkpoint_s = number("checkpoint_s"),
                     .interval_s = number("interval_s")};
    if (number("failures")) run.failures_per_s = *number("failures") / *number("hours") / 3600;
    runs.push_back(run);
  }
  return runs;
}

/// Returns the useful share by the closed form; nullopt: restarts or failures are not known.
std::optional<double> predicted(const PublishedRun& run) {
  if (!run.failures_per_s || !run.restart_s) return std::nullopt;
  TrainingRunParameters process{.steps = 100'000'000,
                                .step_s = 1,
                                .failures_per_s = *run.failures_per_s,
                                .restart_s = *run.restart_s,
                                .copy_s = *run.checkpoint_s};
  process.checkpoint_every =
      run.interval_s ? std::llround(*run.interval_s) : best_checkpoint_interval_steps(process);
  return static_cast<double>(process.steps) / mean_whole_run_time(process).wall_s;
}

/// Returns the prediction for restarts of 20 and of 5 minutes: "87.8 to 95.1 %".
std::string predicted_range(PublishedRun run) {
  run.restart_s = 1200;
  const double low = *predicted(run) * 100;
  run.restart_s = 300;
  return fmt::format("{:.1f} to {:.1f} %", low, *predicted(run) * 100);
}

/// Returns the minutes of restart that would explain the share if nothing else was lost.
std::optional<double> explaining_minutes(const PublishedRun& run) {
  if (!run.failures_per_s) return std::nullopt;
  return -std::log(run.useful) / *run.failures_per_s / 60;
}

TEST(PublishedRuns, AreAsUsefulAsPredicted) {
  int judged = 0;
  double error = 0;
  for (const PublishedRun& run : published_runs()) {
    const std::optional<double> share = predicted(run);
    if (!run.judged) continue;
    ASSERT_TRUE(share) << run.id;
    ++judged;
    if (run.bound == "least") {
      EXPECT_GT(*share, run.useful) << run.id;
      EXPECT_LT(*share, run.useful + 0.05) << run.id;
    } else {
      EXPECT_NEAR(*share, run.useful, 0.05) << run.id;
      error += std::abs(*share - run.useful);
    }
  }
  EXPECT_EQ(judged, 4);
  EXPECT_LT(error / 2, 0.03);
}

TEST(PublishedRuns, StayBelowWhatRestartsAloneLeave) {
  for (const PublishedRun& run : published_runs()) {
    if (run.bound != "most") continue;
    EXPECT_GT(*predicted(run), run.useful) << run.id;
    EXPECT_LT(*predicted(run), run.useful + 0.15) << run.id;
  }
}

/// Returns the table of docs/whole_runs.md.
std::string table_of_document() {
  std::string text =
      "| run | failure every | restart | predicted | published | a restart of this alone would "
      "explain it |\n|---|---|---|---|---|---|\n";
  for (const PublishedRun& run : published_runs()) {
    const std::optional<double> share = predicted(run);
    const std::optional<double> minutes = explaining_minutes(run);
    const std::string bound = run.bound == "least" ? "above " : "";
    text += fmt::format(
        "| {} | {} | {} | {} | {}{:.1f} % | {} |\n", run.id,
        run.failures_per_s ? fmt::format("{:.2f} h", 1 / *run.failures_per_s / 3600) : "not said",
        run.restart_assumed ? "not said: 10 min"
        : run.restart_s     ? fmt::format("{:.0f} min", *run.restart_s / 60)
                            : "not said",
        share ? fmt::format("{}{:.1f} %{}", run.bound == "most" ? "at most " : "", *share * 100,
                            run.restart_assumed ? fmt::format(" ({})", predicted_range(run)) : "")
              : "-",
        bound, run.useful * 100, minutes ? fmt::format("{:.1f} min", *minutes) : "-");
  }
  return text;
}

TEST(PublishedRuns, StandInTheDocumentAsTheyAre) {
  const std::string table = table_of_document();
  std::ifstream file("docs/whole_runs.md");
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(document.find(table), std::string::npos) << table;
}

}  // namespace
}  // namespace stepwright::whole_run
