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

/// Precisions of a job: the type of the operands of matrix products. fp64 is for proofs.
inline constexpr Named<DType> kPrecisionNames[] = {
    {DType::kFp64, "fp64"},  {DType::kFp32, "fp32"}, {DType::kFp16, "fp16"},
    {DType::kBf16, "bf16"},  {DType::kFp8, "fp8"},   {DType::kMxfp8, "mxfp8"},
    {DType::kNvfp4, "nvfp4"}};

/// Optimizers; `plan/optimizer_traits.h` has a row for each.
enum class Optimizer : std::uint8_t {
  kAdam,
  kAdamW,
  kAdamNarrow,  ///< Adam with moments in bf16 (Megatron-Core's precision-aware optimizer).
  kSgd,
  kAdam8bit,  ///< Moments of 8 bits, with one scale for each block of them (2110.02861).
  /// Matrices of layers have one moment, which is orthogonalized; other parameters use AdamW.
  kMuon,
  /// Adafactor: the second moment of a matrix is one sum for each row and each column (1804.04235).
  kAdafactor,
};
inline constexpr Named<Optimizer> kOptimizerNames[] = {{Optimizer::kAdam, "adam"},
                                                       {Optimizer::kAdamW, "adamw"},
                                                       {Optimizer::kAdamNarrow, "adam_bf16"},
                                                       {Optimizer::kSgd, "sgd"},
                                                       {Optimizer::kAdam8bit, "adam8bit"},
                                                       {Optimizer::kMuon, "muon"},
                                                       {Optimizer::kAdafactor, "adafactor"}};

/// How tensor ranks orthogonalize a matrix that is split over them. kDuplicated: each gathers the
/// matrix and does all the work. kDistributed: each works on its shard, and they sum the products
/// of columns. kBlockwise: each treats its shard as a matrix of its own (NVIDIA/Megatron-LM,
/// muon_tp_mode).
enum class MuonForm : std::uint8_t { kDuplicated, kDistributed, kBlockwise };
inline constexpr Named<MuonForm> kMuonFormNames[] = {{MuonForm::kDuplicated, "duplicated"},
                                                     {MuonForm::kDistributed, "distributed"},
                                                     {MuonForm::kBlockwise, "blockwise"}};

/// Largest number of host threads per process that a file may state.
inline constexpr std::int64_t kMostHostThreads = 4096;

/// The work that the framework captures in CUDA graphs, which the host launches at once: a whole
/// step, or parts of each layer (Megatron-Core's --cuda-graph-scope: attn, mlp, moe_router).
struct CudaGraphs {
  bool step = false;
  bool attention = false;
  bool mlp = false;     ///< True if the dense MLP is captured.
  bool router = false;  ///< True if the router and the shared experts are captured.

  bool operator==(const CudaGraphs&) const = default;
};

/// A layer part that CUDA graphs capture, as job files call it.
struct GraphPart {
  std::string_view name;
  bool CudaGraphs::* part;
};
inline constexpr GraphPart kGraphParts[] = {{"attn", &CudaGraphs::attention},
                                            {"mlp", &CudaGraphs::mlp},
                                            {"moe_router", &CudaGraphs::router}};

/// How operands of a narrow product are scaled and cast, which decides the bytes moved. kLibrary:
/// kernels of Transformer Engine cast each operand once, into both layouts and with a known scale,
/// and weights once per step. kTensorwise: each operand is cast for each of the three products,
/// with one dynamic scale per tensor. kRowwise: as kTensorwise with one scale per row, for which
/// products are slower.
enum class CastScaling : std::uint8_t { kLibrary, kTensorwise, kRowwise };
inline constexpr Named<CastScaling> kCastScalingNames[] = {{CastScaling::kLibrary, "library"},
                                                           {CastScaling::kTensorwise, "tensorwise"},
                                                           {CastScaling::kRowwise, "rowwise"}};

