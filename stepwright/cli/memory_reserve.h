#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "stepwright/plan/job.h"

namespace stepwright {

/// The option `--memory-reserve` of commands that say whether a plan fits.
class MemoryReserve {
 public:
  explicit MemoryReserve(CLI::App& command) {
    command
        .add_option("--memory-reserve", share_,
                    "Share of the device's memory that plans leave free: 0.06 where the job\n"
                    "says nothing")
        ->check(CLI::Range(0.0, 0.99))
        ->type_name("SHARE");
  }

  /// Puts what was given into a job.
  void apply(Job& job) const {
    if (share_) job.objective.memory_reserve = *share_;
  }

 private:
  std::optional<double> share_;
};

}  // namespace stepwright
