#include "stepwright/framework_files/megatron/slime.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/megatron/forks.h"

namespace stepwright::framework_files {
namespace {

const DocumentTree* value_of(const MegatronArgumentFields& arguments, std::string_view field) {
  return arguments.fields.find(field);
}

/// Returns the integer value of a slime argument and reports the argument as read; `usual` if it is
/// absent.
std::int64_t count_of(MegatronArgumentFields& arguments, std::string_view field, std::int64_t usual,
                      const std::string& name, ImportReport& report) {
  const DocumentTree* said = value_of(arguments, field);
  if (said == nullptr) {
    report.add_assumption("job.cluster", fmt::format("{} is {} by slime's default", field, usual));
    return usual;
  }
  const IntegerParseResult number = read_integer(said->text);
  if (number.status != IntegerParseResult::IntegerParseStatus::kGood || number.value < 1) {
    fail_input(fmt::format("{}:{}: {}: must be an integer above 0; it is {}", name, said->line,
                           field, said->text));
  }
  std::string flag = fmt::format("--{}", field);
  std::ranges::replace(flag, '_', '-');
  report.read.push_back({flag, said->text, name, said->line, "job.cluster"});
  static_cast<void>(remove_argument_field(arguments, field));
  return number.value;
}

/// Adds slime's defaults: slime/backends/megatron_utils/arguments.py: set_default_megatron_args.
void set_usual(MegatronArgumentFields& arguments, ImportReport& report) {
  if (value_of(arguments, "precision") == nullptr) {
    arguments.fields.set("precision", "bf16");
    report.add_assumption("job.precision", "slime trains in bf16 where --fp16 is not set");
  }
  if (value_of(arguments, "use_distributed_optimizer") == nullptr) {
    arguments.fields.set("use_distributed_optimizer", true);
    report.add_assumption("sharding.states", "slime always shards the optimizer");
  }
}

/// Sets the batch so that the steps of a rollout use all its samples.
void set_batch(MegatronArgumentFields& arguments, ImportReport& report) {
  const DocumentTree* prompts = value_of(arguments, "rollout_batch_size");
  if (value_of(arguments, "global_batch_size") != nullptr || prompts == nullptr) return;
  const DocumentTree* samples = value_of(arguments, "n_samples_per_prompt");
  const auto steps =
      std::ranges::find(report.not_read, "--num-steps-per-rollout", &SettingNotInPlan::name);
  std::int64_t all = read_integer(prompts->text).value;
  if (samples != nullptr) all *= read_integer(samples->text).value;
  if (steps != report.not_read.end()) {
    all /= std::max<std::int64_t>(1, read_integer(steps->value).value);
  }
  arguments.fields.set("global_batch_size", std::max<std::int64_t>(1, all));
  report.add_assumption("job.batch.sequences", "the samples of a rollout, by its steps");
}

/// Returns the number in an argument that only slime has; nullopt if it is absent.
std::optional<std::int64_t> own_number(std::string_view flag, std::string_view field,
                                       const std::string& name, ImportReport& report) {
  const auto said = std::ranges::find(report.not_read, flag, &SettingNotInPlan::name);
  if (said == report.not_read.end()) return std::nullopt;
  const IntegerParseResult number = read_integer(said->value);
  if (number.status != IntegerParseResult::IntegerParseStatus::kGood || number.value < 1) {
    fail_input(fmt::format("{}:{}: {}: must be an integer above 0; it is '{}'", name, said->line,
                           flag, said->value));
  }
  report.read.push_back({said->name, said->value, said->file, said->line, std::string(field)});
  report.not_read.erase(said);
  return number.value;
}

/// Sets the length from the longest answer and, if it is stated, the longest prompt:
/// slime/utils/arguments.py has no other lengths.
void set_length(MegatronArgumentFields& arguments, const std::string& name, ImportReport& report) {
  constexpr std::string_view kField = "job.batch.length";
  const auto all = own_number("--rollout-max-context-len", kField, name, report);
  const auto answer = own_number("--rollout-max-response-len", kField, name, report);
  const auto prompt = own_number("--rollout-max-prompt-len", kField, name, report);
  if (!all && !answer) return;
  if (const auto said = remove_argument_field(arguments, "seq_length")) {
    report.not_read.push_back(
        {"--seq-length", said->text, name, said->line, SettingImpact::kNo, ""});
  }
  const std::int64_t both = answer.value_or(0) + prompt.value_or(0);
  arguments.fields.set("seq_length", all ? *all : both);
  report.notes.push_back(
      fmt::format("Sequences are counted at their largest length, {} tokens{}.", all ? *all : both,
                  all || prompt ? "" : " of an answer, as nothing says how long a prompt can be"));
}

/// True for fine-tuning on the answers of the data, whose length no argument of a rollout bounds:
/// slime/rollout/sft_rollout.py.
bool trains_on_answers(const ImportReport& report) {
  return std::ranges::any_of(report.not_read, [](const SettingNotInPlan& one) {
    return one.name == "--loss-type" && one.value == "sft_loss";
  });
}

/// Sets micro-batches limited by tokens (slime/backends/megatron_utils/data.py): the limit covers
/// all ranks that share a sequence, and a micro-batch has at most a rank's share of the batch.
void set_dynamic_batch(MegatronArgumentFields& arguments, const std::string& name,
                       const JobRankCounts& extent, ImportReport& report) {
  const auto number = [&](std::string_view field) {
    const DocumentTree* const said = value_of(arguments, field);
    return said == nullptr ? 0 : read_integer(said->text).value;
  };
  const DocumentTree* const dynamic = value_of(arguments, "use_dynamic_batch_size");
  if (dynamic == nullptr || dynamic->text != "true") return;
  const std::int64_t tokens = number("max_tokens_per_gpu");
  const auto said = remove_argument_field(arguments, "max_tokens_per_gpu");
  const std::int64_t length = number("seq_length");
  if (!said || tokens < 1 || length < 1) return;
  report.read.push_back({"--max-tokens-per-gpu", said->text, name, said->line, "micro_batch"});
  const auto degree = [&](std::string_view field) {
    return std::max<std::int64_t>(1, number(field));
  };
  const std::int64_t context = degree("context_parallel_size");
  const std::int64_t inner =
      context * degree("tensor_model_parallel_size") * degree("pipeline_model_parallel_size");
  const std::int64_t ranks = extent.nodes.value_or(1) * extent.devices_of_node.value_or(1);
  const std::int64_t share = std::max<std::int64_t>(
      1, number("global_batch_size") / std::max<std::int64_t>(1, ranks / inner));
  std::int64_t micro = std::clamp<std::int64_t>(tokens * context / length, 1, share);
  while (share % micro != 0) --micro;
  arguments.fields.set("micro_batch_size", micro);
}

void settle_arguments(ImportReport& report) {
  for (SettingNotInPlan& one : report.not_read) {
    if (one.matters != SettingImpact::kMaybe) continue;
    const KnownSetting* known =
        find_known_setting(known_program_settings("megatron/slime"), one.name);
    if (known == nullptr) continue;
    one.is_unknown_setting = false;
    one.matters = known->matters;
    one.why = known->leaves_out;
  }
}

}  // namespace

bool is_slime_command(const MegatronArgumentFields& arguments, const ImportReport& report) {
  for (const std::string_view field : {"actor_num_nodes", "actor_num_gpus_per_node"}) {
    if (value_of(arguments, field) != nullptr) return true;
  }
  return std::ranges::find(report.not_read, "--num-rollout", &SettingNotInPlan::name) !=
         report.not_read.end();
}

void read_slime_arguments(MegatronArgumentFields& arguments, const std::string& name,
                          const UserFacts& given, PartialPlan& settled, JobRankCounts& extent,
                          ImportReport& report) {
  for (const SettingNotInPlan& one : report.not_read) {
    if (one.name != "--debug-rollout-only") continue;
    fail_unsupported(fmt::format("{}:{}: --debug-rollout-only: only generates, nothing is trained",
                                 name, one.line));
  }
  constexpr std::int64_t kUsualDevices = 8;
  settled.framework.variant = "slime";
  extent.ranks.reset();
  extent.nodes = count_of(arguments, "actor_num_nodes", 1, name, report);
  extent.devices_of_node =
      count_of(arguments, "actor_num_gpus_per_node", kUsualDevices, name, report);
  set_usual(arguments, report);
  set_batch(arguments, report);
  if (trains_on_answers(report)) {
    settled.method.kind = plan::TrainingMethodKind::kSft;
    const auto length = read_batch_option(given.batch).length;
    if (length && value_of(arguments, "seq_length") == nullptr) {
      arguments.fields.set("seq_length", *length);
    }
  } else {
    set_length(arguments, name, report);
  }
  set_dynamic_batch(arguments, name, extent, report);
  settle_arguments(report);
}

void set_slime_model(MegatronArgumentFields& arguments, const UserFacts& given,
                     StatedModel& model_words, ImportReport& report) {
  // Layers that Megatron-Bridge's providers build: src/megatron/bridge/models/gpt_oss, models/qwen.
  const auto mode =
      std::ranges::find(report.not_read, "--megatron-to-hf-mode", &SettingNotInPlan::name);
  if (mode != report.not_read.end() && mode->value == "bridge") {
    for (const auto& [field, value] : {std::pair("moe_token_dispatcher_type", "alltoall"),
                                       std::pair("moe_grouped_gemm", "true")}) {
      if (value_of(arguments, field) == nullptr)
        arguments.fields.set(field, text_as_yaml_scalar(value));
    }
  }
  if (given.known_model || value_of(arguments, "num_layers") != nullptr) return;
  for (const std::string_view name : {"--ref-load", "--hf-checkpoint"}) {
    const auto said = std::ranges::find(report.not_read, name, &SettingNotInPlan::name);
    if (said == report.not_read.end() || said->value.empty()) continue;
    if (!set_built_in_model(std::string(said->value), given, model_words, report)) continue;
    report.read.push_back({said->name, said->value, said->file, said->line, "job.model"});
    report.not_read.erase(said);
    model_words.unknown_model.clear();
    return;
  }
}

}  // namespace stepwright::framework_files
