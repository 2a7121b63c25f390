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

/// Precisions of a job: what matrix products take in. fp64 is for proofs.
inline constexpr Named<DType> kPrecisionNames[] = {
    {DType::kFp64, "fp64"},  {DType::kFp32, "fp32"}, {DType::kFp16, "fp16"},
    {DType::kBf16, "bf16"},  {DType::kFp8, "fp8"},   {DType::kMxfp8, "mxfp8"},
    {DType::kNvfp4, "nvfp4"}};

/// Optimizers; a row each of `plan/optimizer_traits.h` says how they differ.
enum class Optimizer : std::uint8_t {
  kAdam,
  kAdamW,
  kAdamNarrow,  ///< Moments in bf16 (Megatron-Core's precision-aware optimizer).
  kSgd,
  kAdam8bit,   ///< Moments of 8 bits, with a scale for each block of them (2110.02861).
  kMuon,       ///< Matrices of layers have one moment, which is made orthogonal; the rest AdamW.
  kAdafactor,  ///< The second moment of a matrix is a sum for each row and column (1804.04235).
};
inline constexpr Named<Optimizer> kOptimizerNames[] = {{Optimizer::kAdam, "adam"},
                                                       {Optimizer::kAdamW, "adamw"},
                                                       {Optimizer::kAdamNarrow, "adam_bf16"},
                                                       {Optimizer::kSgd, "sgd"},
                                                       {Optimizer::kAdam8bit, "adam8bit"},
                                                       {Optimizer::kMuon, "muon"},
                                                       {Optimizer::kAdafactor, "adafactor"}};

/// How tensor ranks make a matrix orthogonal that is cut over them: each gathers it and does all of
/// it; each does its part, and they sum the products of columns; or each takes its part for a
/// matrix by itself (NVIDIA/Megatron-LM, muon_tp_mode).
enum class MuonForm : std::uint8_t { kDuplicated, kDistributed, kBlockwise };
inline constexpr Named<MuonForm> kMuonFormNames[] = {{MuonForm::kDuplicated, "duplicated"},
                                                     {MuonForm::kDistributed, "distributed"},
                                                     {MuonForm::kBlockwise, "blockwise"}};

/// The threads of a process that a file may name.
inline constexpr std::int64_t kMostHostThreads = 4096;

/// The parts that the framework captures in CUDA graphs, which the host replays at once: a whole
/// step, or parts of each layer (Megatron-Core's --cuda-graph-scope: attn, mlp, moe_router).
struct CudaGraphs {
  bool step = false;
  bool attention = false;
  bool mlp = false;     ///< The MLP, if it is dense.
  bool router = false;  ///< The router and shared experts.

  bool operator==(const CudaGraphs&) const = default;
};

/// A part of a layer as job files call it.
struct GraphPart {
  std::string_view name;
  bool CudaGraphs::* part;
};
inline constexpr GraphPart kGraphParts[] = {{"attn", &CudaGraphs::attention},
                                            {"mlp", &CudaGraphs::mlp},
                                            {"moe_router", &CudaGraphs::router}};

/// How operands of a narrow product are scaled and cast, which says what they move. kLibrary: by
/// kernels of Transformer Engine, once, with both layouts and a scale that is known; weights once a
/// step. kTensorwise: by dynamic scales of a whole tensor, each operand for each of the three
/// products. kRowwise: the same by scales of rows, whose products are slower.
enum class Casts : std::uint8_t { kLibrary, kTensorwise, kRowwise };
inline constexpr Named<Casts> kCastNames[] = {
    {Casts::kLibrary, "library"}, {Casts::kTensorwise, "tensorwise"}, {Casts::kRowwise, "rowwise"}};

/// The numbers that updates compute with, where parameters are stored in 16 bits. kBeside: fp32
/// copies of them in the optimizer. kAlone: where parameters are split as the optimizer is, the
/// fp32 shards are all there is, cast when they are gathered; elsewhere as kBeside. kNone: the
/// parameters themselves, and moments are in their type.
enum class Masters : std::uint8_t { kBeside, kAlone, kNone };
inline constexpr Named<Masters> kMasterNames[] = {
    {Masters::kBeside, "beside"}, {Masters::kAlone, "alone"}, {Masters::kNone, "none"}};

