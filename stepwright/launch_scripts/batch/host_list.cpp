#include "stepwright/launch_scripts/batch/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace stepwright::launch_scripts {
namespace {

constexpr std::size_t kMostHosts = 100'000;
constexpr std::ptrdiff_t kMostBrackets = 8;  ///< Most pairs of brackets in one host name.

std::vector<std::string> split_outside_brackets(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != '\n' && c != ' ') {
      parts.back() += c;
    }
  }
  std::erase(parts, "");
  return parts;
}

/// Expands "01-03,7" to 01, 02, 03, 7; a part that is not a range is kept.
std::vector<std::string> numbers_in(std::string_view ranges) {
  std::vector<std::string> found;
  for (const std::string& part : split_outside_brackets(ranges)) {
    const std::size_t dash = part.find('-');
    std::int64_t first = 0, last = -1;
    if (dash != std::string::npos) {
      std::from_chars(part.data(), part.data() + dash, first);
      std::from_chars(part.data() + dash + 1, part.data() + part.size(), last);
    }
    if (last < first) found.push_back(part);
    for (; first <= last && found.size() < kMostHosts; ++first) {
      found.push_back(fmt::format("{:0{}}", first, dash));
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> expand_slurm_host_list(std::string_view list) {
  std::vector<std::string> hosts;
  for (const std::string& part : split_outside_brackets(list)) {
    const std::size_t open = part.find('['), close = part.find(']');
    if (open == std::string::npos || close == std::string::npos || close < open ||
        std::ranges::count(part, '[') > kMostBrackets) {
      hosts.push_back(part);
      continue;
    }
    for (const std::string& number :
         numbers_in(std::string_view(part).substr(open + 1, close - open - 1))) {
      const std::string one = part.substr(0, open) + number + part.substr(close + 1);
      std::ranges::copy(expand_slurm_host_list(one), std::back_inserter(hosts));
      if (hosts.size() >= kMostHosts) return hosts;
    }
  }
  return hosts;
}

std::vector<std::string> placeholder_host_names(std::int64_t nodes) {
  std::vector<std::string> names;
  nodes = std::clamp<std::int64_t>(nodes, 1, kMostHosts);
  for (std::int64_t i = 1; i <= nodes; ++i) names.push_back(fmt::format("node{:03}", i));
  return names;
}

std::string placeholder_host_list(std::int64_t nodes) {
  return nodes <= 1 ? "node001" : fmt::format("node[001-{:03}]", nodes);
}

}  // namespace stepwright::launch_scripts
