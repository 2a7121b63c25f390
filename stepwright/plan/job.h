#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/cluster/attention_kernel.h"
#include "stepwright/cluster/cluster.h"
#include "stepwright/core/dtype.h"
#include "stepwright/core/named.h"
#include "stepwright/model/architecture.h"
#include "stepwright/plan/document_batch.h"
#include "stepwright/plan/plan.h"
#include "stepwright/plan/run_settings.h"
#include "stepwright/plan/space.h"
#include "stepwright/plan/training_method.h"

namespace stepwright::plan {

/// Precisions of a job: types in which matrix products read their operands. fp64 serves exact
/// comparisons in tests.
inline constexpr Named<DType> kPrecisionNames[] = {
    {DType::kFp64, "fp64"},  {DType::kFp32, "fp32"}, {DType::kFp16, "fp16"},
    {DType::kBf16, "bf16"},  {DType::kFp8, "fp8"},   {DType::kMxfp8, "mxfp8"},
    {DType::kNvfp4, "nvfp4"}};

/// Optimizers of a job; `plan/optimizer_traits.h` describes the states of each.
enum class Optimizer : std::uint8_t {
  kAdam,
  kAdamW,
  kAdamNarrow,  ///< Adam with moments in bf16 (Megatron-Core's precision-aware optimizer).
  kSgd,
  kAdam8bit,  ///< AdamW with 8-bit moments, one scale per block of elements (arXiv 2110.02861).
  /// Muon: layer matrices have one moment, which is orthogonalized; all other parameters use AdamW.
  kMuon,
  /// Adafactor: a matrix's second moment is one sum for each row and column (arXiv 1804.04235).
  kAdafactor,
};
inline constexpr Named<Optimizer> kOptimizerNames[] = {{Optimizer::kAdam, "adam"},
                                                       {Optimizer::kAdamW, "adamw"},
                                                       {Optimizer::kAdamNarrow, "adam_bf16"},
                                                       {Optimizer::kSgd, "sgd"},
                                                       {Optimizer::kAdam8bit, "adam8bit"},
                                                       {Optimizer::kMuon, "muon"},
                                                       {Optimizer::kAdafactor, "adafactor"}};

/// How tensor ranks orthogonalize a matrix that is split over them (Muon). kDuplicated: each
/// gathers the matrix and does all the work. kDistributed: each works on its shard and they sum
/// products. kBlockwise: each treats its shard as a matrix of its own (NVIDIA/Megatron-LM,
/// muon_tp_mode).
enum class MuonTensorSplit : std::uint8_t { kDuplicated, kDistributed, kBlockwise };
inline constexpr Named<MuonTensorSplit> kMuonFormNames[] = {
    {MuonTensorSplit::kDuplicated, "duplicated"},
    {MuonTensorSplit::kDistributed, "distributed"},
    {MuonTensorSplit::kBlockwise, "blockwise"}};

/// Largest number of threads per process that a file may state for optimizer updates on the host.
inline constexpr std::int64_t kMaxHostOptimizerThreads = 4096;

/// Work that a framework captures in CUDA graphs, which the host launches at once: whole steps, or
/// parts of each layer (Megatron-Core's --cuda-graph-scope: attn, mlp, moe_router).
struct CudaGraphScope {
  bool step = false;
  bool attention = false;
  bool mlp = false;     ///< True if dense MLPs are captured in CUDA graphs.
  bool router = false;  ///< True if routers and shared experts are captured in CUDA graphs.

