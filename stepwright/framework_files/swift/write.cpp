#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/stated_adapters.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/megatron/plan.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kSwiftWritten = "swift/megatron_words";

std::string swift_value(const DocumentTree& value) {
  if (value.kind != DocumentTree::TreeValueKind::kSequence) {
    return quoted_for_shell(value.text);
  }
  std::string words;
  for (const DocumentTree& item : value.items)
    words += (words.empty() ? "" : " ") + quoted_for_shell(item.text);
  return words;
}

std::string swift_lines(const plan::PlannedJob& planned) {
  std::string lines;
  const DocumentTree fields = megatron_fields(planned, "");
  visit_written_megatron_fields(
      planned, fields, kSwiftWritten, [&](const std::string& field, const DocumentTree& stated) {
        const std::string value = swift_value(stated);
        const std::string_view argument =
            meaning_of_program_setting_word(kSwiftWritten, "written", field);
        if (argument.empty()) {
          fail_unsupported(
              fmt::format("Megatron-LM's {} is {}: ms-swift has no such argument", field, value));
        }
        const bool fixed = argument.find(' ') != std::string_view::npos;
        lines += fmt::format("  --{}{} \\\n", argument, fixed ? "" : " " + value);
      });
  for (const auto& [name, off] : words_of_table_section(kSwiftWritten, "off")) {
    if (fields.find(name) == nullptr) lines += fmt::format("  --{} {} \\\n", name, off);
  }
  return lines;
}

/// Returns arguments for adapters; the default tuner is `full`: swift/arguments/tuner_args.py;
/// swift/megatron/arguments/megatron_args.py.
std::string swift_adapters(const model::ModelArchitecture& model) {
  if (!model.adapters) return "";
  const model::LoraAdapters& adapters = *model.adapters;
  return fmt::format(
      "  --tuner_type lora \\\n  --lora_rank {} \\\n  --lora_alpha {} \\\n  --lora_dropout {} "
      "\\\n  --target_modules {} \\\n",
      adapters.rank, adapters.alpha, adapters.dropout,
      fmt::join(compact_megatron_adapter_modules(model), " "));
}

/// Returns arguments for packing: swift/arguments/base_args: packing, packing_strategy,
/// truncation_strategy.
std::string swift_packing(const plan::Job& job) {
  if (!job.documents) return "";
  const packing::Packing& packing = job.documents->packing;
  std::string lines;
  if (packing.kind != packing::PackingKind::kNone) {
    lines += "  --packing true \\\n";
  } else if (packing.pad_to == packing::PaddingTarget::kNone) {
    lines += "  --padding_free true \\\n";
  }
  if (packing.kind == packing::PackingKind::kGreedy)
    lines += "  --packing_strategy sequential \\\n";
  if (packing.too_long == packing::LongDocumentPolicy::kTruncate)
    lines += "  --truncation_strategy right \\\n";
  if (packing.too_long == packing::LongDocumentPolicy::kSplit)
    lines += "  --truncation_strategy split \\\n";
  return lines;
}

std::string_view swift_type(DType precision) {
  if (precision == DType::kFp32) return "float32";
  return precision == DType::kFp16 ? "float16" : "bfloat16";
}

/// Returns the variables that a job needs. MegatronArguments.__post_init__ sets
/// CUDA_DEVICE_MAX_CONNECTIONS to 1 if it is unset, which _check_megatron_fsdp refuses.
std::vector<EnvironmentSetting> swift_settings(const plan::PlannedJob& planned) {
  std::vector<EnvironmentSetting> settings = needed_environment_settings(planned);
  for (EnvironmentSetting& setting : settings) {
    if (setting.name != "CUDA_DEVICE_MAX_CONNECTIONS" || !setting.value.empty()) continue;
    setting.value = "32";
    setting.reason += "; ms-swift makes it 1 where it is not set";
  }
  return settings;
}

}  // namespace

std::string write_swift(const plan::PlannedJob& planned, const std::vector<std::string>& header) {
  std::string text =
      torchrun_script_head(planned, header, environment_shell_lines(swift_settings(planned)));
  text +=
      "DATA_ARGS=${DATA_ARGS:---dataset AI-ModelScope/alpaca-gpt4-data-en}\n"
      "TRAIN_ARGS=${TRAIN_ARGS:---train_iters 100 --lr 1e-5 --min_lr 1e-6 --output_dir "
      "stepwright-output}\n\n"
      "export NPROC_PER_NODE=\"$DEVICES_PER_NODE\" NNODES=\"$NODES\" NODE_RANK MASTER_ADDR "
      "MASTER_PORT\nmegatron sft \\\n";
  text += fmt::format("  --model {} \\\n  --torch_dtype {} \\\n",
                      quoted_for_shell(exported_model_folder(planned.job)),
                      swift_type(planned.job.precision));
  text += swift_adapters(planned.job.model) + swift_packing(planned.job);
  return text + swift_lines(planned) + "  $TRAIN_ARGS $DATA_ARGS \"$@\"\n";
}

}  // namespace stepwright::framework_files
