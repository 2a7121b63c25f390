#include "stepwright/tune/empty_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"

namespace stepwright {
namespace {

/// A dimension of the space that the job may list.
struct Listed {
  const char* name;
  bool (*fixed)(const Space& space);
  void (*free)(Space& space);
};

template <auto kMember>
constexpr Listed listed(const char* name) {
  return {name, [](const Space& space) { return !(space.*kMember).empty(); },
          [](Space& space) { (space.*kMember).clear(); }};
}

constexpr Listed kListed[] = {listed<&Space::tensor>("tensor"),
                              listed<&Space::pipeline>("pipeline"),
                              listed<&Space::context>("context"),
                              listed<&Space::expert>("expert"),
                              listed<&Space::expert_tensor>("expert_tensor"),
                              listed<&Space::data>("data"),
                              listed<&Space::micro_batch>("micro_batch"),
                              listed<&Space::schedule>("schedule"),
                              listed<&Space::chunks>("chunks"),
                              listed<&Space::layers>("layers"),
                              listed<&Space::sequence_parallel>("sequence_parallel"),
                              listed<&Space::context_kind>("context_kind"),
                              listed<&Space::sharding>("sharding"),
                              listed<&Space::sharding_group>("sharding_group"),
                              listed<&Space::expert_group>("expert_group"),
                              listed<&Space::rank_order>("rank_order"),
                              listed<&Space::accumulate>("accumulate")};

/// Which listed dimensions, each freed alone, would leave legal plans.
std::vector<std::string> culprits(const Job& job) {
  std::vector<std::string> names;
  for (const Listed& dimension : kListed) {
    if (!dimension.fixed(job.space)) continue;
    Job freed = job;
    dimension.free(freed.space);
    const Dimensions space = dimensions(freed);
    const Census census(freed, space);
    if (census.legal() == 0) continue;
    names.push_back(
        fmt::format("{} ({} legal plans)", dimension.name, format_count(census.legal())));
  }
  return names;
}

std::string advice(const Job& job) {
  const auto fixed = [&](const Listed& dimension) { return dimension.fixed(job.space); };
  if (!std::ranges::any_of(kListed, fixed)) return "no dimension is fixed: change the job";
  const std::vector<std::string> names = culprits(job);
  if (names.empty()) return "no dimension alone empties it: several lists contradict each other";
  return fmt::format("emptied by the list of: {}; free it", fmt::join(names, ", or "));
}

}  // namespace

void fail_empty(const Job& job, const Census& census) {
  const auto& counts = census.refused();
  const auto most = std::ranges::max_element(counts);
  const auto rule = static_cast<Rule>(most - counts.begin());
  std::string message = fmt::format("the search space is empty: none of its {} plans is legal; {}",
                                    format_count(census.total()), advice(job));
  const auto example = census.examples().find(rule);
  if (example != census.examples().end()) {
    const auto refused = illegal(job, example->second);
    message += fmt::format("; {} are refused by {}", format_count(*most),
                           refused ? refused->message : std::string(rule_name(rule)));
  }
  fail_input(message);
}

}  // namespace stepwright
