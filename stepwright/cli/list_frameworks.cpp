#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "stepwright/cli/list_tables.h"
#include "stepwright/framework_files/target.h"
#include "stepwright/plan/frameworks/table.h"

namespace stepwright::cli {
namespace {

using Json = nlohmann::ordered_json;

Json words_json(plan::FrameworkProperty ability, const plan::WordSet& words) {
  const std::vector<std::string>& known = plan::framework_property_value_names(ability);
  Json list = Json::array();
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (words[i]) list.push_back(known[i]);
  }
  return list;
}

/// Returns the words of a condition: degrees by their names; other words preceded by their ability,
/// such as "sharding NNG".
Json condition_json(const plan::FrameworkPropertyCondition& condition) {
  Json list = words_json(condition.ability, condition.words);
  if (condition.ability == plan::FrameworkProperty::kParallel) return list;
  for (Json& word : list) {
    word = fmt::format("{} {}", name_of(plan::kAbilityNames, condition.ability),
                       word.get<std::string>());
  }
  return list;
}

Json line_json(const plan::FrameworkPropertyLine& line) {
  Json json = {{"ability", name_of(plan::kAbilityNames, line.ability)},
               {"words", words_json(line.ability, line.words)}};
  if (line.with.any()) json["with"] = condition_json({line.other, line.with});
  for (const plan::FrameworkPropertyCondition& one : line.of_job)
    json["of_job"].push_back(condition_json(one));
  if (line.without.any())
    json["without"] = words_json(plan::FrameworkProperty::kParallel, line.without);
  if (!line.variant.empty()) json["variant"] = line.variant;
  if (!line.releases.from.empty()) json["from"] = line.releases.from;
  if (!line.releases.before.empty()) json["before"] = line.releases.before;
  json["source"] = line.source;
  return json;
}

Json default_json(const plan::FrameworkDefaultLine& line) {
  Json json = Json::object();
  if (!line.variant.empty()) json["variant"] = line.variant;
  if (!line.releases.from.empty()) json["from"] = line.releases.from;
  if (!line.releases.before.empty()) json["before"] = line.releases.before;
  for (const auto& [key, value] : line.said)
    json["says"].push_back({{"key", key}, {"value", value}});
  json["source"] = line.source;
  return json;
}

/// Joins words with a separator: "1f1b, interleaved".
std::string joined_by(const char* between, const Json& words) {
  const auto listed = words.get<std::vector<std::string>>();
  return listed.empty() ? "none" : fmt::format("{}", fmt::join(listed, between));
}

/// Returns the releases to which a line applies, such as " from 0.19.8"; empty: all.
std::string releases_text(const Json& line) {
  std::string text;
  for (const char* bound : {"from", "before"}) {
    if (line.contains(bound))
      text += fmt::format(" {} {}", bound, line.at(bound).get<std::string>());
  }
  return text;
}

/// True if a line has all words of an ability that has more than twenty; it is then shown as "any".
bool takes_any(const Json& line) {
  constexpr std::size_t kMany = 20;
  const auto word = line.at("ability").get<std::string>();
  const auto* const found =
      std::ranges::find(plan::kAbilityNames, word, &Named<plan::FrameworkProperty>::name);
  const std::size_t words = line.at("words").size();
  return words > kMany && words == plan::framework_property_value_names(found->value).size();
}

constexpr std::string_view kLegend = R"(
A line has what the framework runs of a choice; `with` and `without` say beside which degrees or
words, `from` and `before` in which releases. parallel: degrees that may be above 1. tensor_input:
what sequence parallelism gathers is kept for the backward, or gathered again. layers: of each
pipeline position equal, nearly (even with a remainder), any (as listed), hollow (none in between).
schedule even-groups, any-groups: groups of micro-batches of another size than the pipeline's.
overlap: messages that may run beside computation; exposed: those that may be kept from it. model:
what models have beyond a plain Llama. by default: what a job of it has that says nothing else.
target: files that `export` writes or `import` reads; judged: a test runs the package on what is
written or read; by source: its code was read.
docs/formats.md, "Frameworks", has every word. Sources: --json.
)";

