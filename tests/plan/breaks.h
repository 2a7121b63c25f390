#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stepwright/plan/laws/legality.h"

namespace stepwright::plan {

/// Legal on the sixteen devices of the small jobs: tensor 2, context 2, data 2, pipeline 2.
Plan legal_plan();

/// A legal plan of the job with experts, expert 4.
Plan legal_expert_plan();

/// A way to break one rule, and what the refusal says after the name of the rule.
struct Break {
  Rule rule{};
  bool experts = false;
  std::function<void(Job&, Plan&)> change;
  std::string message;
};

/// Ways to break every rule, some in several.
std::vector<Break> all_breaks();

}  // namespace stepwright::plan
