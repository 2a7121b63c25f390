#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <set>

#include "stepwright/plan/files.h"
#include "stepwright/plan/grid.h"

/// Prints the process groups of a plan file as JSON: kind -> lists of ranks.
int main(int count, char** arguments) {
  using namespace stepwright;
  if (count != 2) return 2;
  const plan::RankGrid grid(plan::load_plan(arguments[1]).plan);
  std::string text;
  for (const auto& [kind, name] : plan::kGroupNames) {
    if (kind == plan::CommunicatorKind::kNone || kind == plan::CommunicatorKind::kEmbedding)
      continue;
    std::set<std::vector<std::int64_t>> groups;
    for (std::int64_t rank = 0; rank < grid.ranks(); ++rank) {
      groups.insert(grid.group_ranks_containing(kind, rank));
    }
    text += fmt::format("{}\"{}\": [{}]", text.empty() ? "" : ", ", name, fmt::join(groups, ", "));
  }
  fmt::print("{{{}}}\n", text);
  return 0;
}
