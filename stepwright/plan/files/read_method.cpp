#include "stepwright/plan/files/read_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "stepwright/core/quantity.h"
#include "stepwright/model/parameters.h"
#include "stepwright/plan/choices/read_choices.h"

namespace stepwright::plan {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostUpdates = 1 << 20;
constexpr std::int64_t kMostSequences = 1 << 20;
constexpr double kMostTokensPerS = 1e12;
constexpr double kLongestTime = 1e9;

/// Returns the keys of each training method besides `kind`.
std::span<const std::string_view> keys_of(TrainingMethodKind kind) {
  static constexpr std::string_view kAll[] = {
      "rollout",   "updates", "old_log_probabilities", "forward_micro_batch", "staleness", "critic",
      "reference", "dispatch"};
  static constexpr std::string_view kOfPairs[] = {"updates", "forward_micro_batch", "reference"};
  switch (kind) {
    case TrainingMethodKind::kPretrain:
    case TrainingMethodKind::kSft: return {};
    case TrainingMethodKind::kDpo: return kOfPairs;
    case TrainingMethodKind::kGrpo:
    case TrainingMethodKind::kPpo: break;
  }
  return kAll;
}

/// Reads the place of a second model: a word, or the number of its own devices.
SecondModel read_second_model(DocumentNode node) {
  if (!node.is_mapping()) return {.place = node.choice(kSecondModelPlaceNames)};
  node.allow_only_keys({"devices"});
  return {.place = SecondModelPlace::kOther,
          .devices = node.get("devices").integer(1, cluster::kMaxClusterDevices)};
}

void read_speed(DocumentNode node, RolloutSettings& rollout) {
  const auto rate = node.find("tokens_per_s");
  const auto time = node.find("seconds");
  if (rate && time) {
    time->fail(
        "cannot be given together with tokens_per_s: both state how fast sequences are generated");
  }
  if (rate) rollout.tokens_per_s = require_positive_value(*rate, rate->number(0, kMostTokensPerS));
  if (time) {
    rollout.seconds =
        require_positive_value(*time, read_quantity(*time, QuantityKind::kTime, 0, kLongestTime));
  }
}

/// Default number of devices of a generation engine: the smallest power of two up to a node whose
/// share of the weights leaves half of device memory for caches.
std::int64_t engine_devices(const Job& job) {
  const auto bytes = static_cast<double>(
      bytes_of_elements(parameter_storage_type(job.precision), model::count_parameters(job.model)));
  std::int64_t devices = 1;
  while (2 * devices <= job.cluster.devices_per_node &&
         bytes / static_cast<double>(devices) > job.cluster.device.memory_bytes / 2) {
    devices *= 2;
  }
  return devices;
}

RolloutSettings read_rollout(DocumentNode node, const Job& job) {
  node.allow_only_keys(
      {"tokens_per_s", "seconds", "longest", "switch", "prompt", "devices", "tensor"});
  RolloutSettings rollout;
  read_speed(node, rollout);
  if (const auto given = node.find("longest")) {
    rollout.longest_s = read_quantity(*given, QuantityKind::kTime, 0, kLongestTime);
  }
  if (const auto given = node.find("switch")) {
    rollout.switch_s = read_quantity(*given, QuantityKind::kTime, 0, kLongestTime);
  }
  if (const auto given = node.find("prompt")) {
    rollout.prompt = given->number(0, static_cast<double>(job.length));
    if (rollout.prompt == static_cast<double>(job.length)) {
      given->fail("must be below batch.length: it would leave nothing to generate");
    }
  }
  if (const auto given = node.find("devices"))
    rollout.devices = given->integer(1, cluster::kMaxClusterDevices);
  const auto given = node.find("tensor");
  const bool stated = rollout.tokens_per_s || rollout.seconds;
  if (!given && !stated) rollout.tensor = engine_devices(job);
  if (given) {
    rollout.tensor = given->integer(1, cluster::kMaxClusterDevices);
    if (rollout.devices % rollout.tensor != 0) {
      given->fail(fmt::format("must divide the {} devices that generate", rollout.devices));
    }
  }
  return rollout;
}

RolloutSequenceDispatch read_dispatch(DocumentNode node) {
  node.allow_only_keys({"padded", "token"});
  RolloutSequenceDispatch dispatch{.padded = node.get("padded").integer(1, std::int64_t{1} << 40)};
  if (const auto given = node.find("token")) {
    dispatch.token_s =
        require_positive_value(*given, read_quantity(*given, QuantityKind::kTime, 0, 1));
  }
  return dispatch;
}

void read_second_models(DocumentNode node, TrainingMethod& method) {
  const bool preferences = method.kind == TrainingMethodKind::kDpo;
  method.reference.place = SecondModelPlace::kSame;
  if (const auto given = node.find("reference")) {
    method.reference = read_second_model(*given);
    if (preferences && method.reference.place == SecondModelPlace::kNone) {
      given->fail("must not be none: dpo needs a reference model");
    }
  }
  const auto critic = node.find("critic");
  if (method.kind != TrainingMethodKind::kPpo) {
    if (critic) critic->fail("only ppo has a critic: remove the key");
    return;
  }
  method.critic.place = SecondModelPlace::kSame;
  if (critic) method.critic = read_second_model(*critic);
  if (method.critic.place == SecondModelPlace::kNone ||
      method.critic.place == SecondModelPlace::kHost) {
    critic->fail("must be same or {devices: N}: the critic is trained in every step");
  }
}

Json second_model_json(const SecondModel& model) {
  if (model.place == SecondModelPlace::kOther) return {{"devices", model.devices}};
  return name_of(kSecondModelPlaceNames, model.place);
}

Json rollout_json(const RolloutSettings& rollout) {
  Json json = Json::object();
  if (rollout.tokens_per_s) json["tokens_per_s"] = *rollout.tokens_per_s;
  if (rollout.seconds) json["seconds"] = *rollout.seconds;
  if (rollout.longest_s > 0) json["longest"] = rollout.longest_s;
  if (rollout.switch_s > 0) json["switch"] = rollout.switch_s;
  if (rollout.prompt > 0) json["prompt"] = rollout.prompt;
  if (rollout.devices > 0) json["devices"] = rollout.devices;
  json["tensor"] = rollout.tensor;
  return json;
}

}  // namespace

