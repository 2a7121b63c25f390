#include "stepwright/framework_files/megatron/deepspeed_file.h"

#include <string>
#include <utility>

#include "stepwright/core/python_document.h"
#include "stepwright/core/scalar.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kConfigField = "deepspeed_config";
constexpr std::string_view kStageSetting = "zero_optimization.stage";

/// Returns an integer of the section `zero_optimization`; nullopt for "auto" and a value that a
/// script leaves open.
std::optional<std::int64_t> number_of(const YamlJsonDocument& document, std::string_view key) {
  const auto zero = document.root().find("zero_optimization");
  const auto value = zero && zero->is_mapping() ? zero->find(key) : std::nullopt;
  if (!value || !value->is_scalar()) return std::nullopt;
  const IntegerParseResult reading = read_integer(value->text());
  const bool good =
      reading.status == IntegerParseResult::IntegerParseStatus::kGood && reading.value >= 0;
  return good ? std::optional(reading.value) : std::nullopt;
}

}  // namespace

std::optional<YamlJsonDocument> named_deepspeed_configuration(MegatronArgumentFields& arguments,
                                                              const StartedCommand& command,
                                                              Sources files) {
  const DocumentTree* named = arguments.fields.find(kConfigField);
  if (named == nullptr) return std::nullopt;
  const SourceFile* file =
      find_command_file(launch_scripts::path_base_name(named->text), files, command);
  if (file == nullptr || !is_deepspeed(*file)) return std::nullopt;
  YamlJsonDocument document = parse_like_python_yaml(file->text, file->name);
  // DeepSpeed refuses a batch that is not a number; a value that a script leaves open is skipped.
  const FrameworkSettingsReader root(document.root());
  if (root.word("train_batch_size", "auto") != "auto")
    static_cast<void>(root.integer("train_batch_size", 1));
  if (const auto stage = number_of(document, "stage")) {
    DocumentTree value = DocumentTree::make_scalar(std::to_string(*stage), false);
    value.line = named->line;
    value.column = 1;
    arguments.fields.set("zero_stage", std::move(value));
    arguments.flags["zero_stage"] = kStageSetting;
  }
  return document;
}

void apply_deepspeed_configuration(const YamlJsonDocument& document, PartialPlan& partial,
                                   ImportReport& report) {
  plan::Plan& plan = partial.plan;
  std::erase_if(report.not_read, [](const SettingNotInPlan& one) {
    return one.name == kConfigField || one.name == "--deepspeed_config";
  });
  // The file lists its stage itself, with its own line.
  std::erase_if(report.read, [](const ImportedSetting& one) { return one.name == kStageSetting; });
  if (const auto bucket = number_of(document, "reduce_bucket_size"); bucket && *bucket > 0) {
    plan.gradient_bucket = *bucket;
  }
  if (const auto bucket = number_of(document, "allgather_bucket_size"); bucket && *bucket > 0) {
    plan.parameter_bucket = *bucket;
  }
  const FrameworkSettingsReader all(document.root());
  const FrameworkSettingsReader zero = all.nested_settings("zero_optimization");
  const auto stage = static_cast<int>(number_of(document, "stage").value_or(0));
  // The pipeline engine, which also runs a single stage, overlaps nothing; it has no ZeRO-2.
  if (stage >= 2) {
    partial.framework_overlap = false;
    read_deepspeed_overlap(zero, stage, plan);
    plan.overlap.tensor_gradients = plan.sequence_parallel;
  }
  read_deepspeed_offload(zero, stage, plan, report);
  for (const std::string_view key : {"stage", "reduce_bucket_size", "allgather_bucket_size"}) {
    zero.mark_setting_read(key);
  }
  report_read_and_unread_settings(all, document.document_name(),
                                  known_program_settings("huggingface/deepspeed"), report);
}

}  // namespace stepwright::framework_files
