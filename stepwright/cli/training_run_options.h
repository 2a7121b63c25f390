#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/training_run.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// The options `--tokens` and `--price-per-gpu-hour`, which describe a whole training run.
class TrainingRunOptions {
 public:
  explicit TrainingRunOptions(CLI::App& app);

  /// Returns the tokens and price of the whole training run; nullopt: `--tokens` was not given.
  /// Fails with `kInput`, naming the option.
  [[nodiscard]] std::optional<tune::TrainingLengthAndPrice> training_length_and_price() const;

 private:
  std::string tokens_;
  std::string price_;
};

}  // namespace stepwright::cli