std::optional<TrainingMethodKind> training_method_named_by_objective(DocumentNode objective) {
  const auto word = objective.is_mapping() ? objective.find("kind") : std::optional(objective);
  if (!word || !word->is_scalar()) return std::nullopt;
  const auto found =
      std::ranges::find(kMethodNames, word->text(), &Named<TrainingMethodKind>::name);
  if (found == std::end(kMethodNames)) return std::nullopt;
  return found->value;
}

std::vector<std::string_view> training_method_keys() {
  const auto keys = keys_of(TrainingMethodKind::kPpo);
  return {keys.begin(), keys.end()};
}

TrainingMethod read_training_method(DocumentNode objective, TrainingMethodKind kind,
                                    const Job& job) {
  TrainingMethod method{.kind = kind};
  const std::string_view name = name_of(kMethodNames, kind);
  const bool mapping = objective.is_mapping();
  const auto keys = keys_of(kind);
  for (const std::string_view key : training_method_keys()) {
    const auto given = mapping ? objective.find(key) : std::nullopt;
    if (given && std::ranges::find(keys, key) == keys.end()) {
      given->fail(fmt::format("{} has no {}", name, key));
    }
  }
  method.old_log_probabilities = training_method_generates_sequences(kind);
  if (training_method_generates_sequences(kind)) {
    method.rollout = RolloutSettings{.tensor = engine_devices(job)};
    method.reference.place = SecondModelPlace::kSame;
  }
  if (kind == TrainingMethodKind::kPpo) method.critic.place = SecondModelPlace::kSame;
  if (kind == TrainingMethodKind::kDpo) {
    method.reference.place = SecondModelPlace::kSame;
    if (job.sequences % 2 != 0) {
      objective.fail(fmt::format("dpo learns from pairs: batch.sequences must be even, and is {}",
                                 job.sequences));
    }
  }
  if (!mapping || keys.empty()) return method;
  if (const auto given = objective.find("updates")) {
    method.updates = given->integer(1, kMostUpdates);
  }
  if (const auto given = objective.find("forward_micro_batch")) {
    method.forward_micro_batch =
        given->integer(1, std::min(kMostSequences, job.sequences * method.updates));
  }
  if (const auto given = objective.find("old_log_probabilities")) {
    method.old_log_probabilities = given->boolean();
  }
  if (const auto given = objective.find("staleness")) method.staleness = given->integer(0, 1 << 20);
  read_second_models(objective, method);
  if (const auto given = objective.find("rollout")) method.rollout = read_rollout(*given, job);
  if (const auto given = objective.find("dispatch")) method.dispatch = read_dispatch(*given);
  return method;
}

void write_training_method(Json& objective, const TrainingMethod& method) {
  objective["kind"] = name_of(kMethodNames, method.kind);
  if (keys_of(method.kind).empty()) return;
  objective["updates"] = method.updates;
  if (method.forward_micro_batch > 0) objective["forward_micro_batch"] = method.forward_micro_batch;
  objective["reference"] = second_model_json(method.reference);
  if (method.kind == TrainingMethodKind::kPpo)
    objective["critic"] = second_model_json(method.critic);
  if (!method.rollout) return;
  objective["old_log_probabilities"] = method.old_log_probabilities;
  objective["staleness"] = method.staleness;
  objective["rollout"] = rollout_json(*method.rollout);
  if (!method.dispatch) return;
  objective["dispatch"] = {{"padded", method.dispatch->padded},
                           {"token", method.dispatch->token_s}};
}

}  // namespace stepwright::plan
