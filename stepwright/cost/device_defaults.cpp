#include "stepwright/cost/device_defaults.h"

#include <algorithm>

namespace stepwright {
namespace {

constexpr DeviceDefaults kGenerations[] = {
    {.generation = Generation::kV100,
     .matrix_share = 0.84,
     .sustained_share = 0.88,
     .start_us = 10,
     .flash1_share = 0.30,
     .flash2_share = 0.30,
     .flash3_share = 0.30,
     .cudnn_share = 0.30,
     .network_share = 0.65},
    {.generation = Generation::kA100,
     .matrix_share = 0.84,
     .sustained_share = 0.88,
     .start_us = 10,
     .flash1_share = 0.34,
     .flash2_share = 0.62,
     .flash3_share = 0.62,
     .cudnn_share = 0.62,
     .network_share = 0.65},
    {.generation = Generation::kH100,
     .matrix_share = 0.78,
     .sustained_share = 0.88,
     .fp8_speedup = 1.93,
     .start_us = 6,
     .flash1_share = 0.18,
     .flash2_share = 0.375,
     .flash3_share = 0.655,
     .cudnn_share = 0.61,
     .network_share = 0.84},
    {.generation = Generation::kB200,
     .matrix_share = 0.66,
     .sustained_share = 0.88,
     .fp8_speedup = 1.93,
     .fp4_speedup = 3.0,
     .start_us = 4,
     .flash1_share = 0.10,
     .flash2_share = 0.16,
     .flash3_share = 0.60,
     .cudnn_share = 0.60,
     .network_share = 0.84},
};

constexpr DeviceDefaults kGeneric = {.generation = Generation::kOther,
                                     .matrix_share = 0.60,
                                     .fp8_speedup = 1.6,
                                     .fp4_speedup = 2.5,
                                     .start_us = 10,
                                     .flash1_share = 0.25,
                                     .flash2_share = 0.40,
                                     .flash3_share = 0.50,
                                     .cudnn_share = 0.50,
                                     .network_share = 0.70};

constexpr std::string_view kAssumed = "assumed, below the generations that were measured";

struct DeviceConstant {
  std::string_view name;
  double DeviceDefaults::* value;
  std::string_view unit;
  std::string_view source;
};

constexpr DeviceConstant kDeviceConstants[] = {
    {"products in 16 bits, share of peak", &DeviceDefaults::matrix_share, "",
     "one product alone: A100 .84 and GH200 .78 in the operator tables of arXiv 2509.22832, H100 "
     ".74 hot (data/operators/h100_sxm_80g_kernels.csv), B200 .66 in the GEMM tables of "
     "aiconfigurator; V100 assumed as A100"},
    {"products in a running job, over the rate of one alone", &DeviceDefaults::sustained_share, "",
     "assumed, the same for all; what a device keeps of it is product_rate of the conditions of "
     "training"},
    {"products in fp8 over those in 16 bits", &DeviceDefaults::fp8_speedup, "",
     "measured here on one H100 without casts (data/operators/h100_sxm_80g_kernels.csv); B200 has "
     "the same ratio of peaks"},
    {"products in nvfp4 over those in 16 bits", &DeviceDefaults::fp4_speedup, "",
     "assumed: 4 by the peaks, less two levels of scales"},
    {"start of a product", &DeviceDefaults::start_us, "us",
     "between the GEMM tables of aiconfigurator (A100 10-20, H100 and B200 4-8) and arXiv "
     "2509.22832 "
     "(A100 16, GH200 11; twice that backward), less the launch gap"},
    {"FlashAttention-1 forward, share of peak", &DeviceDefaults::flash1_share, "",
     "FlashAttention-2 paper, forward and backward together: .26-.31 on A100, .14-.16 on H100; "
     "over .89 for the forward alone (its backward runs at .85 of the rate); the upper end, as for "
     "long sequences"},
    {"FlashAttention-2 forward, share of peak", &DeviceDefaults::flash2_share, "",
     "operator tables of arXiv 2509.22832: .61 on A100; FlashAttention-3 paper: .36 on H100; on "
     "B200 "
     "assumed the absolute rate of H100"},
    {"FlashAttention-3 forward, share of peak", &DeviceDefaults::flash3_share, "",
     "FlashAttention-3 paper: .64 on H100; elsewhere what the generation's best kernel reaches"},
    {"cuDNN attention forward, share of peak", &DeviceDefaults::cudnn_share, "",
     "FlashAttention-3 paper: .57-.62 on H100; B200 assumed as H100, others as their best kernel"},
    {"NICs, share of the line rate", &DeviceDefaults::network_share, "",
     "nccl-tests: A100 with HDR .62, H100 with NDR .80-.90; Omni-Path only .46"},
};

}  // namespace

const DeviceDefaults& defaults_of(Generation generation) {
  const auto found = std::ranges::find(kGenerations, generation, &DeviceDefaults::generation);
  return found == std::ranges::end(kGenerations) ? kGeneric : *found;
}

double attention_share(const DeviceDefaults& defaults, AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::kFlash1: return defaults.flash1_share;
    case AttentionKernel::kFlash2: return defaults.flash2_share;
    case AttentionKernel::kFlash3: return defaults.flash3_share;
    case AttentionKernel::kCudnn: return defaults.cudnn_share;
    case AttentionKernel::kUnfused: break;
  }
  return constants::kUnfusedAttentionShare.value;
}

std::vector<Constant> listed(const DeviceDefaults& defaults) {
  std::vector<Constant> list;
  for (const DeviceConstant& quantity : kDeviceConstants) {
    const double value = defaults.*quantity.value;
    if (value == 1) continue;  // a speed-up that the generation does not have
    const bool known = &defaults != &kGeneric;
    list.push_back({quantity.name, value, quantity.unit, known ? quantity.source : kAssumed});
  }
  return list;
}

}  // namespace stepwright
