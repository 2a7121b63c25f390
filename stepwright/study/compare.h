#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::study {

/// The choice of one way to choose a plan, on the same cost model as all others.
struct Choice {
  std::string by;
  std::optional<plan::Plan> plan;  ///< The chosen plan; nullopt when it found none that fits.
  double step_time_s = 0;          ///< Simulated step time of the plan.
  std::int64_t evaluated = 0;      ///< Plans priced (and stages profiled) on the way.
  double seconds = 0;              ///< Seconds by the clock on the wall.
};

/// The plans that `tune` (first), the rule of thumb of Megatron-LM's papers and a search in the
/// manner of Alpa choose for a job.
struct SearchComparison {
  plan::Job job;
  std::vector<Choice> choices;
};
SearchComparison compare_searches(const plan::Job& job);

/// The answer of `stepwright study search --json` (docs/formats.md, "Study").
nlohmann::ordered_json comparison_json(const SearchComparison& comparison);

}  // namespace stepwright::study
