#include "stepwright/plan/files/run_keys.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "stepwright/core/quantity.h"

namespace stepwright::plan {

double read_run_setting_number(DocumentNode node, const TrainingRunSettingKey& key) {
  switch (key.unit) {
    case TrainingRunSettingUnit::kTime:
      return read_quantity(node, QuantityKind::kTime, key.low, key.high);
    case TrainingRunSettingUnit::kRate:
      return read_quantity(node, QuantityKind::kRate, key.low, key.high);
    case TrainingRunSettingUnit::kTokens:
      return read_quantity(node, QuantityKind::kTokens, key.low, key.high);
    case TrainingRunSettingUnit::kCount:
      return static_cast<double>(
          node.integer(static_cast<std::int64_t>(key.low), static_cast<std::int64_t>(key.high)));
    case TrainingRunSettingUnit::kShare: {
      const double share = node.number(key.low, key.high);
      if (share == 1) node.fail("must be below 1: it would leave no time for steps");
      return share;
    }
    case TrainingRunSettingUnit::kNumber: break;
  }
  return node.number(key.low, key.high);
}

std::string contradiction_in_run_settings(const TrainingRunSettings& s) {
  if (s.device_mttf_s && s.failures_per_device_hour) {
    return "device_mttf and failures_per_device_hour both state how often devices fail: give only "
           "one";
  }
  if (s.evaluation && (s.evaluation_tokens || s.evaluation_every)) {
    return "evaluation and evaluation_tokens with evaluation_every both state the time of "
           "evaluation: give only one";
  }
  if (s.evaluation_tokens.has_value() != s.evaluation_every.has_value()) {
    return "evaluation_tokens and evaluation_every are only allowed together: give both";
  }
  if (s.host_copy_bytes_per_s && s.checkpoints != CheckpointWriting::kAsynchronous) {
    return "host_copy has an effect only with `checkpoints: asynchronous`: set it, or remove "
           "host_copy";
  }
  return "";
}

TrainingRunSettings read_training_run_settings(DocumentNode node) {
  std::vector<std::string_view> keys = {kCheckpointsKey};
  for (const TrainingRunSettingKey& key : kRunKeys) keys.push_back(key.key);
  node.allow_only_keys(keys);
  TrainingRunSettings settings;
  for (const TrainingRunSettingKey& key : kRunKeys) {
    if (const auto given = node.find(key.key))
      settings.*key.value = read_run_setting_number(*given, key);
  }
  if (const auto given = node.find(kCheckpointsKey)) {
    settings.checkpoints = given->choice(kCheckpointWritingNames);
  }
  const std::string wrong = contradiction_in_run_settings(settings);
  if (!wrong.empty()) node.fail(wrong);
  return settings;
}

TrainingRunSettings override_run_settings(TrainingRunSettings settings,
                                          const TrainingRunSettings& over) {
  if (over.device_mttf_s || over.failures_per_device_hour) {
    settings.device_mttf_s = settings.failures_per_device_hour = std::nullopt;
  }
  if (over.evaluation || over.evaluation_tokens) {
    settings.evaluation = settings.evaluation_tokens = settings.evaluation_every = std::nullopt;
  }
  for (const TrainingRunSettingKey& key : kRunKeys) {
    if (over.*key.value) settings.*key.value = over.*key.value;
  }
  if (over.checkpoints) {
    settings.checkpoints = over.checkpoints;
    if (over.checkpoints == CheckpointWriting::kExposed && !over.host_copy_bytes_per_s) {
      settings.host_copy_bytes_per_s = std::nullopt;
    }
  }
  return settings;
}

nlohmann::ordered_json run_settings_json(const TrainingRunSettings& settings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const TrainingRunSettingKey& key : kRunKeys) {
    const std::optional<double>& value = settings.*key.value;
    if (!value) continue;
    if (key.unit == TrainingRunSettingUnit::kCount) {
      json[std::string(key.key)] = static_cast<std::int64_t>(*value);
    } else {
      json[std::string(key.key)] = *value;
    }
  }
  if (settings.checkpoints) {
    json[std::string(kCheckpointsKey)] = name_of(kCheckpointWritingNames, *settings.checkpoints);
  }
  return json;
}

}  // namespace stepwright::plan
