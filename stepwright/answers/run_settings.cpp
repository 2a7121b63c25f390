#include "stepwright/answers/run_settings.h"

#include <algorithm>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/plan/files/run_keys.h"

namespace stepwright::answers {

std::string run_setting_option(std::string_view key) {
  std::string option = "--" + std::string(key);
  std::ranges::replace(option, '_', '-');
  return option;
}

plan::TrainingRunSettings read_run_settings(
    const std::map<std::string, std::string, std::less<>>& words,
    const plan::TrainingRunSettings& stated) {
  plan::TrainingRunSettings settings;
  const auto read = [&](std::string_view key, const auto& take) {
    const auto word = words.find(key);
    if (word == words.end() || word->second.empty()) return;
    const YamlJsonDocument document = YamlJsonDocument::from_tree(
        DocumentTree::make_scalar(word->second, false), run_setting_option(key));
    take(document.root());
  };
  for (const plan::TrainingRunSettingKey& key : plan::kRunKeys) {
    read(key.key, [&](DocumentNode node) {
      settings.*key.value = plan::read_run_setting_number(node, key);
    });
  }
  read(plan::kCheckpointsKey, [&](DocumentNode node) {
    settings.checkpoints = node.choice(plan::kCheckpointWritingNames);
  });
  const plan::TrainingRunSettings all = plan::override_run_settings(stated, settings);
  const std::string wrong = plan::contradiction_in_run_settings(all);
  if (!wrong.empty()) fail_input("options of the run: " + wrong);
  return all;
}

}  // namespace stepwright::answers
