#include "stepwright/collective/algorithm.h"

#include "stepwright/collective/definition.h"

namespace stepwright::collective {

bool covers(Algorithm algorithm, Collective collective) {
  return definition_of(algorithm).covers.has(collective);
}

bool suits(Algorithm algorithm, const GroupNodeLayout& form) {
  if (algorithm == Algorithm::kLibrary) return true;
  const AlgorithmDefinition& it = definition_of(algorithm);
  if (form.ranks < 2 || (it.lies != nullptr && !it.lies(form))) return false;
  if (it.exists == nullptr) return true;
  return form.even() ? it.exists(form.members, form.nodes) : it.exists(form.ranks, 1);
}

std::string_view needs(Algorithm algorithm) { return definition_of(algorithm).needs; }

Algorithm settled(Algorithm algorithm, Collective collective, const GroupNodeLayout& form) {
  return covers(algorithm, collective) && suits(algorithm, form) ? algorithm : Algorithm::kLibrary;
}

bool in_library(Algorithm algorithm, Collective collective) {
  return definition_of(algorithm).in_library.has(collective);
}

bool in_process_group(Algorithm algorithm, Collective collective) {
  return definition_of(algorithm).in_process_group && covers(algorithm, collective);
}

bool is_generated(Algorithm algorithm) { return definition_of(algorithm).rank != nullptr; }

std::string_view described(Algorithm algorithm) { return definition_of(algorithm).text; }

}  // namespace stepwright::collective