std::string line_text(const Json& line) {
  auto what = line.at("ability").get<std::string>();
  if (line.contains("with")) what += " with " + joined_by(" or ", line.at("with"));
  for (const Json& one : line.value("of_job", Json::array())) {
    what += " and " + joined_by(" or ", one);
  }
  if (line.contains("without")) what += " without " + joined_by(" and ", line.at("without"));
  if (line.contains("variant")) what += " of " + line.at("variant").get<std::string>();
  what += releases_text(line);
  return fmt::format("  {:<19} {}\n", what + ":",
                     takes_any(line) ? "any" : joined_by(", ", line.at("words")));
}

/// Returns the export targets of a framework, and how the meaning of their files is known.
Json targets_json(std::string_view framework) {
  Json list = Json::array();
  for (const framework_files::LaunchTarget& target : framework_files::launch_targets()) {
    if (target.framework != framework) continue;
    const framework_files::FrameworkReadingEvidence& evidence = target.data->evidence;
    list.push_back({{"name", target.word},
                    {"evidence", evidence.judged ? "judged" : "by source"},
                    {"source", evidence.judged ? evidence.package : evidence.repository}});
    if (evidence.judged) list.back()["test"] = evidence.test;
  }
  return list;
}

/// Returns defaults of a framework or its variant, a line each: "  by default of bridge: accumulate
/// stored".
std::string default_text(const Json& line) {
  const auto whose = line.value("variant", std::string("by default")) + releases_text(line) + ":";
  std::string text;
  for (const Json& said : line.at("says")) {
    text += fmt::format("  {:<19} {} {}\n", whose, said.at("key").get<std::string>(),
                        said.at("value").get<std::string>());
  }
  return text;
}

}  // namespace

Json frameworks_json() {
  Json list = Json::array();
  for (const std::string_view name : plan::kFrameworkNames) {
    const plan::FrameworkDescription& entry = plan::framework_description(name);
    Json runs = Json::array();
    for (const plan::FrameworkPropertyLine& line : entry.runs) runs.push_back(line_json(line));
    Json defaults = Json::array();
    for (const plan::FrameworkDefaultLine& line : entry.defaults)
      defaults.push_back(default_json(line));
    Json variants = Json::array();
    for (const plan::FrameworkVariant& one : entry.variants) {
      variants.push_back({{"name", one.name}, {"about", one.about}});
    }
    list.push_back({{"name", entry.name},
                    {"about", entry.about},
                    {"checked", entry.checked},
                    {"runs", std::move(runs)},
                    {"variants", std::move(variants)},
                    {"targets", targets_json(entry.name)},
                    {"defaults", std::move(defaults)},
                    {"notes", entry.notes}});
  }
  return list;
}

std::string framework_table_text(const Json& frameworks) {
  std::string text;
  for (const Json& framework : frameworks) {
    text += fmt::format(
        "{}{}: {}\n  ({})\n", text.empty() ? "" : "\n", framework.at("name").get<std::string>(),
        framework.at("about").get<std::string>(), framework.at("checked").get<std::string>());
    for (const Json& line : framework.at("runs")) text += line_text(line);
    for (const Json& variant : framework.at("variants")) {
      text += fmt::format("  {:<19} {}: {}\n", "variant:", variant.at("name").get<std::string>(),
                          variant.at("about").get<std::string>());
    }
    for (const Json& target : framework.at("targets")) {
      text += fmt::format("  {:<19} {}, {}: {}\n", "target:", target.at("name").get<std::string>(),
                          target.at("evidence").get<std::string>(),
                          target.at("source").get<std::string>());
    }
    for (const Json& line : framework.at("defaults")) text += default_text(line);
    for (const Json& note : framework.at("notes")) {
      text += fmt::format("  - {}\n", note.get<std::string>());
    }
  }
  return text.append(kLegend);
}

}  // namespace stepwright::cli
