#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/setting.h"

namespace stepwright::step {

// Operands of products narrower than 16 bits, as Transformer Engine stores them
// (`plan::LowPrecisionCastScaling::kLibrary`). A product casts its input once into two layouts, one
// for the forward and one for the weight gradient, and keeps only the second until the backward
// (NVIDIA/TransformerEngine v2.9 transformer_engine/pytorch/module/linear.py,
// `inputmat.update_usage(rowwise_usage=False, columnwise_usage=True)`; layernorm_linear.py, which
// does the same with `ln_out`). Weights are cast into both layouts at the first micro-batch of a
// step and stay in memory (module/base.py, get_weight_workspace, with the cache of
// `is_first_microbatch`; NVIDIA/Megatron-LM megatron/core/extensions/transformer_engine.py). The
// gradient of a result is cast into both layouts for as long as its products run.

/// Returns the number of layouts in which operands of narrow products (fp8, mxfp8, nvfp4) are
/// stored: 2 if a product can multiply only one of the layouts, or if blocks are scaled along one
/// direction (mxfp8, nvfp4); 1 for fp8 from compute capability 10 on (NVIDIA/TransformerEngine
/// transformer_engine/pytorch/utils.py, is_non_tn_fp8_gemm_supported); 0 if products are not narrow
/// or store no narrow operands.
std::int64_t low_precision_operand_layout_count(const plan::Job& job);

/// True if products multiply this parameter in the job's narrow precision (fp8 or less): true for
/// all matrices except a few such as head, router and adapters.
bool is_multiplied_in_low_precision(const RankLocalParameter& parameter);

/// Returns the bytes that narrow (fp8 or smaller) copies of weights add to parameters in the type
/// of storage; negative if parameters are themselves stored narrow and take less. `size`:
/// parameters of a pipeline stage. Parameters that are gathered for each use have copies only if
/// layers are Transformer Engine's, whose cache does not know about gathers.
std::int64_t low_precision_weight_copy_bytes(const plan::Job& job, const plan::Plan& plan,
                                             const ModelBlockParameterCounts& size);

}  // namespace stepwright::step