/// Tensors that a loss, or each chunk of one, keeps between its forward and its backward. kLogits:
/// its logits, or what a loss makes of them. kGradients: its forward goes on to the gradients of
/// its rows and of the head's weight, of which all chunks have one (Liger's fused linear cross
/// entropy). kRows: the input of the head alone, of which the backward makes logits again, chunk by
/// chunk. kSums: the rows and the sum of each token's exponentials, by kernels that write no logits
/// at all (cut cross entropy, arXiv 2411.09009). kTiles: as kSums, by kernels that write a
/// tile of logits at a time, and sum gradients in fp32 beside those of the step (TRL's fused head).
/// kAllLogits: as kLogits, but the head multiplies all chunks before the first loss, and
/// the backward takes the gradients of all logits before it multiplies any
/// (torchtune 0.6.1 modules/transformer.py, chunked_output).
enum class LossKeeps : std::uint8_t { kLogits, kGradients, kRows, kSums, kTiles, kAllLogits };
inline constexpr Named<LossKeeps> kLossKeepsNames[] = {
    {LossKeeps::kLogits, "logits"}, {LossKeeps::kGradients, "gradients"},
    {LossKeeps::kRows, "rows"},     {LossKeeps::kSums, "sums"},
    {LossKeeps::kTiles, "tiles"},   {LossKeeps::kAllLogits, "all_logits"}};

inline constexpr std::int64_t kMostLossChunks = 1024;

/// The kernels of a cross entropy. kUnfused: three small all-reduces, one copy of the logits in
/// fp32, which becomes the softmax. kCompiled: two all-reduces, no copy in fp32, the gradient in a
/// tensor of its own. kNative: Megatron-Core's functions under torch.compile, two all-reduces and
/// copies in fp32 (megatron/core/fusions/fused_cross_entropy.py). kTe: Transformer Engine's kernel,
/// which writes the gradient over the logits (transformer_engine/common/triton/cross_entropy.py).
enum class CrossEntropy : std::uint8_t { kUnfused, kCompiled, kNative, kTe };
inline constexpr Named<CrossEntropy> kCrossEntropyNames[] = {{CrossEntropy::kUnfused, "unfused"},
                                                             {CrossEntropy::kCompiled, "compiled"},
                                                             {CrossEntropy::kNative, "native"},
                                                             {CrossEntropy::kTe, "te"}};

/// Where a router's probabilities are multiplied: with the results of its experts' second products,
/// which stand until the backward for the gradient of the probabilities, or with the activations
/// before them. kAfter: with results, by the kernel that sums them. kAfterRows: with results, by
/// single kernels. kAfterExact: the same of copies of the results in fp32, which stand.
enum class ExpertWeights : std::uint8_t { kAfter, kBefore, kAfterRows, kAfterExact };
inline constexpr Named<ExpertWeights> kExpertWeightsNames[] = {
    {ExpertWeights::kAfter, "after"},
    {ExpertWeights::kBefore, "before"},
    {ExpertWeights::kAfterRows, "after_rows"},
    {ExpertWeights::kAfterExact, "after_exact"}};

