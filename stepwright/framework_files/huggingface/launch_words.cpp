#include "stepwright/framework_files/huggingface/launch_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/framework_files/huggingface/command_fields.h"

namespace stepwright {
namespace {

/// Words that stand for a distributed type.
constexpr std::pair<std::string_view, std::string_view> kLaunchTypes[] = {
    {"use_fsdp", "FSDP"},
    {"use_deepspeed", "DEEPSPEED"},
    {"use_megatron_lm", "MEGATRON_LM"},
    {"multi_gpu", "MULTI_GPU"}};

/// Words by how they begin, and the section of a configuration that has them.
constexpr std::pair<std::string_view, std::string_view> kLaunchSections[] = {
    {"fsdp_", "fsdp_config"},
    {"offload_optimizer_", "deepspeed_config"},
    {"offload_param_", "deepspeed_config"},
    {"deepspeed_", "deepspeed_config"},
    {"zero", "deepspeed_config"},
    {"gradient_accumulation_steps", "deepspeed_config"},
    {"gradient_clipping", "deepspeed_config"},
    {"megatron_lm_", "megatron_lm_config"},
    {"parallelism_config_", "parallelism_config"},
    {"dynamo_", "dynamo_config"}};

/// The words after `accelerate launch`, up to the program.
std::vector<ShellWord> words_of_launch(const StartedCommand& command) {
  std::vector<ShellWord> words = command.launchers;
  words.insert(words.end(), command.words.begin(), command.words.end());
  const auto launch = std::ranges::adjacent_find(words, [](const auto& one, const auto& next) {
    return one.text.ends_with("accelerate") && next.text == "launch";
  });
  if (launch == words.end()) return {};
  const auto is_program = [](const ShellWord& word) {
    return word.text == "-m" || word.text == "--module" || word.text.ends_with(".py");
  };
  return {launch + 2, std::find_if(launch + 2, words.end(), is_program)};
}

std::string path_of(const std::string& name) {
  const auto* found = std::ranges::find_if(
      kLaunchSections, [&](const auto& section) { return name.starts_with(section.first); });
  return found == std::end(kLaunchSections) ? name : fmt::format("{}.{}", found->second, name);
}

}  // namespace

void take_launch_words(const StartedCommand& command, HubFiles& files) {
  const Document said = Document::from(command_fields(words_of_launch(command)), command.file);
  const auto path = said.root().find("config_file");
  if (path && path->text() != "/dev/null" && files.accelerate == nullptr) {
    path->fail("names a configuration of Accelerate: give its file, too");
  }
  std::string_view type;
  for (const auto& [name, value] : said.root().members()) {
    if (name == "config_file" || value.is_sequence()) continue;
    const auto* known = std::ranges::find(kLaunchTypes, name,
                                          &std::pair<std::string_view, std::string_view>::first);
    if (known == std::end(kLaunchTypes)) {
      files.launch.push_back(fmt::format("{}={}", path_of(name), value.text()));
    } else if (type.empty() || type == "MULTI_GPU") {
      type = known->second;
    }
  }
  if (!type.empty()) files.launch.push_back(fmt::format("distributed_type={}", type));
}

}  // namespace stepwright
