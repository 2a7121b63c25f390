#include "stepwright/diagnose/evidence.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepwright::diagnose {

std::string DiagnosedProcessGroup::text() const {
  return purpose.empty() ? fmt::format("group {}", name)
                         : fmt::format("group {} ({})", name, purpose);
}

std::int32_t JobFailureEvidence::find_or_add_process_group(const DiagnosedProcessGroup& group) {
  const auto found = std::ranges::find_if(groups, [&](const DiagnosedProcessGroup& known) {
    return known.name == group.name &&
           (known.ranks == group.ranks || known.ranks.empty() || group.ranks.empty());
  });
  if (found == groups.end()) {
    groups.push_back(group);
    return static_cast<std::int32_t>(std::ssize(groups) - 1);
  }
  if (found->ranks.empty()) found->ranks = group.ranks;
  if (found->purpose.empty()) found->purpose = group.purpose;
  return static_cast<std::int32_t>(found - groups.begin());
}

std::string rank_ranges_text(std::vector<std::int64_t> ranks) {
  std::ranges::sort(ranks);
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] <= ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += ranks[last] == ranks[first]       ? fmt::format("{}", ranks[first])
            : ranks[last] == ranks[first] + 1 ? fmt::format("{}, {}", ranks[first], ranks[last])
                                              : fmt::format("{}-{}", ranks[first], ranks[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace stepwright::diagnose
