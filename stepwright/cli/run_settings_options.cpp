#include "stepwright/cli/run_settings_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/plan/files/run_keys.h"

namespace stepwright::cli {
namespace {

std::string option_of(std::string_view key) {
  std::string option = "--" + std::string(key);
  std::ranges::replace(option, '_', '-');
  return option;
}

}  // namespace

RunSettingsOptions::RunSettingsOptions(CLI::App& command) {
  for (const plan::RunKey& key : plan::kRunKeys) {
    command.add_option(option_of(key.key), given_[key.key], std::string(key.help))
        ->type_name(std::string(key.type));
  }
  command
      .add_option(option_of(plan::kCheckpointsKey), given_[plan::kCheckpointsKey],
                  "exposed: steps wait while a checkpoint is written; asynchronous: only\n"
                  "while it is copied to the host")
      ->type_name("HOW");
}

plan::RunSettings RunSettingsOptions::over(const plan::RunSettings& stated) const {
  plan::RunSettings settings;
  const auto read = [&](std::string_view key, const auto& take) {
    const std::string& text = given_.at(key);
    if (text.empty()) return;
    const Document document = Document::from(Tree::scalar(text, false), option_of(key));
    take(document.root());
  };
  for (const plan::RunKey& key : plan::kRunKeys) {
    read(key.key, [&](Node node) { settings.*key.value = plan::read_run_number(node, key); });
  }
  read(plan::kCheckpointsKey,
       [&](Node node) { settings.checkpoints = node.choice(plan::kCheckpointWritingNames); });
  const plan::RunSettings all = plan::overridden(stated, settings);
  const std::string wrong = plan::run_contradiction(all);
  if (!wrong.empty()) fail_input("options of the run: " + wrong);
  return all;
}

}  // namespace stepwright::cli