/// Kernels that the training framework uses; they select operators and cost constants.
struct Kernels {
  cluster::AttentionKernel attention = cluster::AttentionKernel::kFlash2;
  bool fused_norm = true;          ///< Norms, rotary and gated activation as one kernel each.
  bool fused_activation = true;    ///< Rotary and gated activation so; false: of fused norms alone.
  bool fused_accumulation = true;  ///< Products add their weight gradient to the step's sum.
  /// Scale, mask and softmax of unfused attention run in one kernel.
  bool fused_softmax = true;
  CrossEntropy cross_entropy = CrossEntropy::kUnfused;
  ExpertWeights expert_weights = ExpertWeights::kAfter;
  CudaGraphs cuda_graphs = {};
  Casts casts = Casts::kLibrary;
  Masters masters = Masters::kBeside;
  /// The loss is a plain cross entropy: the head's output is gathered over the tensor ranks, and
  /// each of them takes the whole loss of it in fp32.
  bool gathered_logits = false;
  /// PyTorch's own loss: the same over the rank's own share of the vocabulary, or over all of it,
  /// whose logits pipelines alone hold; compiled where `cross_entropy` is.
  bool plain_loss = false;
  /// The loss of each document of a sequence is taken by itself of logits in fp32, by single
  /// kernels whose results the host waits for (`step/document_loss.h`).
  bool document_loss = false;
  /// The head's product and the loss are taken of so many parts of a micro-batch's tokens, one
  /// after the other; 0: of as many as the logits are wider than the rows (`loss_chunks`,
  /// step/loss.h).
  std::int64_t loss_chunks = 1;
  LossKeeps loss_keeps = LossKeeps::kLogits;
  /// Activations between stages travel in one part per tensor rank and are gathered on arrival
  /// (Megatron-LM's scatter/gather); under sequence parallelism they are split anyway.
  bool scattered_pipeline = false;
  /// Whether each rank is handed its share of the sum (reduce-scatter) where gradients' optimizer
  /// is sharded; false: the whole sum (all-reduce), of which it takes its share.
  bool scattered_gradients = true;
  /// A rank copies each tensor's part of each rank out of what it gathered after an update.
  bool refresh_by_tensor = false;
  bool wide_gradients = false;  ///< Gradients travel in fp32, whatever they are summed in.
  /// The gated half of an MLP is in the same product as the other; false: in one of its own, whose
  /// gradient of the input is reduced by itself (but under sequence parallelism).
  bool fused_gate = true;
  bool fused_qkv = true;        ///< Queries, keys and values are one product; false: one of each.
  bool grouped_experts = true;  ///< The experts of a rank are one grouped product, not one each.
  bool transformer_engine = false;  ///< Layers are those of NVIDIA's Transformer Engine.
  /// The core of attention multiplies in fp8 where products do, or in a narrower type (fp8_dpa of
  /// Transformer Engine).
  bool narrow_attention = false;
  /// Parameters are stored as narrow products multiply them (`fp8_param_gather` of Megatron-Core),
  /// so that no copies of them stand beside those of 16 bits.
  bool narrow_parameters = false;
  /// Products in fp32 round their operands to TF32 where the device has it (allow_tf32 of PyTorch's
  /// torch.backends.cuda.matmul, or TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 of NVIDIA's containers).
  bool tf32 = false;
  /// Equal bits in every run: PyTorch's deterministic algorithms, for which cuBLAS is given the
  /// large workspaces that they demand.
  bool deterministic = false;
  /// The host waits for each kernel before it issues the next (CUDA_LAUNCH_BLOCKING of CUDA's
  /// driver): its time stands between kernels instead of beside them.
  bool blocking_launches = false;

  [[nodiscard]] bool fused_loss() const { return cross_entropy != CrossEntropy::kUnfused; }
};
/// The kernels that are on or off, as files name them.
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

/// The framework that will run the plan: what it runs bounds the search (`plan/frameworks/law.h`),
/// what it does by default holds where a job is silent (`plan/frameworks/defaults.h`), and it
/// selects cost constants.
struct Framework {
  std::string name;          ///< One of `kFrameworkNames`; empty: any of them.
  std::string version = {};  ///< Release of the framework; empty: the newest.
  std::string variant = {};  ///< A fork or a stack built on it that its file names; empty: itself.

  bool operator==(const Framework&) const = default;
};
inline constexpr std::string_view kFrameworkNames[] = {
    "stepwright", "megatron-core", "megatron-lm", "megatron-deepspeed", "deepspeed",
    "nemo",       "torchtitan",    "fsdp",        "accelerate",         "nanotron",
    "maxtext",    "internevo",     "colossalai"};

enum class Routing : std::uint8_t { kBalanced, kLearned };
inline constexpr Named<Routing> kRoutingNames[] = {{Routing::kBalanced, "balanced"},
                                                   {Routing::kLearned, "learned"}};
/// How rows reach their experts: an exchange of every copy, a gather of all rows, or an exchange in
/// which a row enters each node once, whatever number of its experts are there (DeepEP, HybridEP).
enum class Dispatcher : std::uint8_t { kAllToAll, kAllGather, kOncePerNode };
inline constexpr Named<Dispatcher> kDispatcherNames[] = {
    {Dispatcher::kAllToAll, "alltoall"},
    {Dispatcher::kAllGather, "allgather"},
    {Dispatcher::kOncePerNode, "once_per_node"}};

