#include "stepwright/framework_files/llamafactory/llamafactory.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/fields.h"
#include "stepwright/framework_files/given_batch.h"
#include "stepwright/framework_files/huggingface/attention_words.h"
#include "stepwright/framework_files/huggingface/training_arguments.h"
#include "stepwright/framework_files/llamafactory/settings.h"
#include "stepwright/framework_files/llamafactory/v1.h"
#include "stepwright/model/catalog.h"

namespace stepwright {
namespace {

/// hiyouga/LLaMA-Factory src/llamafactory/hparams/finetuning_args.py: LoraArguments;
/// src/llamafactory/model/model_utils/quantization.py: bitsandbytes with nf4.
void read_llamafactory_adapters(const Fields& fields, Draft& draft) {
  draft.adapters = read_adapter_words(fields, {.rank = "lora_rank",
                                               .alpha = "lora_alpha",
                                               .dropout = "lora_dropout",
                                               .modules = "lora_target",
                                               .usual_rank = 8,
                                               .usual_alpha = 2,
                                               .alpha_of_rank = true,
                                               .usual_modules = "all",
                                               .bits = "quantization_bit"});
}

/// What is trained, and with which loss; hiyouga/LLaMA-Factory
/// src/llamafactory/hparams/finetuning_args.py: stage, finetuning_type.
void read_method(const Fields& fields, std::vector<LeftOut>& left_out, Draft& draft) {
  const auto type = fields.node().find("finetuning_type");
  const std::string word = type && !type->is_null() ? type->text() : "lora";
  if (word == "lora" && !type) {
    draft.assume("job.adapters", "LLaMA-Factory trains LoRA where finetuning_type does not say");
  }
  if (word == "lora") {
    static_cast<void>(fields.find("finetuning_type"));
    read_llamafactory_adapters(fields, draft);
  } else if (word != "full") {
    left_out.push_back({"finetuning_type", *type, "frozen weights: all are trained in the plan"});
  }
  const auto stage = fields.node().find("stage");
  if (stage && !stage->is_null() && stage->text() != "sft" && stage->text() != "pt") {
    left_out.push_back(
        {"stage", *stage, "a second model or another loss: one of tokens is counted"});
  }
}

/// Sequence parallelism of its forks; Qihoo360/360-LLaMA-Factory
/// src/llamafactory/hparams/model_args.py: sequence_parallel_size, sequence_parallel_mode.
void read_sequence_parallelism(const Fields& fields, Draft& draft) {
  static constexpr Named<ContextKind> kModes[] = {{ContextKind::kRing, "zigzag-ring"},
                                                  {ContextKind::kAllGather, "llama3"},
                                                  {ContextKind::kUlysses, "ulysses"},
                                                  {ContextKind::kUlysses, "deepspeed-alst"}};
  draft.plan.parallel.context = fields.integer("sequence_parallel_size", 1);
  draft.plan.context_kind = fields.choice("sequence_parallel_mode", kModes, ContextKind::kRing);
}

/// hiyouga/LLaMA-Factory src/llamafactory/model/patcher.py: compute_dtype.
void read_weight_types(const Fields& fields, Draft& draft) {
  if (draft.precision == DType::kFp32) {
    draft.precision = DType::kBf16;
    if (!fields.flag("pure_bf16", false)) {
      draft.assume("job.precision", "the type of the model's weights, taken to be bf16");
    }
  }
  if (fields.flag("fp8", false)) draft.precision = DType::kFp8;
}

/// hiyouga/LLaMA-Factory src/llamafactory/model/model_utils/checkpointing.py.
void read_recomputation(const Fields& fields, Draft& draft) {
  const bool off = fields.flag("disable_gradient_checkpointing", false);
  draft.plan.recompute.kind = off ? RecomputeKind::kNone : RecomputeKind::kFull;
  if (!fields.has("disable_gradient_checkpointing")) {
    draft.assume("recompute", "LLaMA-Factory recomputes unless disable_gradient_checkpointing");
  }
}

/// hiyouga/LLaMA-Factory src/llamafactory/data/processor/supervised.py: packs by
/// `greedy_knapsack`, the longest that fits first, and drops what is longer than `cutoff_len`.
/// Without `neat_packing` documents of a sequence see each other: it is one.
constexpr PackingWords kNeatPacking = {
    .packing = {.kind = PackingKind::kFirstFit, .too_long = TooLong::kDrop}};

}  // namespace

void read_llamafactory(std::span<const SourceFile> files, const Given& given, Draft& draft) {
  const HubFiles sorted = sorted_hub_files(files);
  if (sorted.program == nullptr) fail_input(sorted.name + ": is no configuration of LLaMA-Factory");
  if (is_factory_v1(*sorted.program)) return read_factory_v1(sorted, given, draft);
  const Document document = program_document(sorted, given);
  const Fields fields(document.root());
  if (sorted.model) draft.model = read_config(*sorted.model);
  if (const auto id = fields.find("model_name_or_path")) take_hub_model(*id, given, draft);
  take_trainer_defaults(draft);
  Trainer trainer;
  std::vector<LeftOut> left_out;
  constexpr std::int64_t kUsualLength = 2048;
  draft.length = fields.integer("cutoff_len", kUsualLength);
  read_method(fields, left_out, draft);
  // hiyouga/LLaMA-Factory src/llamafactory/hparams/finetuning_args.py: both by default.
  draft.frozen_images.encoder = fields.flag("freeze_vision_tower", true);
  draft.frozen_images.projector = fields.flag("freeze_multi_modal_projector", true);
  read_trainer_fields(fields, sorted, trainer, left_out, draft);
  if (fields.flag("use_muon", false)) draft.optimizer = Optimizer::kMuon;
  read_recomputation(fields, draft);
  read_weight_types(fields, draft);
  read_sequence_parallelism(fields, draft);
  take_packing(fields, "neat_packing", kNeatPacking, given, draft);
  draft.fused_cross_entropy = fields.flag("enable_liger_kernel", draft.fused_cross_entropy);
  take_attention(fields, "flash_attn", left_out, draft);
  settle_program(fields, sorted, trainer, left_out, given, draft, kLlamaFactorySettings);
}

bool is_llamafactory(const SourceFile& file) {
  if (is_factory_v1(file)) return true;
  return holds(file, "model_name_or_path:") &&
         (holds(file, "finetuning_type:") || holds(file, "cutoff_len:") || holds(file, "stage:"));
}

}  // namespace stepwright