/// The values with which updates compute if parameters are stored in 16 bits. kBeside: fp32 copies
/// in the optimizer. kAlone: if parameters are sharded as the optimizer is, only fp32 shards exist,
/// which are cast when gathered; otherwise as kBeside. kNone: the parameters themselves, with
/// moments in the same type.
enum class MasterWeights : std::uint8_t { kBeside, kAlone, kNone };
inline constexpr Named<MasterWeights> kMasterWeightsNames[] = {{MasterWeights::kBeside, "beside"},
                                                               {MasterWeights::kAlone, "alone"},
                                                               {MasterWeights::kNone, "none"}};

/// Tensors that a loss, or each chunk of one, keeps between its forward and its backward. kLogits:
/// its logits, or what a loss computes from them. kGradients: its forward already computes the
/// gradients of its rows and of the head's weight, one weight gradient for all chunks (Liger's
/// fused linear cross entropy). kRows: only the head's input, from which the backward recomputes
/// logits chunk by chunk. kSums: the rows and the sum of each token's exponentials, by kernels that
/// never write logits (cut cross entropy, arXiv 2411.09009). kTiles: as kSums, by kernels that
/// write one tile of logits at a time, and sum gradients in fp32 in addition to the step's (TRL's
/// fused head). kAllLogits: as kLogits, but the head multiplies all chunks before the first loss,
/// and the backward computes the gradients of all logits before it multiplies any (torchtune 0.6.1
/// modules/transformer.py, chunked_output).
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

/// The kernels of a cross entropy. kUnfused: three small all-reduces and one fp32 copy of the
/// logits, which becomes the softmax. kCompiled: two all-reduces, no fp32 copy, and the gradient in
/// a tensor of its own. kNative: Megatron-Core's functions under torch.compile, with two
/// all-reduces and copies in fp32 (megatron/core/fusions/fused_cross_entropy.py). kTe: Transformer
/// Engine's kernel, which overwrites the logits with their gradient
/// (transformer_engine/common/triton/cross_entropy.py).
enum class CrossEntropy : std::uint8_t { kUnfused, kCompiled, kNative, kTe };
inline constexpr Named<CrossEntropy> kCrossEntropyNames[] = {{CrossEntropy::kUnfused, "unfused"},
                                                             {CrossEntropy::kCompiled, "compiled"},
                                                             {CrossEntropy::kNative, "native"},
                                                             {CrossEntropy::kTe, "te"}};

/// Where experts' rows are multiplied by the router's probabilities. kAfter: with the results of
/// the second products, in the kernel that sums them; the results stay in memory until the
/// backward, for the probabilities' gradient. kBefore: with the activations before the second
/// products. kAfterRows: with the results, by unfused kernels. kAfterExact: as kAfterRows, on fp32
/// copies of the results, which stay in memory.
enum class ExpertWeights : std::uint8_t { kAfter, kBefore, kAfterRows, kAfterExact };
inline constexpr Named<ExpertWeights> kExpertWeightsNames[] = {
    {ExpertWeights::kAfter, "after"},
    {ExpertWeights::kBefore, "before"},
    {ExpertWeights::kAfterRows, "after_rows"},
    {ExpertWeights::kAfterExact, "after_exact"}};

