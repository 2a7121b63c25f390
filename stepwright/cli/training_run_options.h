#pragma once

#include <optional>
#include <string>

#include "stepwright/tune/training_run.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// Options `--tokens` and `--price-per-gpu-hour`.
class TrainingRunOptions {
 public:
  explicit TrainingRunOptions(CLI::App& app);

  /// The training run, which is nothing without `--tokens`. Fails with `kInput`, naming the option.
  [[nodiscard]] std::optional<tune::TrainingRun> run() const;

 private:
  std::string tokens_;
  std::string price_;
};

}  // namespace stepwright::cli
