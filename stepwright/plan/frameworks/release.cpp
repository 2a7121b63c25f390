#include "stepwright/plan/frameworks/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::plan {

std::vector<int> numbers_in_release_name(std::string_view release) {
  constexpr std::string_view kDigits = "0123456789";
  std::vector<int> numbers;
  std::size_t at = release.find_first_of(kDigits);
  while (at < release.size() && kDigits.find(release[at]) != std::string_view::npos) {
    const std::size_t end = std::min(release.find_first_not_of(kDigits, at), release.size());
    int number = 0;
    std::from_chars(release.data() + at, release.data() + end, number);
    numbers.push_back(number);
    if (end + 1 >= release.size() || release[end] != '.') break;
    at = end + 1;
  }
  return numbers;
}

std::string invalid_release_reason(std::string_view release) {
  static constexpr std::string_view kNewest[] = {"main", "master", "dev", "nightly", "latest"};
  if (!numbers_in_release_name(release).empty()) return "";
  if (std::ranges::find(kNewest, release) != std::end(kNewest)) return "";
  return fmt::format("must be a release, as 0.12 or core_v0.12.1, or one of {}; it is '{}'",
                     join_with_commas(kNewest), one_line_printable_text(release));
}

bool is_earlier_release(std::string_view release, std::string_view other) {
  const std::vector<int> numbers = numbers_in_release_name(release);
  return !numbers.empty() && numbers < numbers_in_release_name(other);
}

bool range_covers_release(const ReleaseRange& releases, std::string_view release) {
  if (!releases.from.empty() && is_earlier_release(release, releases.from)) return false;
  return releases.before.empty() || is_earlier_release(release, releases.before);
}

}  // namespace stepwright::plan