  bool operator==(const CudaGraphScope&) const = default;
};

/// Name in job files of a layer part that CUDA graphs can capture, and its flag.
struct CudaGraphPart {
  std::string_view name;
  bool CudaGraphScope::* part;
};
inline constexpr CudaGraphPart kGraphParts[] = {{"attn", &CudaGraphScope::attention},
                                                {"mlp", &CudaGraphScope::mlp},
                                                {"moe_router", &CudaGraphScope::router}};

/// How operands of fp8 (or narrower) matrix products are scaled and cast, which decides the bytes
/// moved. kLibrary: Transformer Engine casts each operand once into both layouts, with a known
/// scale, and weights once per step. kTensorwise: each operand is cast for each product, one
/// dynamic scale per tensor. kRowwise: one scale per row, with slower products.
enum class LowPrecisionCastScaling : std::uint8_t { kLibrary, kTensorwise, kRowwise };
inline constexpr Named<LowPrecisionCastScaling> kCastScalingNames[] = {
    {LowPrecisionCastScaling::kLibrary, "library"},
    {LowPrecisionCastScaling::kTensorwise, "tensorwise"},
    {LowPrecisionCastScaling::kRowwise, "rowwise"}};

/// Master copies of 16-bit parameters for the optimizer. kBeside: fp32 copies beside the
/// parameters. kAlone: only fp32 shards, cast when gathered (if parameters are sharded like the
/// optimizer; else kBeside). kNone: updates change the parameters themselves, with moments in their
/// type.
enum class MasterWeights : std::uint8_t { kBeside, kAlone, kNone };
inline constexpr Named<MasterWeights> kMasterWeightsNames[] = {{MasterWeights::kBeside, "beside"},
                                                               {MasterWeights::kAlone, "alone"},
                                                               {MasterWeights::kNone, "none"}};

/// Tensors that a cross entropy keeps between forward and backward.
///
/// - kLogits: the logits, or what the loss computes from them.
/// - kGradients: gradients of the rows and of the head's weight, computed in the forward, one
///   weight gradient for all chunks (Liger's fused linear cross entropy).
/// - kRows: only the head's input; the backward recomputes logits chunk by chunk.
/// - kSums: the rows and each token's sum of exponentials, by kernels that never write logits (cut
///   cross entropy, arXiv 2411.09009).
/// - kTiles: as kSums, by kernels that write one tile of logits at a time and sum gradients in
///   separate fp32 tensors (TRL's fused head).
/// - kAllLogits: as kLogits, but all chunks' logits exist before the first loss, and all their
///   gradients before the first product of the backward (torchtune 0.6.1 modules/transformer.py,
///   chunked_output).
enum class LossSavedTensors : std::uint8_t {
  kLogits,
  kGradients,
  kRows,
  kSums,
  kTiles,
  kAllLogits
};
inline constexpr Named<LossSavedTensors> kLossSavedTensorsNames[] = {
    {LossSavedTensors::kLogits, "logits"}, {LossSavedTensors::kGradients, "gradients"},
    {LossSavedTensors::kRows, "rows"},     {LossSavedTensors::kSums, "sums"},
    {LossSavedTensors::kTiles, "tiles"},   {LossSavedTensors::kAllLogits, "all_logits"}};

inline constexpr std::int64_t kMostLossChunks = 1024;

/// Implementation of the cross entropy over vocabulary shards. kUnfused: three small all-reduces
/// and an fp32 copy of the logits, which becomes the softmax. kCompiled: two all-reduces, no fp32
/// copy, the gradient in a separate tensor. kNative: Megatron-Core under torch.compile, two
/// all-reduces and fp32 copies (megatron/core/fusions/fused_cross_entropy.py). kTe: Transformer
/// Engine, which overwrites logits with their gradient
/// (transformer_engine/common/triton/cross_entropy.py).
enum class CrossEntropyKernel : std::uint8_t { kUnfused, kCompiled, kNative, kTe };
inline constexpr Named<CrossEntropyKernel> kCrossEntropyNames[] = {
    {CrossEntropyKernel::kUnfused, "unfused"},
    {CrossEntropyKernel::kCompiled, "compiled"},
    {CrossEntropyKernel::kNative, "native"},
    {CrossEntropyKernel::kTe, "te"}};

/// Where token rows are multiplied by the router's probabilities. kAfter: after the experts' second
/// products, in the kernel that sums them (the results are kept for the backward). kBefore: between
/// activation and second product. kAfterRows: after the second products, by unfused kernels.
/// kAfterExact: as kAfterRows, on fp32 copies that are kept.
enum class RouterWeightPlacement : std::uint8_t { kAfter, kBefore, kAfterRows, kAfterExact };
inline constexpr Named<RouterWeightPlacement> kExpertWeightsNames[] = {
    {RouterWeightPlacement::kAfter, "after"},
    {RouterWeightPlacement::kBefore, "before"},
    {RouterWeightPlacement::kAfterRows, "after_rows"},
    {RouterWeightPlacement::kAfterExact, "after_exact"}};

/// Kernels and kernel-level behaviour of the training framework, which decide a step's operators
/// and their costs.
struct FrameworkKernels {
  cluster::AttentionKernel attention = cluster::AttentionKernel::kFlash2;
  /// True if each norm is one fused kernel; false: norms, rotary embedding and gated activation run
  /// as several unfused kernels.
  bool fused_norm = true;
  /// True if rotary embedding and gated activation are one kernel each; false: at most norms are
  /// fused.
  bool fused_activation = true;
  /// True if the kernel of a weight gradient also adds it to the step's accumulated gradient.
  bool fused_accumulation = true;
  /// True if scale, mask and softmax of unfused attention run in one kernel.
  bool fused_softmax = true;
  CrossEntropyKernel cross_entropy = CrossEntropyKernel::kUnfused;
  RouterWeightPlacement expert_weights = RouterWeightPlacement::kAfter;
  CudaGraphScope cuda_graphs = {};
  LowPrecisionCastScaling casts = LowPrecisionCastScaling::kLibrary;
  MasterWeights masters = MasterWeights::kBeside;
  /// True if the tensor ranks gather the logits and each computes the whole cross entropy in fp32.
  bool gathered_logits = false;
  /// True for PyTorch's own cross entropy in fp32, over the rank's part of the vocabulary or all of
  /// it; compiled if `cross_entropy` is kCompiled. Its logits are kept until the backward only in
  /// pipelines.
  bool plain_loss = false;
  /// True if each document of a sequence gets a separate loss from fp32 logits, by unfused kernels
  /// whose results the host waits for (`step/document_loss.h`).
  bool document_loss = false;
  /// Number of chunks into which a micro-batch's tokens are divided for the head's product and the
  /// loss; 0: enough that a chunk's logits are no larger than the head's input (`loss_chunks`,
  /// step/loss.h).
  std::int64_t loss_chunks = 1;
  LossSavedTensors loss_keeps = LossSavedTensors::kLogits;
  /// True if each tensor rank sends only its part of the activations between stages, to be gathered
  /// on arrival (Megatron-LM's scatter/gather). No effect under sequence parallelism, which splits
  /// them anyway.
  bool scattered_pipeline = false;
  /// True if more tensor ranks than key-value heads may share attention: each rank multiplies its
  /// part of the queries, keys and values of all heads, and the ranks gather the results. False:
  /// the tensor degree must divide the key-value heads.
  bool gathered_heads = false;
  /// True if gradients with a sharded optimizer are reduce-scattered; false: they are all-reduced,
  /// and each rank uses its shard of the sum.
  bool scattered_gradients = true;
  /// True if, after an update, a rank copies parameters out of the gathered buffer tensor by tensor
  /// and rank by rank.
  bool refresh_by_tensor = false;
  /// True if gradients are sent in fp32, whatever type they are accumulated in.
  bool wide_gradients = false;
  /// True if gate and up projection of a gated MLP are one product; false: two products, whose
  /// input gradients are reduced separately (except under sequence parallelism).
  bool fused_gate = true;
  /// True if queries, keys and values are one matrix product; false: three.
  bool fused_qkv = true;
  /// True if all experts of a rank are computed by one grouped matrix product; false: one product
  /// each.
  bool grouped_experts = true;
  /// True if layers are built from NVIDIA Transformer Engine's modules.
  bool transformer_engine = false;
  /// True if the attention core also multiplies in fp8 when matrix products use fp8 or a narrower
  /// type (Transformer Engine's fp8_dpa).
  bool narrow_attention = false;
  /// True if parameters are stored and gathered in fp8 (Megatron-Core's `fp8_param_gather`), so
  /// that products need no cast copies.
  bool narrow_parameters = false;
  /// True if fp32 matrix products use TF32 on devices that have it (PyTorch's
  /// torch.backends.cuda.matmul.allow_tf32, or TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 of NVIDIA's
  /// containers).
  bool tf32 = false;
  /// True if runs must be bitwise reproducible: PyTorch's deterministic algorithms, with the larger
  /// cuBLAS workspaces that they need.
  bool deterministic = false;
  /// True if the host waits for each kernel before it launches the next (CUDA_LAUNCH_BLOCKING), so
  /// that host time adds to kernel time instead of overlapping it.
  bool blocking_launches = false;

