#include "stepwright/launch_scripts/batch/option_words.h"

#include <algorithm>

namespace stepwright::launch_scripts {
namespace {

/// Reads the options of a command from left to right.
class OptionReader {
 public:
  OptionReader(std::span<const std::string> words, std::size_t start,
               const CommandOptionRules& rules)
      : words_(words), at_(start), rules_(rules) {}

  SplitCommandOptions read() {
    while (at_ < words_.size()) {
      const std::string& word = words_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (word.size() < 2 || word.front() != '-') break;
      ++at_;
      if (word.starts_with("--") || rules_.long_with_one_dash) {
        whole_word(word);
      } else {
        letters(word);
      }
    }
    split_.rest = std::min(at_, words_.size());
    return std::move(split_);
  }

 private:
  std::optional<std::string> next() {
    if (at_ >= words_.size()) return std::nullopt;
    return words_[at_++];
  }

  [[nodiscard]] bool is_flag(std::string_view name) const {
    return word_list_contains(rules_.flags, name) || word_list_contains(rules_.more_flags, name);
  }

  void whole_word(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      split_.options.push_back({word.substr(0, equals), word.substr(equals + 1), ""});
    } else if (is_flag(word)) {
      split_.options.push_back({word, std::nullopt, ""});
    } else {
      GivenCommandOption option{word, next(), ""};
      if (word_list_contains(rules_.pairs, word)) option.second = next().value_or("");
      split_.options.push_back(std::move(option));
    }
  }

  /// Reads a group of one-letter options, "-lN4": flags, and at most one option with a value.
  void letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name = {'-', word[i]};
      if (is_flag(name)) {
        split_.options.push_back({name, std::nullopt, ""});
        continue;
      }
      std::string rest = word.substr(i + 1);
      if (rest.starts_with('=')) rest.erase(0, 1);
      split_.options.push_back({name, rest.empty() ? next() : rest, ""});
      return;
    }
  }

  std::span<const std::string> words_;
  std::size_t at_;
  const CommandOptionRules& rules_;
  SplitCommandOptions split_;
};

}  // namespace

SplitCommandOptions split_command_options(std::span<const std::string> words, std::size_t start,
                                          const CommandOptionRules& rules) {
  return OptionReader(words, start, rules).read();
}

std::optional<std::string> last_option_value(std::span<const GivenCommandOption> options,
                                             std::string_view names) {
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    if (word_list_contains(names, option->name)) return option->value.value_or("");
  }
  return std::nullopt;
}

bool word_list_contains(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != std::string_view::npos;
       at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

}  // namespace stepwright::launch_scripts
