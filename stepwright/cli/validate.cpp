#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "stepwright/cli/command.h"
#include "stepwright/cli/file_option.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/report_file.h"
#include "stepwright/cli/validation_text.h"
#include "stepwright/core/error.h"

namespace stepwright::cli {
namespace {

class Validate : public Subcommand {
 public:
  explicit Validate(CLI::App& program)
      : Subcommand(
            program, "validate",
            "Predict published measurements and show the errors of the predictions",
            "  stepwright validate data/training_runs.csv --tier A\n"
            "  stepwright validate data/memory.csv --json\n"
            "  stepwright validate data/operators/gh200_120g.csv --profile gh200_120g_vista") {
    reads(app().add_option("FILE", file_, "Table of measurements (CSV with a header)"))->required();
    app().add_option(
        "--profile", options_.profile,
        "Machine of every row: the name of a cluster,\na device or a fit, or the file of one");
    reads(app().add_option(
        "--conditions", options_.conditions,
        "Of runs: conditions of training instead of the built-in ones (docs/accuracy.md)"));
    app().add_option("--tier", options_.tier,
                     "For a table with tiers: use only rows of these tiers: A, AB, ...");
  }

  void run_subcommand(const Console& console) override {
    options_.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const validate::Validation validation =
        validate::compare_predictions_to_measurements(load_csv(file_), options_);
    if (validation.used == 0) fail_input(no_usable_rows_text(file_, validation));
    if (report_.wanted()) write_report(validation, console);
    if (wants_json_output()) {
      print_json(console.out, validate::validation_json(validation));
    } else {
      console.out << prediction_validation_text(validation);
    }
  }

 private:
  /// Writes a report with at most `kMostResults` rows, evenly spread over the file.
  void write_report(const validate::Validation& validation, const Console& console) const {
    nlohmann::ordered_json answer = validate::validation_json(validation);
    const std::size_t all = answer["results"].size();
    const std::size_t every = (all + kMostResults - 1) / kMostResults;
    if (every > 1) {
      auto some = nlohmann::ordered_json::array();
      for (std::size_t i = 0; i < all; i += every) some.push_back(answer["results"][i]);
      answer["results"] = std::move(some);
    }
    report_.write_report_page(console, fmt::format("Predictions of {}", file_), answer,
                              {{"results", all}});
  }

  static constexpr std::size_t kMostResults = 5000;

  std::string file_;
  validate::ValidationOptions options_;
  ReportFileOption report_{app()};
};

}  // namespace

std::unique_ptr<Subcommand> validate_command(CLI::App& program) {
  return std::make_unique<Validate>(program);
}

}  // namespace stepwright::cli
