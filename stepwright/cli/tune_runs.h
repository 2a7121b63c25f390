#pragma once

#include <string>

#include "stepwright/answers/own_runs.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// Options of `stepwright tune` that name tables of the user's own measured training runs.
class MeasuredRunsOptions {
 public:
  void add_options_to_command(CLI::App& command);

  [[nodiscard]] bool asked() const { return !request_.runs.empty(); }

  /// Returns what `stepwright tune --runs` is asked to do with the user's measured runs, for the
  /// job in a file.
  [[nodiscard]] answers::MeasuredRunsRequest measured_runs_request(
      const std::string& job_file) const;

 private:
  answers::MeasuredRunsRequest request_;
};

/// Returns the answer of `stepwright tune --runs` as text for people.
std::string measured_runs_text(const learn::MeasuredRunsVerdict& loop);

}  // namespace stepwright::cli
