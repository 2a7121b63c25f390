#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stepwright/plan/laws/legality.h"

namespace stepwright::plan {

/// Returns a legal plan for the sixteen devices of the small jobs: tensor 2, context 2, data 2,
/// pipeline 2.
Plan legal_plan();

/// Returns a legal plan for the job with experts, with expert parallelism of 4.
Plan legal_expert_plan();

/// A change that breaks one rule, and the refusal's text after the name of the rule.
struct Break {
  PlanLegalityRule rule{};
  bool experts = false;
  std::function<void(Job&, Plan&)> change;
  std::string message;
};

/// Returns changes that break every rule, some rules in several ways.
std::vector<Break> all_breaks();

}  // namespace stepwright::plan
