#include "stepwright/cli/run_settings_options.h"

#include <CLI/CLI.hpp>

#include "stepwright/answers/run_settings.h"
#include "stepwright/plan/files/run_keys.h"

namespace stepwright::cli {

RunSettingsOptions::RunSettingsOptions(CLI::App& command) {
  for (const plan::TrainingRunSettingKey& key : plan::kRunKeys) {
    command
        .add_option(answers::run_setting_option(key.key), words_[std::string(key.key)],
                    std::string(key.help))
        ->type_name(std::string(key.type));
  }
  command
      .add_option(answers::run_setting_option(plan::kCheckpointsKey),
                  words_[std::string(plan::kCheckpointsKey)],
                  "exposed: steps wait while a checkpoint is written; asynchronous: only\n"
                  "while it is copied to the host")
      ->type_name("HOW");
}

}  // namespace stepwright::cli
