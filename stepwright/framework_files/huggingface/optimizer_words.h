#pragma once

#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// An optimizer as transformers and programs on it call it, and what a plan leaves out of it.
struct OptimizerWord {
  std::string_view word;  ///< With `*` at the end, all that begin so.
  plan::Optimizer optimizer = plan::Optimizer::kAdamW;
  std::string_view leaves_out{};  ///< Empty: nothing.
};

/// huggingface/transformers src/transformers/training_args.py: OptimizerNames;
/// axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/enums.py: CustomSupportedOptimizers;
/// hiyouga/LLaMA-Factory src/llamafactory/hparams/finetuning_args.py: use_galore, use_badam, ...
inline constexpr OptimizerWord kOptimizerWords[] = {
    {"adamw"},
    {"adamw_hf"},
    {"adamw_torch"},
    {"adamw_torch_fused"},
    {"adamw_torch_xla"},
    {"adamw_torch_npu_fused"},
    {"adamw_apex_fused"},
    {"sgd", plan::Optimizer::kSgd},
    {"adamw_torch_8bit", plan::Optimizer::kAdam8bit},
    {"adamw_bnb_8bit", plan::Optimizer::kAdam8bit},
    {"adamw_8bit", plan::Optimizer::kAdam8bit},
    {"ao_adamw_8bit", plan::Optimizer::kAdam8bit},
    {"ao_adamw_fp8", plan::Optimizer::kAdam8bit},
    {"adamw_torch_4bit", plan::Optimizer::kAdamW, "moments of 4 bits: AdamW's of fp32 are counted"},
    {"ao_adamw_4bit", plan::Optimizer::kAdamW, "moments of 4 bits: AdamW's of fp32 are counted"},
    {"paged_adamw_8bit", plan::Optimizer::kAdam8bit, "paging of its states to the host"},
    {"paged_*", plan::Optimizer::kAdamW,
     "paging of its states to the host and their width: AdamW's of fp32 are counted"},
    {"adafactor", plan::Optimizer::kAdafactor},
    {"galore_*", plan::Optimizer::kAdamW, "its projected gradients: AdamW's states are counted"},
    {"q_galore_*", plan::Optimizer::kAdamW, "its projected gradients: AdamW's states are counted"},
    {"apollo_*", plan::Optimizer::kAdamW, "its projected gradients: AdamW's states are counted"},
    {"muon", plan::Optimizer::kMuon},
    {"dion", plan::Optimizer::kAdamW, "its products and its one moment: AdamW's update is counted"},
    {"lion*", plan::Optimizer::kAdamW, "its one moment: AdamW's two are counted"},
};

/// The first word of an optimizer in files of such programs.
constexpr std::string_view word_of(plan::Optimizer optimizer) {
  switch (optimizer) {
    case plan::Optimizer::kSgd: return "sgd";
    case plan::Optimizer::kAdam8bit: return "adamw_8bit";
    case plan::Optimizer::kAdafactor: return "adafactor";
    case plan::Optimizer::kMuon: return "muon";
    default: return "adamw_torch";
  }
}

/// The word of the table; nothing for an optimizer that it does not have.
const OptimizerWord* optimizer_word(std::string_view word);

}  // namespace stepwright::framework_files
