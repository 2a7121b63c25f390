#include "stepwright/collective/algorithm.h"

#include "stepwright/collective/definition.h"

namespace stepwright::collective {

bool supports_collective(CollectiveAlgorithm algorithm, CollectiveOperation collective) {
  return definition_of(algorithm).covers.has(collective);
}

bool algorithm_suits_group(CollectiveAlgorithm algorithm, const GroupNodeLayout& form) {
  if (algorithm == CollectiveAlgorithm::kLibrary) return true;
  const CollectiveAlgorithmDefinition& it = definition_of(algorithm);
  if (form.ranks < 2 || (it.lies != nullptr && !it.lies(form))) return false;
  if (it.exists == nullptr) return true;
  return form.has_equal_ranks_per_node() ? it.exists(form.members, form.nodes)
                                         : it.exists(form.ranks, 1);
}

std::string_view algorithm_group_requirement_text(CollectiveAlgorithm algorithm) {
  return definition_of(algorithm).group_requirement_text;
}

CollectiveAlgorithm effective_collective_algorithm(CollectiveAlgorithm algorithm,
                                                   CollectiveOperation collective,
                                                   const GroupNodeLayout& form) {
  return supports_collective(algorithm, collective) && algorithm_suits_group(algorithm, form)
             ? algorithm
             : CollectiveAlgorithm::kLibrary;
}

bool library_supports_algorithm(CollectiveAlgorithm algorithm, CollectiveOperation collective) {
  return definition_of(algorithm).in_library.has(collective);
}

bool own_process_group_supports_algorithm(CollectiveAlgorithm algorithm,
                                          CollectiveOperation collective) {
  return definition_of(algorithm).is_run_by_own_process_group &&
         supports_collective(algorithm, collective);
}

bool algorithm_has_generated_schedule(CollectiveAlgorithm algorithm) {
  return definition_of(algorithm).rank != nullptr;
}

std::string_view collective_algorithm_description(CollectiveAlgorithm algorithm) {
  return definition_of(algorithm).text;
}

}  // namespace stepwright::collective
