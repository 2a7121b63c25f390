#include "stepwright/cli/tool_words.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "stepwright/cli/file_option.h"
#include "stepwright/core/error.h"
#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Options that only people at a terminal need.
constexpr const char* kForPeople[] = {"help", "json", "verbose"};
/// The largest power of ten up to which every whole number is exact in a double.
constexpr double kWholeDoubles = 1e15;

bool is_named(const CLI::Option& option) { return !option.get_lnames().empty(); }

std::string number_word(const Json& value) {
  if (!value.is_number_float()) return value.dump();
  const double number = value.get<double>();
  const bool whole = std::trunc(number) == number && std::abs(number) < kWholeDoubles;
  return whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
}

/// Builds the command line for one call of a tool.
class Words {
 public:
  void add(CLI::Option& option, const Json& value) {
    const std::string key = agent_tool_argument_name(option);
    if (value.is_null()) return;
    if (is_flag_option(option)) return add_flag(option, key, value);
    if (!value.is_array()) return add_word(option, word_of(option, key, value));
    if (!takes_several_values(option))
      fail_input(fmt::format("{}: must be one value, not a list", key));
    for (const Json& each : value) add_word(option, word_of(option, key, each));
  }

  AgentToolCommandLine made() && {
    words_.words.emplace_back("--");
    std::ranges::move(unnamed_, std::back_inserter(words_.words));
    return std::move(words_);
  }

 private:
  void add_flag(const CLI::Option& option, const std::string& key, const Json& value) {
    if (!value.is_boolean()) fail_input(fmt::format("{}: must be true or false", key));
    if (value.get<bool>()) words_.words.push_back("--" + option.get_lnames().front());
  }

  /// An option and its value are one word (`--name=value`), so that a value is never taken for an
  /// option.
  void add_word(const CLI::Option& option, std::string word) {
    if (!is_named(option)) {
      unnamed_.push_back(std::move(word));
    } else {
      words_.words.push_back(fmt::format("--{}={}", option.get_lnames().front(), word));
    }
  }

  std::string word_of(CLI::Option& option, const std::string& key, const Json& value) {
    if (value.is_number()) return number_word(value);
    if (value.is_boolean()) return value.dump();
    if (value.is_object() && is_document_option(option)) return document(key, value);
    if (!value.is_string()) {
      fail_input(fmt::format("{}: must be a text or a number{}", key,
                             is_document_option(option) ? ", or the document as a mapping" : ""));
    }
    std::string word = value.get<std::string>();
    if (word.find('\0') != std::string::npos) fail_input(fmt::format("{}: holds a NUL", key));
    return word;
  }

  std::string document(const std::string& key, const Json& value) {
    const std::size_t number = words_.texts.size();
    std::string name = number == 0 ? fmt::format("<{}>", key) : fmt::format("<{} {}>", key, number);
    words_.texts.push_back({.name = name,
                            .text = value.dump(-1, ' ', false, Json::error_handler_t::replace),
                            .folder = std::filesystem::current_path()});
    return name;
  }

  AgentToolCommandLine words_;
  std::vector<std::string> unnamed_;
};

}  // namespace

std::string agent_tool_argument_name(const CLI::Option& option) {
  std::string key = is_named(option) ? option.get_lnames().front() : option.get_name();
  std::ranges::transform(key, key.begin(), [](char c) { return c == '-' ? '_' : c; });
  key = CLI::detail::to_lower(key);
  const bool plural = !is_named(option) && takes_several_values(option) && !key.ends_with('s');
  return plural ? key + "s" : key;
}

bool takes_several_values(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 ||
         option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

bool is_flag_option(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::vector<CLI::Option*> agent_tool_options(CLI::App& command,
                                             const std::vector<std::string>& excluded) {
  return command.get_options([&](const CLI::Option* option) {
    const std::string name = is_named(*option) ? option->get_lnames().front() : "";
    return std::ranges::find(kForPeople, name) == std::end(kForPeople) &&
           std::ranges::find(excluded, name) == excluded.end();
  });
}

AgentToolCommandLine agent_tool_command_line(CLI::App& command,
                                             const std::vector<std::string>& excluded,
                                             const std::string& arguments) {
  const Json given = Json::parse(arguments);
  const std::vector<CLI::Option*> options = agent_tool_options(command, excluded);
  std::vector<std::string> keys;
  for (const CLI::Option* option : options) keys.push_back(agent_tool_argument_name(*option));
  for (const auto& [key, value] : given.items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    const std::vector<std::string_view> known(keys.begin(), keys.end());
    fail_input(fmt::format("{}: {} has no such argument{}", one_line_printable_text(key),
                           command.get_name(), spelling_hint(key, known)));
  }
  Words words;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (given.contains(keys[i])) words.add(*options[i], given[keys[i]]);
  }
  return std::move(words).made();
}

}  // namespace stepwright::cli
