#pragma once

#include <string>

#include "stepwright/answers/own_runs.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// The options of `stepwright tune` that name tables of the user's own measured runs.
class TuneRuns {
 public:
  void add_to(CLI::App& command);

  [[nodiscard]] bool asked() const { return !request_.runs.empty(); }

  /// Returns the request for the job in a file.
  [[nodiscard]] answers::MeasuredRunsRequest request(const std::string& job_file) const;

 private:
  answers::MeasuredRunsRequest request_;
};

/// Returns the answer of `tune --runs` as text for people.
std::string measured_runs_text(const learn::MeasuredRunsVerdict& loop);

}  // namespace stepwright::cli
