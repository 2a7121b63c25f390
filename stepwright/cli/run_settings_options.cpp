#include "stepwright/cli/run_settings_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/plan/files/run_keys.h"

namespace stepwright {
namespace {

std::string option_of(std::string_view key) {
  std::string option = "--" + std::string(key);
  std::ranges::replace(option, '_', '-');
  return option;
}

}  // namespace

RunSettingsOptions::RunSettingsOptions(CLI::App& command) {
  for (const RunKey& key : kRunKeys) {
    command.add_option(option_of(key.key), given_[key.key], std::string(key.help))
        ->type_name(std::string(key.type));
  }
  command
      .add_option(option_of(kCheckpointsKey), given_[kCheckpointsKey],
                  "exposed: steps wait while a checkpoint is written; asynchronous: only\n"
                  "while it is copied to the host")
      ->type_name("HOW");
}

RunSettings RunSettingsOptions::over(const RunSettings& stated) const {
  RunSettings settings;
  const auto read = [&](std::string_view key, const auto& take) {
    const std::string& text = given_.at(key);
    if (text.empty()) return;
    const Document document = Document::from(Tree::scalar(text, false), option_of(key));
    take(document.root());
  };
  for (const RunKey& key : kRunKeys) {
    read(key.key, [&](Node node) { settings.*key.value = read_run_number(node, key); });
  }
  read(kCheckpointsKey,
       [&](Node node) { settings.checkpoints = node.choice(kCheckpointWritingNames); });
  const RunSettings all = overridden(stated, settings);
  const std::string wrong = run_contradiction(all);
  if (!wrong.empty()) fail_input("options of the run: " + wrong);
  return all;
}

}  // namespace stepwright
