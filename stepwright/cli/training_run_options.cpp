#include "stepwright/cli/training_run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/plan/files/run_keys.h"

namespace stepwright::cli {
namespace {

constexpr double kMostPrice = 1e9;

double number_in(const char* option, const std::string& word, double low, double high) {
  const std::optional<double> number = read_double(word);
  if (number && *number >= low && *number <= high) return *number;
  fail_input(fmt::format("{}: must be a number from {} to {}; it is '{}'", option, low, high,
                         printable(word)));
}

}  // namespace

TrainingRunOptions::TrainingRunOptions(CLI::App& app) {
  CLI::Option* tokens =
      app.add_option("--tokens", tokens_,
                     "Tokens to train on, as 15e12 or 15T: say days and GPU-hours of the whole\n"
                     "run, not of 1e12")
          ->type_name("N");
  app.add_option("--price-per-gpu-hour", price_,
                 "Also say what the run costs, in the same currency; idle GPUs are paid")
      ->type_name("X")
      ->needs(tokens);
}

std::optional<tune::TrainingRun> TrainingRunOptions::run() const {
  if (tokens_.empty()) return std::nullopt;
  const plan::RunKey& key = *std::ranges::find(plan::kRunKeys, "tokens", &plan::RunKey::key);
  const Document tokens = Document::from(Tree::scalar(tokens_, false), "--tokens");
  tune::TrainingRun run{.tokens = plan::read_run_number(tokens.root(), key),
                        .price_per_gpu_hour = std::nullopt};
  if (!price_.empty()) {
    run.price_per_gpu_hour = number_in("--price-per-gpu-hour", price_, 0, kMostPrice);
  }
  return run;
}

}  // namespace stepwright::cli
