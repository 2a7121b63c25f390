#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {

/// A kernel of attention as programs on transformers call it; without one it is PyTorch's choice.
struct AttentionWord {
  std::string_view word;
  std::optional<cluster::AttentionKernel> kernel{};
};

/// huggingface/transformers src/transformers/modeling_utils.py: attn_implementation;
/// hiyouga/LLaMA-Factory src/llamafactory/extras/constants.py: AttentionFunction;
/// modelscope/ms-swift swift/arguments/base_args/model_args.py: attn_impl.
inline constexpr AttentionWord kAttentionWords[] = {
    {"auto"},
    {"sdpa"},
    {"eager", cluster::AttentionKernel::kUnfused},
    {"disabled", cluster::AttentionKernel::kUnfused},
    {"fa2", cluster::AttentionKernel::kFlash2},
    {"flash_attn", cluster::AttentionKernel::kFlash2},
    {"flash_attention_2", cluster::AttentionKernel::kFlash2},
    {"kernels-community/flash-attn2", cluster::AttentionKernel::kFlash2},
    {"fa3", cluster::AttentionKernel::kFlash3},
    {"flash_attention_3", cluster::AttentionKernel::kFlash3},
    {"kernels-community/flash-attn3", cluster::AttentionKernel::kFlash3},
};

/// Takes the kernel that a key names; any other is left out.
void take_attention(const Fields& fields, std::string_view key, std::vector<LeftOut>& left_out,
                    Draft& draft);

}  // namespace stepwright::framework_files
