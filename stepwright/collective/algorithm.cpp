#include "stepwright/collective/algorithm.h"

#include "stepwright/collective/definition.h"

namespace stepwright::collective {

bool covers(Algorithm algorithm, Collective collective) {
  return definition_of(algorithm).covers.has(collective);
}

bool is_suited_to_group(Algorithm algorithm, const GroupNodeLayout& form) {
  if (algorithm == Algorithm::kLibrary) return true;
  const AlgorithmDefinition& it = definition_of(algorithm);
  if (form.ranks < 2 || (it.lies != nullptr && !it.lies(form))) return false;
  if (it.exists == nullptr) return true;
  return form.has_equal_ranks_per_node() ? it.exists(form.members, form.nodes)
                                         : it.exists(form.ranks, 1);
}

std::string_view group_requirement_text(Algorithm algorithm) {
  return definition_of(algorithm).group_requirement_text;
}

Algorithm algorithm_in_effect(Algorithm algorithm, Collective collective,
                              const GroupNodeLayout& form) {
  return covers(algorithm, collective) && is_suited_to_group(algorithm, form) ? algorithm
                                                                              : Algorithm::kLibrary;
}

bool in_library(Algorithm algorithm, Collective collective) {
  return definition_of(algorithm).in_library.has(collective);
}

bool is_run_by_own_process_group(Algorithm algorithm, Collective collective) {
  return definition_of(algorithm).is_run_by_own_process_group && covers(algorithm, collective);
}

bool has_generated_schedule(Algorithm algorithm) {
  return definition_of(algorithm).rank != nullptr;
}

std::string_view described(Algorithm algorithm) { return definition_of(algorithm).text; }

}  // namespace stepwright::collective
