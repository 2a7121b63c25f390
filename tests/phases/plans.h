#pragma once

#include <string>

#include "stepwright/plan/files.h"

namespace stepwright::phases {

/// Returns a plan of Llama-3-8B on two nodes of H100. `choices`: lines of the plan; `objective`: a
/// mapping in its job, or empty; `batch`: the job's batch.
inline plan::PlannedJob plan_of(const std::string& choices, const std::string& objective = "",
                                const std::string& batch = "{sequences: 64, length: 4096}",
                                const std::string& job = "") {
  std::string text =
      "stepwright: plan/2\njob:\n  model: llama-3-8b\n"
      "  cluster: {profile: dgx-h100, nodes: 2}\n  batch: " +
      batch + "\n" + job;
  if (!objective.empty()) text += "  objective: " + objective + "\n";
  return plan::read_plan(YamlJsonDocument::parse(text + choices, "plan.yaml"), {});
}

}  // namespace stepwright::phases
