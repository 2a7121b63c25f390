#pragma once

#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright {

/// An optimizer as transformers and programs on it call it, and what a plan leaves out of it.
struct OptimizerWord {
  std::string_view word;  ///< With `*` at the end, all that begin so.
  Optimizer optimizer = Optimizer::kAdamW;
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
    {"sgd", Optimizer::kSgd},
    {"adamw_torch_8bit", Optimizer::kAdam8bit},
    {"adamw_bnb_8bit", Optimizer::kAdam8bit},
    {"adamw_8bit", Optimizer::kAdam8bit},
    {"ao_adamw_8bit", Optimizer::kAdam8bit},
    {"ao_adamw_fp8", Optimizer::kAdam8bit},
    {"adamw_torch_4bit", Optimizer::kAdamW, "moments of 4 bits: AdamW's of fp32 are counted"},
    {"ao_adamw_4bit", Optimizer::kAdamW, "moments of 4 bits: AdamW's of fp32 are counted"},
    {"paged_adamw_8bit", Optimizer::kAdam8bit, "paging of its states to the host"},
    {"paged_*", Optimizer::kAdamW,
     "paging of its states to the host and their width: AdamW's of fp32 are counted"},
    {"adafactor", Optimizer::kAdafactor},
    {"galore_*", Optimizer::kAdamW, "its projected gradients: AdamW's states are counted"},
    {"q_galore_*", Optimizer::kAdamW, "its projected gradients: AdamW's states are counted"},
    {"apollo_*", Optimizer::kAdamW, "its projected gradients: AdamW's states are counted"},
    {"muon", Optimizer::kMuon},
    {"dion", Optimizer::kAdamW, "its products and its one moment: AdamW's update is counted"},
    {"lion*", Optimizer::kAdamW, "its one moment: AdamW's two are counted"},
};

/// The first word of an optimizer in files of such programs.
constexpr std::string_view word_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd: return "sgd";
    case Optimizer::kAdam8bit: return "adamw_8bit";
    case Optimizer::kAdafactor: return "adafactor";
    case Optimizer::kMuon: return "muon";
    default: return "adamw_torch";
  }
}

/// The word of the table; nothing for an optimizer that it does not have.
const OptimizerWord* optimizer_word(std::string_view word);

}  // namespace stepwright
