#pragma once

#include <string_view>

namespace stepwright::cost {

/// A documented constant of the cost model for devices without fitted measurements, with its public
/// source.
struct DocumentedConstant {
  std::string_view name;
  double value = 0;
  /// Unit of the value: "us", "ns", "rows" or "keys"; "": a ratio or a count.
  std::string_view unit;
  std::string_view source;
};

namespace constants {

// Constants of computations.
inline constexpr DocumentedConstant kMemoryShare{
    "memory bandwidth, share of peak", 0.80, "",
    "operator tables of arXiv 2509.22832: residual add .83 on A100, .89 on GH200; GELU .70, .61"};
inline constexpr DocumentedConstant kHostLinkShare{
    "bandwidth of a device's link to its host, share of its line rate", 0.87, "",
    "measured by this project on H200, pinned copies of 256 MiB over PCIe 5.0: .868 each way, .77 "
    "both at once"};
inline constexpr DocumentedConstant kHostUpdateShare{
    "memory bandwidth of a host's Adam, share of the peak of its memory", 0.43, "",
    "arXiv 2101.06840, table 4: 10 billion parameters of 28 bytes in 2.57 s on 12 channels of "
    "DDR4-2666, 256 GB/s"};
inline constexpr DocumentedConstant kHostUpdateThread{
    "time of a thread of a host for Adam on a parameter", 2.45, "ns",
    "measured by this project on the host of an H200, 268 million fp32 parameters: 82 ms with 8 "
    "threads; on that of an H100 2.0 billion of bf16 in 0.29 s with 16, 2.3 ns"};
/// Bytes of host memory that an fp32 Adam update moves per parameter: gradient, parameter and two
/// moments; `kHostUpdateThread` is its time. Other passes over gradients cost as much per byte
/// (this project, one thread of an AMD EPYC, fp32: Adam .56 ns, a product .16 for 8 bytes, a norm
/// .14 for 4).
inline constexpr double kHostAdamBytesPerParameter = 28;
inline constexpr DocumentedConstant kNormShare{
    "memory bandwidth of fused norms, share of peak", 0.60, "",
    "operator tables of arXiv 2509.22832: LayerNorm .51 on A100, "
    ".55 on GH200; newer kernels above"};
inline constexpr DocumentedConstant kEmbeddingShare{
    "memory bandwidth of embedding look-ups, share of peak", 0.20, "",
    "operator tables of arXiv 2509.22832: .14 on A100, .42 on GH200"};
inline constexpr DocumentedConstant kLayoutShare{
    "memory bandwidth of copies that change the layout of gathered rows, share of peak", 0.5, "",
    "pytorch/torchtitan pull request 437: two of 134 MB moved in .18 ms on an H100, whose memory "
    "has 2.4 TB/s there or 3.35"};
inline constexpr DocumentedConstant kUnfusedNormForward{
    "traffic of an unfused norm over a fused one, forward", 4.5, "",
    "operator tables of arXiv 2509.22832, unfused RMSNorm: 3.9 on A100, 5.2 on GH200"};
inline constexpr DocumentedConstant kUnfusedNormBackward{
    "traffic of an unfused norm over a fused one, backward", 9.5, "",
    "operator tables of arXiv 2509.22832, unfused RMSNorm: 9.3 on A100, 10 on GH200"};
inline constexpr DocumentedConstant kUnfusedRotaryForward{
    "traffic of an unfused rotary embedding over a fused one, forward", 5.5, "",
    "operator tables of arXiv 2509.22832: 4.5 on A100, 6.9 on GH200"};
inline constexpr DocumentedConstant kUnfusedRotaryBackward{
    "traffic of an unfused rotary embedding over a fused one, backward", 11, "",
    "operator tables of arXiv 2509.22832: 10.7 on A100, 11.6 on GH200"};
inline constexpr DocumentedConstant kUnfusedActivation{
    "traffic of an unfused gated activation over a fused one", 1.8, "",
    "counted: 10 bytes for 6 forward, 20 for 10 backward, in 16 bits"};
inline constexpr DocumentedConstant kUnfusedSoftmax{
    "traffic of an unfused softmax over a fused one", 5, "",
    "counted: scale 4, mask 4, cast to fp32 6 and softmax 6 "
    "bytes a score, where one kernel moves 4"};
inline constexpr DocumentedConstant kUnfusedWideSoftmaxForward{
    "traffic of an unfused softmax over a fused one, in fp32, forward", 2, "",
    "counted in Megatron-LM fused_softmax.py, forward_torch_softmax: mask and softmax 8 bytes a "
    "score each, where one kernel moves 8"};
inline constexpr DocumentedConstant kUnfusedWideSoftmaxBackward{
    "traffic of an unfused softmax over a fused one, in fp32, backward", 2.33, "",
    "counted: softmax 12 bytes a score, a copy 8 and its mask 8, where one kernel moves 12; "
    "pytorch/pytorch aten/src/ATen/native/TensorAdvancedIndexing.cpp, masked_fill: clone, then "
    "masked_fill_"};
inline constexpr DocumentedConstant kUnfusedKernels{
    "kernels of an unfused norm, rotary embedding, softmax or gated activation", 6, "", "counted"};
inline constexpr DocumentedConstant kRouterKernels{
    "kernels of a router's choice", 8, "", "counted: scores, top-k, masks, counts, auxiliary loss"};
inline constexpr DocumentedConstant kSortKernels{
    "kernels of a permutation, an exchange or a pass of the loss", 3, "", "counted"};
inline constexpr DocumentedConstant kAttentionKernels{
    "kernels of a fused attention forward", 2, "",
    "assumed: the kernel, and one that lays out what goes in"};
inline constexpr DocumentedConstant kAttentionBackwardKernels{
    "kernels of a fused attention backward", 3, "",
    "counted in FlashAttention-2: sums over rows, gradients, conversion of the queries' gradient"};
inline constexpr DocumentedConstant kProductCasts{"casts of a product narrower than 16 bits", 2, "",
                                                  "counted: one of each operand"};
inline constexpr DocumentedConstant kRowwiseRate{
    "rate of forward products scaled by rows, over that of products scaled by tensors", 0.9, "",
    "pytorch/pytorch#147971: CUTLASS where others are cuBLAS, most shapes 90 to 100 %, some 50"};
inline constexpr DocumentedConstant kTransposedCast{
    "share of its memory rate that a cast keeps which writes rows as columns", 0.64, "",
    "pytorch/pytorch#133242: 1.4 TB/s on an H100 where other casts reach 2.2"};
inline constexpr DocumentedConstant kIdlePower{
    "power of a board that its clock does not change, of its generation's limit", 0.18, "",
    "data/power_h100.csv: idle 126.5 W of 700 W"};
inline constexpr DocumentedConstant kPowerExponent{
    "exponent of a power-bound clock in the power that is left to it", 0.5, "",
    "between 1/3, where voltage follows the clock (power C V^2 f), and 1, where it is at its "
    "floor"};
inline constexpr DocumentedConstant kFreeClock{
    "share of the peak that products keep where no limit of power binds, over that under the usual "
    "limit",
    1.35, "", "data/power_h100.csv: 1,359 MHz under 700 W, 1,830 MHz of the peak"};
inline constexpr DocumentedConstant kLibraryLaunch{
    "issue of a cast or of an expert's product by a library, over that of an operator", 0.25, "",
    "assumed: compiled code, not the framework's"};
inline constexpr DocumentedConstant kLoopKernels{
    "kernels beside each product of an expert in a loop over experts", 4, "",
    "counted in huggingface/transformers v4.57 src/transformers/models/qwen3_moe/"
    "modeling_qwen3_moe.py, Qwen3MoeSparseMoeBlock: rows found and gathered, gate, weights, sum; "
    "eleven beside three products"};
inline constexpr DocumentedConstant kFetchCalls{
    "calls of PyTorch that fetch and release the sharded parameters of one module of an expert, "
    "which no trace of earlier steps foresees",
    17, "",
    "counted in deepspeedai/DeepSpeed deepspeed/runtime/zero, fetch_sub_module, "
    "all_gather_coalesced, release_sub_module and the hooks of a module: two functions of "
    "autograd, a buffer, two views, a gather, two changes of stream, four events, waits, a "
    "release"};
inline constexpr DocumentedConstant kModuleFetch{
    "host time of fetching and releasing the sharded parameters of one module, forward", 160, "us",
    "measured by this project, DeepSpeed 0.19.8 and PyTorch 2.13 on a core of an AMD EPYC, one "
    "rank, 200 small linear modules: 153 to 174 us of processor time beside 6 of the module "
    "itself"};
inline constexpr DocumentedConstant kModuleFetchBackward{
    "host time of fetching and releasing the sharded parameters of one module, backward", 240, "us",
    "the same measurement: 224 to 252 us, with the hook that reduces the module's gradient"};
inline constexpr DocumentedConstant kModuleHooks{
    "host time of the hooks of a module without sharded parameters, forward", 111, "us",
    "measured by this project, DeepSpeed 0.19.8 and PyTorch 2.13 on a core of an AMD EPYC, one "
    "rank, 200 modules without parameters: 111 us of processor time beside 5 of the module itself"};
inline constexpr DocumentedConstant kModuleHooksBackward{
    "host time of the hooks of a module without sharded parameters, backward", 57, "us",
    "the same measurement: 57 to 63 us"};
inline constexpr DocumentedConstant kHookedModules{
    "modules without sharded parameters of an attention or of an MLP, with its norm", 3, "",
    "counted in huggingface/transformers src/transformers/models/llama/modeling_llama.py: "
    "LlamaDecoderLayer, LlamaAttention, LlamaMLP, act_fn, two norms, whose weights stay whole"};
inline constexpr DocumentedConstant kTransposedTf32{
    "rate on Hopper of products in TF32 with an operand across the inner dimension, over others",
    0.63, "",
    "PTX ISA: wgmma transposes 16 bits alone; arXiv 2402.13499: mma.sync attains 62.9% of the "
    "peak"};
inline constexpr DocumentedConstant kWideShare{"products in fp32 and fp64, share of peak", 0.70, "",
                                               "assumed"};
inline constexpr DocumentedConstant kGroupedShare{
    "grouped products, share of the rate of plain ones", 0.85, "",
    "grouped GEMM table of SimuMax (A100, B200), DeepGEMM README (H800): .72-.95"};
inline constexpr DocumentedConstant kGroupedPadding{
    "rows of padding per expert in a grouped product", 128, "rows",
    "half a tile of 256; the same tables, 128 to 9,832 rows per expert"};
inline constexpr DocumentedConstant kAtomicSumShare{
    "elements that scatter_add adds atomically, per FLOP of the fp32 vector peak", 7.2e-4, "",
    "flagos-ai/FlagGems pull request 4502, PyTorch on an H20 (44 TFLOP/s): 4096 x 4096 in fp16 "
    ".546 ms, 1024 x 65536 2.07 ms; in fp32 a seventh less"};
inline constexpr DocumentedConstant kOuterProductShare{
    "elements of outer products that torch.bmm writes, per FLOP of the fp32 vector peak", 3.5e-3,
    "",
    "pytorch/pytorch pull request 179082, a GPU on which another kernel moves 7.1 TB/s (B200): "
    "65536 x 8 x 1 by 1 x 2048 in fp16 4.03 ms"};
inline constexpr DocumentedConstant kUnfusedAttentionShare{
    "products of unfused attention, share of peak", 0.36, "",
    "operator tables of arXiv 2509.22832: .30-.45 on A100, .34-.38 on GH200"};
inline constexpr DocumentedConstant kScanShare{
    "products of a scan in chunks, over the fp32 peak: decays and masks of each element bound them",
    1.0, "",
    "measured by this project on H200 (data/operators/h200_sxm_scans.csv): Mamba-2 forward 1.15, "
    "backward .99, gated delta net forward .81"};
inline constexpr DocumentedConstant kAttentionBackward{
    "rate of a long fused attention backward over its forward", 0.9, "",
    "data/operators/h100_sxm_80g_kernels.csv, cuDNN and FlashAttention-2: .9"};
inline constexpr DocumentedConstant kAttentionBackwardStarts{
    "starts of a fused attention backward for each of its forward", 2.5, "",
    "the same samples: 2.3-2.6, as three kernels run"};
inline constexpr DocumentedConstant kAttentionBackwardKeys{
    "further keys per query whose time a fused attention backward adds", 150, "keys",
    "the same samples: 200 with cuDNN, 100 with FlashAttention-2"};
inline constexpr DocumentedConstant kAttentionBackwardMasked{
    "keys per query that cut tiles cost a backward for each of the forward", 2, "",
    "the same samples: 2 with cuDNN, 1.5 with FlashAttention-2"};
inline constexpr DocumentedConstant kAttentionKeys{
    "keys per query whose time a fused attention adds", 80, "keys",
    "FlashAttention-2 and -3 papers, no mask: .84-.95 of the long rate at 512 to 1,024 keys"};
inline constexpr DocumentedConstant kMaskedKeys{
    "further keys per query where the mask cuts tiles", 160, "keys",
    "FlashAttention-2 and -3 papers, causal: .65-.71 of the long "
    "rate at 1,024 tokens, .8 at 2,048"};
inline constexpr DocumentedConstant kHeadDimension{
    "head dimension d gives d / (d + this) of the attention rate, 128 gives all", 16, "",
    "FlashAttention-2 and -3 papers: .87-.91 at 64, 1 at 128 and 256"};
inline constexpr DocumentedConstant kLaunch{"launch gap of a kernel", 3, "us",
                                            "assumed; host not modelled"};
inline constexpr DocumentedConstant kTensorCopy{
    "time of a host for one copy of a rank's part of a tensor, with its views", 5, "us",
    "an operator of PyTorch outside of autograd"};
inline constexpr DocumentedConstant kGraphLaunch{"launch gap of a kernel in a CUDA graph", 1, "us",
                                                 "assumed"};

// Constants of the stated error.
inline constexpr DocumentedConstant kUnstatedLoad{
    "load of the busiest expert rank over the mean that an unstated balance may reach", 1.5, "",
    "assumed: what is trained with an auxiliary loss has 1.1 to 1.3, fine-tuning and the first "
    "steps more"};
}  // namespace constants

}  // namespace stepwright::cost
