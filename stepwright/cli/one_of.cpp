#include "stepwright/cli/one_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cli {

namespace {

std::string fault(const std::string& given, const std::vector<std::string>& words) {
  if (std::ranges::find(words, given) != words.end()) return "";
  const std::vector<std::string_view> known(words.begin(), words.end());
  return fmt::format("must be one of {}; it is '{}'{}", list_of(known), printable(given),
                     hint_of(given, known));
}

class OneOf : public CLI::Validator {
 public:
  explicit OneOf(std::function<std::vector<std::string>()> words) {
    desc_function_ = [words] { return fmt::format("{{{}}}", fmt::join(words(), ",")); };
    func_ = [words = std::move(words)](const std::string& given) { return fault(given, words()); };
  }
};

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  return one_of([words = std::move(words)] { return words; });
}

CLI::Validator one_of(std::function<std::vector<std::string>()> words) {
  return OneOf(std::move(words));
}

}  // namespace stepwright::cli
