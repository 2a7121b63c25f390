#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::study {

/// The plan that one search method chooses; all methods use the same cost model.
struct Choice {
  std::string by;
  /// The chosen plan; nullopt: the method found no plan that fits.
  std::optional<plan::Plan> plan;
  double step_time_s = 0;  ///< Simulated step time of the chosen plan, in seconds.
  /// Number of plans priced, or of stages profiled, during the search.
  std::int64_t evaluated = 0;
  double seconds = 0;  ///< Wall-clock seconds of the search.
};

/// The plans that three methods choose for a job: `tune` (first), the rule of thumb of
/// Megatron-LM's papers, and a search like Alpa's.
struct SearchComparison {
  plan::Job job;
  std::vector<Choice> choices;
};
SearchComparison compare_searches(const plan::Job& job);

/// Returns the answer of `stepwright study search --json` (docs/formats.md, "Study").
nlohmann::ordered_json search_comparison_json(const SearchComparison& comparison);

}  // namespace stepwright::study
