#pragma once

#include <cstdint>
#include <string>

#include "stepwright/learn/closed_loop.h"

namespace CLI {
class App;
}

namespace stepwright::cli {

/// The options of `stepwright tune` that take a person's own runs of the job.
class TuneRuns {
 public:
  void add_to(CLI::App& command);

  [[nodiscard]] bool asked() const { return !runs_.empty(); }

  /// Reads the tables and answers. Fails with `kInput` when a table cannot be read.
  [[nodiscard]] learn::ClosedLoop answer(const plan::Job& job,
                                         const tune::TuneOptions& options) const;

 private:
  std::string runs_;
  std::string candidates_;
  std::int64_t next_ = 1;
};

/// The answer for people.
std::string runs_answer_text(const learn::ClosedLoop& loop);

}  // namespace stepwright::cli
