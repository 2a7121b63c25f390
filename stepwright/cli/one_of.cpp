#include "stepwright/cli/one_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "stepwright/answers/known_word.h"

namespace stepwright::cli {

namespace {

class OneOf : public CLI::Validator {
 public:
  explicit OneOf(std::function<std::vector<std::string>()> words) {
    desc_function_ = [words] { return fmt::format("{{{}}}", fmt::join(words(), ",")); };
    func_ = [words = std::move(words)](std::string& given) {
      const std::vector<std::string> known = words();
      const auto same = std::ranges::find_if(known, [&](const std::string& word) {
        return CLI::detail::to_lower(word) == CLI::detail::to_lower(given);
      });
      if (same != known.end()) given = *same;
      return answers::unknown_word_message(given, known);
    };
  }
};

}  // namespace

CLI::Validator one_of_words_validator(std::vector<std::string> words) {
  return one_of_words_validator([words = std::move(words)] { return words; });
}

CLI::Validator one_of_words_validator(std::function<std::vector<std::string>()> words) {
  return OneOf(std::move(words));
}

}  // namespace stepwright::cli
