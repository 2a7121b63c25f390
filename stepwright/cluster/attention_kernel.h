#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::cluster {

/// How the attention core is computed: fused kernels keep no scores, `unfused` writes them out.
/// `triton`: kernels written in Triton, as PyTorch's own are on AMD's devices (AOTriton). `cudnn`:
/// the fused attention of the vendor's library, there that of AITER and Composable Kernel.
enum class AttentionKernel : std::uint8_t { kUnfused, kFlash1, kFlash2, kFlash3, kCudnn, kTriton };
inline constexpr Named<AttentionKernel> kAttentionKernelNames[] = {
    {AttentionKernel::kUnfused, "unfused"}, {AttentionKernel::kFlash1, "flash1"},
    {AttentionKernel::kFlash2, "flash2"},   {AttentionKernel::kFlash3, "flash3"},
    {AttentionKernel::kCudnn, "cudnn"},     {AttentionKernel::kTriton, "triton"}};

}  // namespace stepwright::cluster
