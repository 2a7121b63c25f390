#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"
#include "stepwright/step/setting.h"

namespace stepwright::step {

// Operands of products narrower than 16 bits, as Transformer Engine holds them
// (`plan::Casts::kLibrary`). A product casts its input once, in the layout that the forward
// multiplies and in the one that the weight gradient multiplies, and keeps the latter alone until
// the backward (NVIDIA/TransformerEngine v2.9 transformer_engine/pytorch/module/linear.py,
// `inputmat.update_usage(rowwise_usage=False, columnwise_usage=True)`; layernorm_linear.py, which
// does the same with `ln_out`). Weights are cast with the first micro-batch of a step, in both
// layouts, and stand from then on (module/base.py, get_weight_workspace, with the cache of
// `is_first_microbatch`; NVIDIA/Megatron-LM megatron/core/extensions/transformer_engine.py). The
// gradient of a result is cast in both layouts while its products run.

/// The layouts in which each operand is held: 2 where a product can multiply only one of them, or
/// where blocks are scaled along one direction (mxfp8, nvfp4); 1 of fp8 from compute capability 10
/// on (NVIDIA/TransformerEngine transformer_engine/pytorch/utils.py,
/// is_non_tn_fp8_gemm_supported); 0 where products are not narrow, or hold none.
std::int64_t narrow_layouts(const plan::Job& job);

/// True if a parameter of a block is a factor of products in the precision of a job: all matrices
/// but those of `Product::wide` and of adapters.
bool multiplies_narrow(const LocalParameter& parameter);

/// Bytes of narrow weights beyond those of parameters in the type of storage; below 0 where
/// parameters are narrow themselves (`Kernels::narrow_parameters`) and take less. `size`: of a
/// position. Parameters that are gathered for each use have copies only where layers are those of
/// Transformer Engine, whose cache knows nothing of gathers.
std::int64_t narrow_weight_bytes(const plan::Job& job, const plan::Plan& plan,
                                 const UnitSize& size);

}  // namespace stepwright::step