  [[nodiscard]] bool fused_loss() const { return cross_entropy != CrossEntropyKernel::kUnfused; }
};
/// All true-or-false members of `FrameworkKernels`, with their names in files.
inline constexpr Named<bool FrameworkKernels::*> kKernelFlagNames[] = {
    {&FrameworkKernels::fused_norm, "fused_norm"},
    {&FrameworkKernels::fused_activation, "fused_activation"},
    {&FrameworkKernels::fused_softmax, "fused_softmax"},
    {&FrameworkKernels::fused_accumulation, "fused_accumulation"},
    {&FrameworkKernels::gathered_logits, "gathered_logits"},
    {&FrameworkKernels::plain_loss, "plain_loss"},
    {&FrameworkKernels::document_loss, "document_loss"},
    {&FrameworkKernels::scattered_pipeline, "scattered_pipeline"},
    {&FrameworkKernels::gathered_heads, "gathered_heads"},
    {&FrameworkKernels::scattered_gradients, "scattered_gradients"},
    {&FrameworkKernels::refresh_by_tensor, "refresh_by_tensor"},
    {&FrameworkKernels::wide_gradients, "wide_gradients"},
    {&FrameworkKernels::fused_gate, "fused_gate"},
    {&FrameworkKernels::fused_qkv, "fused_qkv"},
    {&FrameworkKernels::grouped_experts, "grouped_experts"},
    {&FrameworkKernels::transformer_engine, "transformer_engine"},
    {&FrameworkKernels::narrow_attention, "narrow_attention"},
    {&FrameworkKernels::narrow_parameters, "narrow_parameters"},
    {&FrameworkKernels::tf32, "tf32"},
    {&FrameworkKernels::deterministic, "deterministic"},
    {&FrameworkKernels::blocking_launches, "blocking_launches"}};

/// The training framework that will run the plan. What it supports bounds the search
/// (`plan/frameworks/law.h`), its defaults apply where a job says nothing
/// (`plan/frameworks/defaults.h`), and its fitted constants price the step.
struct TrainingFramework {
  std::string name;          ///< One of `kFrameworkNames`; empty: no framework is chosen.
  std::string version = {};  ///< Release of the framework; empty: the newest.
  /// Name of a fork of the framework or of a program built on it; empty: the framework itself.
  std::string variant = {};

