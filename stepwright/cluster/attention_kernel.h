#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::cluster {

/// Kernels that compute attention. `unfused` writes the scores to memory; fused kernels do not.
/// `triton`: written in Triton, or on AMD devices PyTorch's own (AOTriton). `cudnn`: NVIDIA's fused
/// attention, or on AMD devices that of AITER and Composable Kernel.
enum class AttentionKernel : std::uint8_t { kUnfused, kFlash1, kFlash2, kFlash3, kCudnn, kTriton };
inline constexpr Named<AttentionKernel> kAttentionKernelNames[] = {
    {AttentionKernel::kUnfused, "unfused"}, {AttentionKernel::kFlash1, "flash1"},
    {AttentionKernel::kFlash2, "flash2"},   {AttentionKernel::kFlash3, "flash3"},
    {AttentionKernel::kCudnn, "cudnn"},     {AttentionKernel::kTriton, "triton"}};

}  // namespace stepwright::cluster
