#pragma once

#include <cstdint>

#include "stepwright/core/named.h"

namespace stepwright::cluster {

/// How the attention core is computed: fused kernels keep no scores, `unfused` writes them out.
enum class AttentionKernel : std::uint8_t { kUnfused, kFlash1, kFlash2, kFlash3, kCudnn };
inline constexpr Named<AttentionKernel> kAttentionKernelNames[] = {
    {AttentionKernel::kUnfused, "unfused"},
    {AttentionKernel::kFlash1, "flash1"},
    {AttentionKernel::kFlash2, "flash2"},
    {AttentionKernel::kFlash3, "flash3"},
    {AttentionKernel::kCudnn, "cudnn"}};

}  // namespace stepwright::cluster
