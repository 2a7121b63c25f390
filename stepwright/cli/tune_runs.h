#pragma once

#include <string>

#include "stepwright/answers/own_runs.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// The options of `stepwright tune` that take a person's own runs of the job.
class TuneRuns {
 public:
  void add_to(CLI::App& command);

  [[nodiscard]] bool asked() const { return !request_.runs.empty(); }

  /// Request about the job of a file.
  [[nodiscard]] answers::OwnRunsRequest request(const std::string& job_file) const;

 private:
  answers::OwnRunsRequest request_;
};

/// The answer for people.
std::string runs_answer_text(const learn::ClosedLoop& loop);

}  // namespace stepwright::cli
