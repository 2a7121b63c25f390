#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "stepwright/cli/list_tables.h"
#include "stepwright/plan/frameworks/table.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

Json words_json(Ability ability, const WordSet& words) {
  const std::vector<std::string>& known = ability_words(ability);
  Json list = Json::array();
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (words[i]) list.push_back(known[i]);
  }
  return list;
}

Json line_json(const AbilityEntry& line) {
  Json json = {{"ability", name_of(kAbilityNames, line.ability)},
               {"words", words_json(line.ability, line.words)}};
  if (line.with != 0) json["with"] = words_json(Ability::kParallel, line.with);
  if (!line.from.empty()) json["from"] = line.from;
  if (!line.before.empty()) json["before"] = line.before;
  json["source"] = line.source;
  return json;
}

Json kernels_entry(const FrameworkKernels& kernels) {
  Json attention = Json::object();
  for (const auto& [generation, name] : kGenerationNames) {
    attention[std::string(name)] =
        name_of(kAttentionKernelNames, kernels.attention[static_cast<std::size_t>(generation)]);
  }
  return {{"attention", std::move(attention)},
          {"fused_norm", kernels.fused_norm},
          {"fused_activation", kernels.fused_activation},
          {"fused_accumulation", kernels.fused_accumulation},
          {"fused_gate", kernels.fused_gate},
          {"scattered_gradients", kernels.scattered_gradients},
          {"source", kernels.source}};
}

/// "1f1b, interleaved"; nobody reads a hundred orders.
std::string joined_by(const char* between, const Json& words) {
  constexpr std::size_t kMany = 20;
  if (words.size() > kMany) return "any";
  const auto listed = words.get<std::vector<std::string>>();
  return listed.empty() ? "none" : fmt::format("{}", fmt::join(listed, between));
}

std::string line_text(const Json& line) {
  auto what = line.at("ability").get<std::string>();
  if (line.contains("with")) what += " with " + joined_by(" or ", line.at("with"));
  for (const char* bound : {"from", "before"}) {
    if (line.contains(bound))
      what += fmt::format(" {} {}", bound, line.at(bound).get<std::string>());
  }
  return fmt::format("  {:<19} {}\n", what + ":", joined_by(", ", line.at("words")));
}

std::string kernels_line(const Json& kernels) {
  std::string text;
  for (const auto& [generation, kernel] : kernels.at("attention").items()) {
    text += fmt::format("{}{} on {}", text.empty() ? "" : ", ", kernel.get<std::string>(),
                        generation == "other device" ? "others" : generation);
  }
  return fmt::format("  {:<19} {}; norms {}\n", "kernels:", text,
                     kernels.at("fused_norm").get<bool>() ? "fused" : "not fused");
}

}  // namespace

Json frameworks_json() {
  Json list = Json::array();
  for (const std::string_view name : kFrameworkNames) {
    const FrameworkEntry& entry = framework_entry(name);
    Json runs = Json::array();
    for (const AbilityEntry& line : entry.runs) runs.push_back(line_json(line));
    list.push_back({{"name", entry.name},
                    {"about", entry.about},
                    {"checked", entry.checked},
                    {"runs", std::move(runs)},
                    {"kernels", kernels_entry(entry.kernels)},
                    {"notes", entry.notes}});
  }
  return list;
}

std::string frameworks_text(const Json& frameworks) {
  std::string text;
  for (const Json& framework : frameworks) {
    text += fmt::format(
        "{}{}: {}\n  ({})\n", text.empty() ? "" : "\n", framework.at("name").get<std::string>(),
        framework.at("about").get<std::string>(), framework.at("checked").get<std::string>());
    for (const Json& line : framework.at("runs")) text += line_text(line);
    text += kernels_line(framework.at("kernels"));
    for (const Json& note : framework.at("notes")) {
      text += fmt::format("  - {}\n", note.get<std::string>());
    }
  }
  return text + "\nSources: --json.\n";
}

}  // namespace stepwright
