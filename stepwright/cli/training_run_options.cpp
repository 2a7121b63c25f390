#include "stepwright/cli/training_run_options.h"

#include <CLI/CLI.hpp>

#include "stepwright/answers/training_run.h"

namespace stepwright::cli {
TrainingRunOptions::TrainingRunOptions(CLI::App& app) {
  CLI::Option* tokens = app.add_option("--tokens", tokens_,
                                       "Tokens to train on, as 15e12 or 15T: predict days and "
                                       "GPU-hours of the whole\nrun, not of 1e12 tokens")
                            ->type_name("N");
  app.add_option("--price-per-gpu-hour", price_,
                 "Price of a GPU-hour: also predict the cost of the run; idle GPUs are paid")
      ->type_name("X")
      ->needs(tokens);
}

std::optional<tune::TrainingLengthAndPrice> TrainingRunOptions::training_length_and_price() const {
  return answers::read_run_tokens_and_device_price(tokens_, price_);
}

}  // namespace stepwright::cli