/// The goal of the tuner.
enum class ObjectiveKind : std::uint8_t { kStepTime, kThroughput, kSmallestCluster };
inline constexpr Named<ObjectiveKind> kObjectiveNames[] = {
    {ObjectiveKind::kStepTime, "step_time"},
    {ObjectiveKind::kThroughput, "tokens_per_s"},
    {ObjectiveKind::kSmallestCluster, "smallest_cluster"}};

/// Probabilities of fitting that can be asked for: below the first a plan needs more than there is,
/// above the second no run is known so well.
inline constexpr double kLeastConfidence = 0.5;
inline constexpr double kMostConfidence = 0.98;

struct Objective {
  ObjectiveKind kind = ObjectiveKind::kStepTime;
  double memory_limit_bytes = 0;  ///< 0: the device's memory.
  /// Share of the memory that plans leave free, for what an account does not know; negative: what
  /// is usual (`usable_bytes`).
  double memory_reserve = -1;
  /// Probability of fitting that plans are asked for; negative: what is usual (`fit_confidence`).
  double memory_confidence = -1;
  double target_step_time_s = 0;  ///< Target of the smallest cluster: one of these two is set.
  double target_tokens_per_s = 0;
};

/// The training task: the model, the cluster and the batch: everything that a person decides before
/// planning.
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
  /// Threads with which each process updates what lies on the host; unsaid: the framework's
  /// (`FrameworkDefaults::host_threads`).
  std::optional<std::int64_t> host_threads;
  Framework framework;
  std::string conditions;  ///< Path of a file of conditions of training; empty: the built-in ones.
  std::string measured;    ///< Path of a profile measured on the cluster itself; empty: none.
  Kernels kernels;
  bool attention_stated = false;  ///< A person has named the kernel of attention.
  Routing routing = Routing::kBalanced;
  Dispatcher dispatcher = Dispatcher::kAllToAll;
  double imbalance = 1.0;  ///< Load of the busiest expert rank over the mean, at least 1.
  /// Tokens of each expert of a layer, from which the load follows in the place of `imbalance`.
  std::vector<double> expert_tokens;
  /// Rows that an expert takes at most, over the mean of all experts; 0: as many as come.
  double capacity_factor = 0;
  bool pad_to_capacity = false;  ///< Each expert gets exactly so many rows.
  Objective objective;
  TrainingMethod method;  ///< Training method: the work beside the updates that a plan is made for.
  RunSettings run;        ///< Around the steps: what no step depends on.
  bool use_all = false;   ///< The search leaves no device of the cluster idle.
  /// Values that the search may choose; an empty list leaves a dimension free.
  Space space;
  /// The notes of the reader on what it took differently from how it was written, for people (an
  /// alias that is only the nearest, a sharding group of one).
  std::vector<std::string> notes;

  [[nodiscard]] double tokens() const {
    return static_cast<double>(sequences) * static_cast<double>(length);
  }
};

/// Type in which parameters and activations are stored: the precision itself, bf16 for fp8 and
/// narrower (those are types of matrix products only).
DType storage_type(DType precision);

/// Type in which gradients are accumulated when nothing is said: fp32, or fp64 where the storage
/// is.
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

/// Rows that experts work on over the rows that routers send them, where loads are even: below 1
/// where a capacity drops some, above 1 where it pads.
double capacity_share(const Job& job);

/// A load of the busiest rank over the mean, within the job's capacity factor.
double bounded_load(const Job& job, double load);

/// Load of the busiest of so many ranks that share the experts of a layer evenly, one run of
/// consecutive experts each, over the mean of all; at least 1, and within a capacity factor.
double busiest_load(const Job& job, std::int64_t ranks);

/// Micro-batches of one step and pipeline: sequences / (data * micro_batch).
std::int64_t micro_batches(const Job& job, const Plan& plan);

/// The plan with every choice that has no effect in it set to its default (the kind of context
/// parallelism of one rank, the group of a state that then is N or G, an explicit even split, rank
/// orders that give the same grid, ...), so that equal behaviour has equal text. `plan` is legal,
/// and so is the result.
Plan canonical(Plan plan, const Job& job);

}  // namespace stepwright::plan
