#include "stepwright/framework_files/huggingface/launch_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/command_fields.h"

namespace stepwright::framework_files {
namespace {

/// Returns the words after `accelerate launch` or the module `accelerate.commands.launch`, up to
/// the program.
std::vector<ShellWord> words_of_launch(const StartedCommand& command) {
  std::vector<ShellWord> words = command.launchers;
  words.insert(words.end(), command.words.begin(), command.words.end());
  auto launch = std::ranges::adjacent_find(words, [](const auto& one, const auto& next) {
    return one.text.ends_with("accelerate") && next.text == "launch";
  });
  const auto module = std::ranges::find(words, "accelerate.commands.launch", &ShellWord::text);
  if (module != words.end()) launch = module - 1;
  if (launch == words.end()) return {};
  const auto is_program = [](const ShellWord& word) {
    return word.text == "-m" || word.text == "--module" || word.text.ends_with(".py");
  };
  return {launch + 2, std::find_if(launch + 2, words.end(), is_program)};
}

/// A configuration of Accelerate that comes with TRL (huggingface/trl trl/accelerate_configs). All
/// of them start eight processes on one node in bf16.
struct Preset {
  std::string_view name;
  std::string_view type;
  std::string_view setting;
};
constexpr Preset kPresets[] = {{"zero1", "DEEPSPEED", "deepspeed_config.zero_stage=1"},
                               {"zero2", "DEEPSPEED", "deepspeed_config.zero_stage=2"},
                               {"zero3", "DEEPSPEED", "deepspeed_config.zero_stage=3"},
                               {"fsdp1", "FSDP", "fsdp_config.fsdp_version=1"},
                               {"fsdp2", "FSDP", "fsdp_config.fsdp_version=2"},
                               {"multi_gpu", "MULTI_GPU", ""},
                               {"single_gpu", "NO", ""}};

/// Adds the settings of a configuration that comes with TRL, named by `trl ... --accelerate_config
/// zero3`; trl/cli/accelerate_config.py.
void take_preset(const StartedCommand& command, TransformersProgramFiles& files) {
  const DocumentTree said = command_arguments_as_mapping(command.command_words_with_overrides());
  const DocumentTree* named = said.find("accelerate_config");
  if (named == nullptr || files.accelerate != nullptr) return;
  const auto* preset = std::ranges::find(kPresets, named->text, &Preset::name);
  if (preset == std::end(kPresets)) {
    fail_input(
        fmt::format("{}:{}: accelerate_config: names a configuration of Accelerate: give "
                    "its file, too",
                    command.file, named->line));
  }
  files.launch.push_back(fmt::format("distributed_type={}", preset->type));
  files.launch.insert(files.launch.end(),
                      {"num_machines=1", "num_processes=8", "mixed_precision=bf16"});
  if (!preset->setting.empty()) files.launch.emplace_back(preset->setting);
}

/// Removes and reports options whose values the script does not set. Options for the rendezvous and
/// the number of ranks are only removed, because the readers of launchers report them.
void take_out_open_values(std::vector<ShellWord>& words, const StartedCommand& command,
                          ImportReport& report) {
  static constexpr std::string_view kOfLaunchers[] = {"num_", "machine_rank", "main_process_",
                                                      "rdzv_", "config_file"};
  for (std::size_t i = 0; i + 1 < words.size();) {
    const ShellWord& value = words[i + 1];
    const bool option = words[i].text.starts_with("--");
    if (!option || value.open.empty() || value.text.starts_with("--")) {
      ++i;
      continue;
    }
    const std::string name = words[i].text.substr(2);
    if (std::ranges::none_of(kOfLaunchers, [&](auto known) { return name.starts_with(known); })) {
      report.not_read.push_back({words[i].text, one_line_printable_text(value.text), command.file,
                                 value.line, SettingImpact::kMaybe,
                                 fmt::format("the script does not state it: give --set {}=VALUE",
                                             one_line_printable_text(value.open.front()))});
    } else if (name.starts_with("config_file")) {
      ++i;
      continue;
    }
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
  }
}

std::string path_of(const std::string& name) {
  const auto sections = words_of_table_section("huggingface/launch_words", "sections");
  const auto found = std::ranges::find_if(
      sections, [&](const auto& section) { return name.starts_with(section.first); });
  return found == sections.end() ? name : fmt::format("{}.{}", found->second, name);
}

}  // namespace

void read_accelerate_launch_options(const StartedCommand& command, TransformersProgramFiles& files,
                                    ImportReport& report) {
  take_preset(command, files);
  std::vector<ShellWord> words = words_of_launch(command);
  take_out_open_values(words, command, report);
  const YamlJsonDocument said =
      YamlJsonDocument::from_tree(command_arguments_as_mapping(words), command.file);
  const auto path = said.root().find("config_file");
  if (path && path->text() != "/dev/null" && files.accelerate == nullptr) {
    path->fail("names a configuration of Accelerate: give its file, too");
  }
  std::string_view type;
  for (const auto& [name, value] : said.root().mapping_members()) {
    if (name == "config_file" || value.is_sequence()) continue;
    const std::string_view known =
        meaning_of_program_setting_word("huggingface/launch_words", "types", name);
    if (known.empty()) {
      files.launch.push_back(fmt::format("{}={}", path_of(name), value.text()));
    } else if (type.empty() || type == "MULTI_GPU") {
      type = known;
    }
  }
  if (!type.empty()) files.launch.push_back(fmt::format("distributed_type={}", type));
}

}  // namespace stepwright::framework_files