/// Kernels that the training framework uses; they select operators and cost constants.
struct Kernels {
  cluster::AttentionKernel attention = cluster::AttentionKernel::kFlash2;
  /// True if norms, rotary embedding and gated activation are one kernel each.
  bool fused_norm = true;
  /// True if rotary and gated activation are one kernel each; false: only norms are.
  bool fused_activation = true;
  /// True if products add their weight gradient to the step's sum in the same kernel.
  bool fused_accumulation = true;
  /// True if scale, mask and softmax of unfused attention run in one kernel.
  bool fused_softmax = true;
  CrossEntropy cross_entropy = CrossEntropy::kUnfused;
  ExpertWeights expert_weights = ExpertWeights::kAfter;
  CudaGraphs cuda_graphs = {};
  CastScaling casts = CastScaling::kLibrary;
  MasterWeights masters = MasterWeights::kBeside;
  /// True for a plain cross entropy: the head's output is gathered over the tensor ranks, and each
  /// of them computes the whole loss in fp32.
  bool gathered_logits = false;
  /// True for PyTorch's own cross entropy in fp32, over the rank's own share of the vocabulary or
  /// over all of it. Only pipelines hold its logits until the backward. It is compiled if
  /// `cross_entropy` is.
  bool plain_loss = false;
  /// True if the loss of each document of a sequence is computed separately from fp32 logits, by
  /// unfused kernels whose results the host waits for (`step/document_loss.h`).
  bool document_loss = false;
  /// Number of consecutive chunks of a micro-batch's tokens for which the head's product and the
  /// loss are computed; 0: enough chunks that the logits of one are no larger than the rows
  /// (`loss_chunks`, step/loss.h).
  std::int64_t loss_chunks = 1;
  LossSavedTensors loss_keeps = LossSavedTensors::kLogits;
  /// True if each tensor rank sends a part of the activations between stages, which are gathered on
  /// arrival (Megatron-LM's scatter/gather); under sequence parallelism they are split anyway.
  bool scattered_pipeline = false;
  /// True if ranks reduce-scatter gradients whose optimizer is sharded; false: they all-reduce
  /// them, and each uses its shard of the sum.
  bool scattered_gradients = true;
  /// True if a rank copies each tensor's shard of each rank out of the buffer gathered after an
  /// update.
  bool refresh_by_tensor = false;
  /// True if gradients are sent in fp32, whatever type they are summed in.
  bool wide_gradients = false;
  /// True if both halves of a gated MLP are one product; false: two products, whose gradients of
  /// the input are reduced separately (except under sequence parallelism).
  bool fused_gate = true;
  bool fused_qkv = true;  ///< True if queries, keys and values are one product; false: three.
  /// True if the experts of a rank are one grouped product; false: one product each.
  bool grouped_experts = true;
  bool transformer_engine = false;  ///< True if layers are NVIDIA Transformer Engine's.
  /// True if the attention core multiplies in fp8 where products do, or in a narrower type (fp8_dpa
  /// of Transformer Engine).
  bool narrow_attention = false;
  /// True if parameters are stored in the narrow type of products (`fp8_param_gather` of
  /// Megatron-Core), so that they need no narrow copies.
  bool narrow_parameters = false;
  /// True if fp32 products round their operands to TF32 on devices that have it (allow_tf32 of
  /// PyTorch's torch.backends.cuda.matmul, or TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 of NVIDIA's
  /// containers).
  bool tf32 = false;
  /// True for bitwise equal runs: PyTorch's deterministic algorithms, for which cuBLAS gets the
  /// large workspaces that they need.
  bool deterministic = false;
  /// True if the host waits for each kernel before it issues the next (CUDA_LAUNCH_BLOCKING of
  /// CUDA's driver), so that its time adds to the kernels' instead of overlapping them.
  bool blocking_launches = false;

  [[nodiscard]] bool fused_loss() const { return cross_entropy != CrossEntropy::kUnfused; }
};
/// Kernel flags that are true or false, with their names in files.
inline constexpr Named<bool Kernels::*> kKernelFlags[] = {
    {&Kernels::fused_norm, "fused_norm"},
    {&Kernels::fused_activation, "fused_activation"},
    {&Kernels::fused_softmax, "fused_softmax"},
    {&Kernels::fused_accumulation, "fused_accumulation"},
    {&Kernels::gathered_logits, "gathered_logits"},
    {&Kernels::plain_loss, "plain_loss"},
    {&Kernels::document_loss, "document_loss"},
    {&Kernels::scattered_pipeline, "scattered_pipeline"},
    {&Kernels::scattered_gradients, "scattered_gradients"},
    {&Kernels::refresh_by_tensor, "refresh_by_tensor"},
    {&Kernels::wide_gradients, "wide_gradients"},
    {&Kernels::fused_gate, "fused_gate"},
    {&Kernels::fused_qkv, "fused_qkv"},
    {&Kernels::grouped_experts, "grouped_experts"},
    {&Kernels::transformer_engine, "transformer_engine"},
    {&Kernels::narrow_attention, "narrow_attention"},
    {&Kernels::narrow_parameters, "narrow_parameters"},
    {&Kernels::tf32, "tf32"},
    {&Kernels::deterministic, "deterministic"},
    {&Kernels::blocking_launches, "blocking_launches"}};

