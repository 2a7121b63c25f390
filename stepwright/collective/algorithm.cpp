#include "stepwright/collective/algorithm.h"

#include "stepwright/cluster/adding_switches.h"
#include "stepwright/collective/generators.h"

namespace stepwright {
namespace {

bool on_two_levels(const GroupForm& form) {
  return form.members > 1 && form.nodes > 1 && form.even();
}

}  // namespace

bool covers(Algorithm algorithm, Collective collective) {
  if (algorithm == Algorithm::kLibrary) return true;
  if (algorithm == Algorithm::kNvls) return collective == Collective::kAllReduce;
  return generator_of(algorithm).covers(collective);
}

bool suits(Algorithm algorithm, const GroupForm& form) {
  if (algorithm == Algorithm::kLibrary) return true;
  if (form.ranks < 2) return false;
  if (algorithm == Algorithm::kNvls) return form.inside_adds && form.members >= kAddingRanks;
  if (algorithm == Algorithm::kTree) return form.nodes > 1;
  const Generator& generator = generator_of(algorithm);
  if (generator.on_two_levels && !on_two_levels(form)) return false;
  if (generator.exists == nullptr) return true;
  return form.even() ? generator.exists(form.members, form.nodes) : generator.exists(form.ranks, 1);
}

std::string_view needs(Algorithm algorithm) {
  if (algorithm == Algorithm::kLibrary) return {};
  if (algorithm == Algorithm::kNvls) return "switches that add and at least 8 ranks on a node";
  if (algorithm == Algorithm::kTree) return "several nodes";
  const Generator& generator = generator_of(algorithm);
  if (!generator.needs.empty()) return generator.needs;
  return generator.on_two_levels ? "several ranks on each of several nodes, as many on each" : "";
}

Algorithm settled(Algorithm algorithm, Collective collective, const GroupForm& form) {
  return covers(algorithm, collective) && suits(algorithm, form) ? algorithm : Algorithm::kLibrary;
}

bool in_library(Algorithm algorithm, Collective collective) {
  const bool reduces = collective == Collective::kAllReduce;
  switch (algorithm) {
    case Algorithm::kLibrary: return true;
    case Algorithm::kRing:
      return reduces || collective == Collective::kAllGather ||
             collective == Collective::kReduceScatter;
    case Algorithm::kTree:
    case Algorithm::kNvls: return reduces;
    case Algorithm::kDirect: return collective == Collective::kAllToAll;
    default: return false;
  }
}

bool in_process_group(Algorithm algorithm, Collective collective) {
  if (algorithm == Algorithm::kLibrary) return true;
  const Generator* generator = find_generator(algorithm);
  return generator != nullptr && generator->in_process_group && generator->covers(collective);
}

std::string_view described(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kLibrary: return "what the machine's library would choose at that size";
    case Algorithm::kNvls: return "reductions in the NVSwitch";
    default: return generator_of(algorithm).text;
  }
}

}  // namespace stepwright