  bool operator==(const TrainingFramework&) const = default;
};
inline constexpr std::string_view kFrameworkNames[] = {
    "stepwright", "megatron-core", "megatron-lm", "megatron-deepspeed", "deepspeed",
    "nemo",       "torchtitan",    "fsdp",        "accelerate",         "nanotron",
    "maxtext",    "internevo",     "colossalai"};

enum class Routing : std::uint8_t { kBalanced, kLearned };
inline constexpr Named<Routing> kRoutingNames[] = {{Routing::kBalanced, "balanced"},
                                                   {Routing::kLearned, "learned"}};
/// How token rows are sent to their experts. kAllToAll: one copy per chosen expert; kAllGather:
/// every rank gathers all rows; kOncePerNode: a row enters each node once, however many of its
/// experts are there (DeepEP, HybridEP).
enum class TokenDispatcher : std::uint8_t { kAllToAll, kAllGather, kOncePerNode };
inline constexpr Named<TokenDispatcher> kDispatcherNames[] = {
    {TokenDispatcher::kAllToAll, "alltoall"},
    {TokenDispatcher::kAllGather, "allgather"},
    {TokenDispatcher::kOncePerNode, "once_per_node"}};

/// Goals of the tuner: shortest step, most tokens per second, or the smallest cluster that reaches
/// a target.
enum class TunerObjectiveKind : std::uint8_t { kStepTime, kThroughput, kSmallestCluster };
inline constexpr Named<TunerObjectiveKind> kObjectiveNames[] = {
    {TunerObjectiveKind::kStepTime, "step_time"},
    {TunerObjectiveKind::kThroughput, "tokens_per_s"},
    {TunerObjectiveKind::kSmallestCluster, "smallest_cluster"}};

/// Least probability of fitting in memory that a job may demand: below it, a plan is expected to
/// need more memory than there is.
inline constexpr double kMinMemoryFitConfidence = 0.5;
/// Greatest probability of fitting in memory that a job may demand: no prediction is surer.
inline constexpr double kMaxMemoryFitConfidence = 0.98;

struct Objective {
  TunerObjectiveKind kind = TunerObjectiveKind::kStepTime;
  double memory_limit_bytes = 0;  ///< Device memory that plans may use, in bytes; 0: all of it.
  /// Share of device memory that plans must leave free for uses that the prediction misses;
  /// negative: the default (`usable_memory_bytes`).
  double memory_reserve = -1;
  /// Probability of fitting in memory that plans must reach; negative: the default
  /// (`memory_fit_confidence`).
  double memory_confidence = -1;
  /// Target seconds per step for kSmallestCluster; 0: the target is `target_tokens_per_s`.
  double target_step_time_s = 0;
  double target_tokens_per_s = 0;
};

/// The training task: model, cluster, batch, precision and everything else that a user fixes before
/// a plan is made.
struct Job {
  std::string model_name;
  model::ModelArchitecture model;
  cluster::Cluster cluster;
  std::int64_t sequences = 0;  ///< Sequences in the global batch of one update.
  std::int64_t length = 0;     ///< Tokens of a sequence, padding included.
  /// Documents that are packed into the sequences; nullopt: each sequence is one document of
  /// `length` tokens.
  std::optional<PackedDocumentBatch> documents;
  DType precision = DType::kBf16;
  Optimizer optimizer = Optimizer::kAdam;
  MuonTensorSplit muon = MuonTensorSplit::kDuplicated;
  /// Threads with which each process updates optimizer states in host memory; nullopt: the
  /// framework's default.
  std::optional<std::int64_t> host_threads;
  TrainingFramework framework;
  /// Path of a training conditions file (constants fitted to whole runs); empty: the built-in ones.
  std::string conditions;
  /// Path of a profile measured on the user's own cluster; empty: there is none.
  std::string measured;
  FrameworkKernels kernels;
  /// True if the job file names an attention kernel; false: it is the framework's default.
  bool attention_stated = false;
  Routing routing = Routing::kBalanced;
  TokenDispatcher dispatcher = TokenDispatcher::kAllToAll;
  double imbalance = 1.0;  ///< Busiest expert-parallel rank's load over the mean load, at least 1.
  /// Tokens that each expert of a layer gets, from which loads are computed instead of from
  /// `imbalance`; empty: not stated.
  std::vector<double> expert_tokens;
  /// Most rows that an expert accepts, divided by the mean rows of all experts (MoE capacity
  /// factor); 0: no limit.
  double capacity_factor = 0;
  /// True if every expert's rows are padded to its capacity.
  bool pad_to_capacity = false;
  Objective objective;
  /// Training method (pretraining, DPO, GRPO, ...): the work of a step beyond the updates that the
  /// plan describes.
  TrainingMethod method;
  /// Settings of the whole run (tokens, prices, failures), which do not affect a step.
  TrainingRunSettings run;
  bool use_all = false;  ///< True if plans must use every device of the cluster.
  /// Values of each choice that the tuner may use; an empty list leaves a choice free.
  TunerSearchSpace space;
  /// Notes for users on values that were read with another meaning than written (an alias without
  /// exact equivalent, a sharding group of one).
  std::vector<std::string> notes;