/// The framework that will run the plan. What it runs bounds the search (`plan/frameworks/law.h`),
/// its defaults apply if a job is silent (`plan/frameworks/defaults.h`), and it selects cost
/// constants.
struct Framework {
  std::string name;          ///< One of `kFrameworkNames`; empty: any of them.
  std::string version = {};  ///< Release of the framework; empty: the newest.
  /// A fork of the framework, or a program built on it, that its file names; empty: the framework
  /// itself.
  std::string variant = {};

  bool operator==(const Framework&) const = default;
};
inline constexpr std::string_view kFrameworkNames[] = {
    "stepwright", "megatron-core", "megatron-lm", "megatron-deepspeed", "deepspeed",
    "nemo",       "torchtitan",    "fsdp",        "accelerate",         "nanotron",
    "maxtext",    "internevo",     "colossalai"};

enum class Routing : std::uint8_t { kBalanced, kLearned };
inline constexpr Named<Routing> kRoutingNames[] = {{Routing::kBalanced, "balanced"},
                                                   {Routing::kLearned, "learned"}};
/// How rows are sent to their experts. kAllToAll: an exchange of every copy; kAllGather: a gather
/// of all rows; kOncePerNode: an exchange in which a row enters each node once, however many of its
/// experts are there (DeepEP, HybridEP).
enum class Dispatcher : std::uint8_t { kAllToAll, kAllGather, kOncePerNode };
inline constexpr Named<Dispatcher> kDispatcherNames[] = {
    {Dispatcher::kAllToAll, "alltoall"},
    {Dispatcher::kAllGather, "allgather"},
    {Dispatcher::kOncePerNode, "once_per_node"}};

/// Goals of the tuner.
enum class ObjectiveKind : std::uint8_t { kStepTime, kThroughput, kSmallestCluster };
inline constexpr Named<ObjectiveKind> kObjectiveNames[] = {
    {ObjectiveKind::kStepTime, "step_time"},
    {ObjectiveKind::kThroughput, "tokens_per_s"},
    {ObjectiveKind::kSmallestCluster, "smallest_cluster"}};

/// Limits of the probability of fitting in memory that a job may ask for: below the first a plan
/// needs more than there is, above the second no run is known so well.
inline constexpr double kLeastConfidence = 0.5;
inline constexpr double kMostConfidence = 0.98;

struct Objective {
  ObjectiveKind kind = ObjectiveKind::kStepTime;
  double memory_limit_bytes = 0;  ///< Memory limit in bytes per device; 0: the device's memory.
  /// Share of device memory that plans leave free for memory that the account misses; negative: the
  /// default (`usable_bytes`).
  double memory_reserve = -1;
  /// Probability of fitting that plans must reach; negative: the default (`fit_confidence`).
  double memory_confidence = -1;
  /// Target of kSmallestCluster in seconds per step; 0: `target_tokens_per_s` is set instead.
  double target_step_time_s = 0;
  double target_tokens_per_s = 0;
};

