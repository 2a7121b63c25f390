#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "stepwright/core/document.h"
#include "stepwright/plan/run_settings.h"

namespace stepwright::plan {

/// Unit in which a job's `run` mapping and command-line options state a number.
enum class TrainingRunSettingUnit : std::uint8_t {
  kNumber,
  kCount,  ///< A whole number without a unit.
  kShare,  ///< A share from 0 to below 1.
  kTime,   ///< A time, stored in seconds (`QuantityKind::kTime`).
  kRate,   ///< A rate, stored in bytes per second (`QuantityKind::kRate`).
  kTokens  ///< A number of tokens (`QuantityKind::kTokens`).
};

/// One setting of a whole run: its key in a job's `run` mapping (`restart`), which is also an
/// option of `stepwright run` (`--restart`), with unit, range and help.
struct TrainingRunSettingKey {
  std::string_view key;
  std::optional<double> TrainingRunSettings::* value;
  TrainingRunSettingUnit unit = TrainingRunSettingUnit::kNumber;
  double low = 0;
  double high = 1e18;
  std::string_view type;  ///< Placeholder of the option's value in help texts: "TIME".
  std::string_view help;  ///< Help text of the command-line option.
};

inline constexpr TrainingRunSettingKey kRunKeys[] = {
    {"tokens", &TrainingRunSettings::tokens, TrainingRunSettingUnit::kTokens, 1, 1e18, "N",
     "Tokens to train on, as 15e12 or 15T"},
    {"price_per_gpu_hour", &TrainingRunSettings::price_per_gpu_hour,
     TrainingRunSettingUnit::kNumber, 0, 1e9, "X",
     "Also say what the run costs, in the same currency; idle and spare GPUs\nare paid"},
    {"device_mttf", &TrainingRunSettings::device_mttf_s, TrainingRunSettingUnit::kTime, 1, 1e18,
     "TIME", "Mean time to failure of a device, as 50000h"},
    {"failures_per_device_hour", &TrainingRunSettings::failures_per_device_hour,
     TrainingRunSettingUnit::kNumber, 0, 1e9, "X", "What is one over that, as 2e-5; 0: none fails"},
    {"restart", &TrainingRunSettings::restart_s, TrainingRunSettingUnit::kTime, 0, 1e9, "TIME",
     "From a failure to the first step after it, as 10min"},
    {"repair", &TrainingRunSettings::repair_s, TrainingRunSettingUnit::kTime, 0, 1e9, "TIME",
     "Until the node of a failure can be used again, as 1d; without it another\nnode is there at "
     "once"},
    {"spare_nodes", &TrainingRunSettings::spare_nodes, TrainingRunSettingUnit::kCount, 0, 1e6, "N",
     "Nodes that wait beside those in use, paid from the start"},
    {"storage", &TrainingRunSettings::storage_bytes_per_s, TrainingRunSettingUnit::kRate, 1, 1e18,
     "RATE", "Rate at which all ranks together write a checkpoint, as 100GB/s"},
    {"host_copy", &TrainingRunSettings::host_copy_bytes_per_s, TrainingRunSettingUnit::kRate, 1,
     1e18, "RATE",
     "Of asynchronous checkpoints: rate at which a device copies its part to\nits host"},
    {"checkpoint_interval", &TrainingRunSettings::checkpoint_interval_s,
     TrainingRunSettingUnit::kTime, 1e-9, 1e9, "TIME",
     "Time from one checkpoint to the next; the best without it"},
    {"evaluation", &TrainingRunSettings::evaluation, TrainingRunSettingUnit::kShare, 0, 1, "SHARE",
     "Share of the time of steps and evaluation that evaluation takes, as 0.02"},
    {"evaluation_tokens", &TrainingRunSettings::evaluation_tokens, TrainingRunSettingUnit::kTokens,
     1, 1e18, "N", "Instead: tokens of one evaluation, whose forward passes are played"},
    {"evaluation_every", &TrainingRunSettings::evaluation_every, TrainingRunSettingUnit::kCount, 1,
     1e15, "STEPS", "Steps from one such evaluation to the next"},
    {"straggler_spread", &TrainingRunSettings::straggler_spread, TrainingRunSettingUnit::kShare, 0,
     1, "SHARE",
     "Standard deviation of the time of a step over devices: steps wait for the\nslowest"},
};
inline constexpr std::string_view kCheckpointsKey = "checkpoints";

/// Reads one number of a job's `run` mapping in its unit. Fails with `kInput`, naming place, value
/// and allowed range.
double read_run_setting_number(DocumentNode node, const TrainingRunSettingKey& key);

/// Reads the `run` mapping of a job: tokens, prices, failures, checkpoints, ... Fails with `kInput`
/// on bad values and on contradictions (`contradiction_in_run_settings`).
TrainingRunSettings read_training_run_settings(DocumentNode node);

/// Returns text about a setting that is stated twice in different ways, or that needs another one
/// which is missing; empty: there is no such setting.
std::string contradiction_in_run_settings(const TrainingRunSettings& settings);

/// Returns `settings` with the values that `over` states replaced; where a value can be stated in
/// several ways (failure time or rate), the other ways are removed.
TrainingRunSettings override_run_settings(TrainingRunSettings settings,
                                          const TrainingRunSettings& over);

/// Returns a job's `run` mapping as JSON; empty if no setting is stated.
nlohmann::ordered_json run_settings_json(const TrainingRunSettings& settings);

}  // namespace stepwright::plan