  [[nodiscard]] double tokens() const {
    return static_cast<double>(sequences) * static_cast<double>(length);
  }
};

/// Returns the type in which parameters and activations are stored: the job's precision, or bf16
/// for fp8 and narrower types, in which only matrix products compute.
DType parameter_storage_type(DType precision);

/// Returns the default type in which gradients are accumulated: fp64 if parameters are stored in
/// fp64, else fp32.
DType default_accumulation_type(DType precision);

/// A plan with its job: the content of a plan file.
struct PlannedJob {
  Job job;
  Plan plan;
};

/// Returns the number of layers of each pipeline chunk, in model order: the plan's list, else
/// `even_layer_split` (plan/layer_split.h). Chunk `i` runs on pipeline rank `i % pipeline`.
std::vector<std::int64_t> layers_per_chunk(const Job& job, const Plan& plan);

inline constexpr double kLeastCapacityFactor = 0.01;
inline constexpr double kMostCapacityFactor = 1000;

/// Returns the rows that experts compute divided by the rows that routers send them: below 1 if the
/// job's capacity factor drops rows, above 1 if experts are padded to it.
double expert_capacity_row_share(const Job& job);

/// Returns `load` (busiest rank's load over the mean), limited by the job's capacity factor.
double capacity_limited_expert_load(const Job& job, double load);

/// Returns the load of the busiest of `ranks` expert-parallel ranks divided by the mean, if each
/// holds an equal run of consecutive experts; at least 1, limited by the capacity factor.
double busiest_expert_rank_load(const Job& job, std::int64_t ranks);

/// Returns the number of micro-batches that each pipeline runs in a step: sequences / (data *
/// micro_batch).
std::int64_t micro_batches_per_pipeline(const Job& job, const Plan& plan);

/// Returns an equivalent legal plan with every choice that has no effect at its default (the kind
/// of context parallelism on one rank, group sizes of unsharded states, an explicit even split,
/// rank orders that give the same grid, ...), so that equivalent plans compare equal.
Plan canonical_plan(Plan plan, const Job& job);

}  // namespace stepwright::plan
