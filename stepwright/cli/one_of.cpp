#include "stepwright/cli/one_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright {

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto fault = [words](const std::string& given) -> std::string {
    if (std::ranges::find(words, given) != words.end()) return "";
    const std::vector<std::string_view> known(words.begin(), words.end());
    return fmt::format("must be one of {}; it is '{}'{}", list_of(known), printable(given),
                       hint_of(given, known));
  };
  return {[fault](std::string& given) { return fault(given); },
          fmt::format("{{{}}}", fmt::join(words, ","))};
}

}  // namespace stepwright
