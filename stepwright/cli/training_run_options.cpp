#include "stepwright/cli/training_run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

constexpr double kMostTokens = 1e18;
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
      app.add_option(
             "--tokens", tokens_,
             "Tokens to train on, as 15e12: say days and GPU-hours of the whole run, not of\n"
             "1e12")
          ->type_name("N");
  app.add_option("--price-per-gpu-hour", price_,
                 "Also say what the run costs, in the same currency; idle GPUs are paid")
      ->type_name("X")
      ->needs(tokens);
}

std::optional<TrainingRun> TrainingRunOptions::run() const {
  if (tokens_.empty()) return std::nullopt;
  TrainingRun run{.tokens = number_in("--tokens", tokens_, 1, kMostTokens),
                  .price_per_gpu_hour = std::nullopt};
  if (!price_.empty()) {
    run.price_per_gpu_hour = number_in("--price-per-gpu-hour", price_, 0, kMostPrice);
  }
  return run;
}

}  // namespace stepwright