/// The training task: the model, the cluster, the batch and everything else that a user decides
/// before planning.
struct Job {
  std::string model_name;
  model::Architecture model;
  cluster::Cluster cluster;
  std::int64_t sequences = 0;  ///< Sequences of the global batch.
  std::int64_t length = 0;     ///< Tokens of one sequence, padding included.
  /// Documents that fill the sequences; nullopt: each sequence is one document of `length` tokens.
  std::optional<DocumentBatch> documents;
  DType precision = DType::kBf16;
  Optimizer optimizer = Optimizer::kAdam;
  MuonForm muon = MuonForm::kDuplicated;
  /// Threads with which each process updates states in host memory; nullopt: the framework's
  /// (`FrameworkDefaults::host_threads`).
  std::optional<std::int64_t> host_threads;
  Framework framework;
  /// Path of a file of conditions of training (constants fitted to whole runs); empty: built-in
  /// ones.
  std::string conditions;
  std::string measured;  ///< Path of a profile measured on the user's own cluster; empty: none.
  Kernels kernels;
  bool attention_stated = false;  ///< True if the job's file names the attention kernel.
  Routing routing = Routing::kBalanced;
  Dispatcher dispatcher = Dispatcher::kAllToAll;
  double imbalance = 1.0;  ///< Load of the busiest expert rank over the mean, at least 1.
  /// Tokens of each expert of a layer, from which the load is computed instead of from `imbalance`;
  /// empty: none are given.
  std::vector<double> expert_tokens;
  /// Largest number of rows of an expert, over the mean of all experts; 0: no limit.
  double capacity_factor = 0;
  /// True if each expert is padded to exactly its largest number of rows.
  bool pad_to_capacity = false;
  Objective objective;
  /// Training method: the work of a step besides the updates for which a plan is made.
  TrainingMethod method;
  RunSettings run;       ///< Settings of the whole run, which no step depends on.
  bool use_all = false;  ///< True if the search must use every device of the cluster.
  /// Values that the search may choose; an empty list leaves a dimension free.
  Space space;
  /// Notes for users on values that the reader interpreted differently from how they were written
  /// (an alias that has no exact equivalent, a sharding group of one).
  std::vector<std::string> notes;

  [[nodiscard]] double tokens() const {
    return static_cast<double>(sequences) * static_cast<double>(length);
  }
};

/// Type in which parameters and activations are stored: the precision itself, bf16 for fp8 and
/// narrower (those are types of matrix products only).
DType storage_type(DType precision);

/// Default type in which gradients are accumulated: fp32, or fp64 if the storage type is fp64.
DType default_accumulate(DType precision);

/// A plan with its job: the content of a plan file.
struct PlannedJob {
  Job job;
  Plan plan;
};

/// Layers of each chunk of the plan, in model order: the explicit list or `even_split`
/// (plan/layer_split.h). Chunk `i` runs on pipeline rank `i % pipeline`.
std::vector<std::int64_t> chunk_layers(const Job& job, const Plan& plan);

inline constexpr double kLeastCapacityFactor = 0.01;
inline constexpr double kMostCapacityFactor = 1000;

/// Rows that experts compute over rows that routers send them, at even loads: below 1 if a capacity
/// drops some, above 1 if it pads.
double capacity_share(const Job& job);

/// Limits `load`, the busiest rank's load over the mean, by the job's capacity factor.
double capacity_bounded_load(const Job& job, double load);

/// Load of the busiest of `ranks` ranks over the mean, if each holds an equal run of consecutive
/// experts of a layer; at least 1, limited by the capacity factor.
double busiest_load(const Job& job, std::int64_t ranks);

/// Micro-batches of one step and pipeline: sequences / (data * micro_batch).
std::int64_t micro_batches(const Job& job, const Plan& plan);

/// Returns a legal plan with every choice that has no effect set to its default (the kind of
/// context parallelism of one rank, the group of a state that is then N or G, an explicit even
/// split, rank orders that give the same grid, ...), so that plans that behave equally have equal
/// text. The result is legal too.
Plan canonical(Plan plan, const Job& job);

}  // namespace stepwright::plan
