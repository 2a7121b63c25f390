#pragma once

#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/plan/frameworks/ability.h"
#include "stepwright/plan/frameworks/circumstance.h"
#include "stepwright/plan/frameworks/stage_split.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/plan/remedy_kind.h"

namespace stepwright::plan {

/// Runs by which it is known how far the memory of a framework is from the account of it.
enum class MemoryEvidence : std::uint8_t {
  kNone,    ///< No run is known: the spread between frameworks counts.
  kLabels,  ///< Runs of which it is known whether they fitted.
  kPeaks,   ///< Peaks of allocators and processes.
};
inline constexpr Named<MemoryEvidence> kMemoryEvidenceNames[] = {
    {MemoryEvidence::kNone, "none"},
    {MemoryEvidence::kLabels, "labels"},
    {MemoryEvidence::kPeaks, "peaks"}};

/// The memory that a framework keeps beyond tensors (`Reserve` of memory/memory.h).
struct MemoryMargins {
  /// The share of tensors that come and go. PyTorch's caching allocator rounds blocks above 10 MiB
  /// up to 2 MiB, 3 % of a tensor of 32 MiB, and keeps freed blocks that nothing fits into: half of
  /// what stacks of 2022 and 2023 show, as newer ones grow their segments in place.
  double share = 0.15;
  double parameter_share = 0;  ///< Share of the parameters that a rank stores.
  double optimizer_share = 0;  ///< Share of its optimizer states.
  /// The narrow gradients, in parameters: gradients in the narrow type of a job beside those in
  /// fp32.
  double narrow_gradients = 0;
  MemoryEvidence evidence = MemoryEvidence::kNone;
};

/// Memory of PyTorch's allocator that a process holds beside model states and tensors of the step;
/// the bytes of each are in `memory/held.h`.
enum class HeldMemory : std::uint8_t {
  /// Workspaces of cuBLAS, one for each thread that computes: the forward's, autograd's.
  kBlasWorkspaces,
  kEngineWorkspaces,  ///< Workspaces of Transformer Engine's products and grouped products.
  kStageInputs,       ///< The last input of each chunk, and its gradient.
  kProductBuffer,     ///< One buffer for the results of several layers' products and gathers.
  kWideGradients,     ///< Narrow gradients as fp32 for the optimizer, until the next step.
  kBatch,             ///< Tokens, labels, positions and masks of a micro-batch.
  /// Gradients are made by the first backward of a step and let go of before the next one;
  /// gathered parameters are there from their use, in a backward once the loss has gone through
  /// its own, until the step ends.
  kFreshGradients,
  /// Buffers for what each chunk receives of each micro-batch, from the first step on.
  kReceiveBuffers,
  /// The gradient of what each chunk receives of each micro-batch, once a cut backward has made it.
  kInputGradients,
  /// A cut backward of the first stage, whose input has no gradient: all of it comes with its
  /// weight gradients.
  kWholeFirstStage,
  /// Buckets of DistributedDataParallel, beside gradients of their own.
  kReducerBuckets,
};
inline constexpr Named<HeldMemory> kHeldMemoryNames[] = {
    {HeldMemory::kBlasWorkspaces, "blas_workspaces"},
    {HeldMemory::kEngineWorkspaces, "engine_workspaces"},
    {HeldMemory::kStageInputs, "stage_inputs"},
    {HeldMemory::kProductBuffer, "product_buffer"},
    {HeldMemory::kWideGradients, "wide_gradients"},
    {HeldMemory::kBatch, "batch"},
    {HeldMemory::kFreshGradients, "fresh_gradients"},
    {HeldMemory::kReceiveBuffers, "receive_buffers"},
    {HeldMemory::kInputGradients, "input_gradients"},
    {HeldMemory::kWholeFirstStage, "whole_first_stage"},
    {HeldMemory::kReducerBuckets, "reducer_buckets"}};

/// Work that a framework does by single kernels of PyTorch where its other layers have fused ones.
enum class ApartWork : std::uint8_t {
  kExpertBiases,  ///< Biases of the second products of experts, expert by expert.
  kScaledRotary,  ///< Rotary embedding whose sines and cosines are scaled (YaRN).
  /// Gradients that are reduced in each backward: a copy of a bucket's, as autograd has made them,
  /// is what is sent.
  kReductionInputs,
  /// Parameters that are gathered in a forward: copied out of what a gather has made, which stays
  /// until the next gather.
  kGatherOutputs,
  /// The loss is taken inside the model's forward, until whose end its last gather's result stays.
  kLossInForward,
  /// A gathered head stays until its loss has been taken.
  kHeadBesideLoss,
  /// Parameters that are gathered for a whole step come with its forward, block by block, those
  /// that are not trained beside their shards; each block's go once its backward is done.
  kBlocksForStep,
  /// Whole parameters in fp32 are cast for the products of a forward, whose casts stand until their
  /// backward (torch.autocast).
  kCastsForStep,
  /// Experts that tensor ranks share, and no others, take the rows of all of them, each once.
  kExpertRowGathers,
  /// Copies between the layout of ranks, in which tensor parallelism gathers and reduces rows, and
  /// that of positions.
  kPositionLayouts,
  /// Sharded parameters of each expert are fetched when its module runs, by its own calls, where
  /// experts run one after the other.
  kExpertFetches,
  /// Norms by single operators, whose weight multiplies rows in fp32.
  kWideNorms,
  /// Parameters are gathered, cast and reduced over groups of one rank as over larger ones.
  kSingleRankGroups,
  /// Keys and values are copied once for each head of queries that reads them.
  kExpandedHeads,
  /// Routers multiply rows in fp32.
  kExactRouters,
};
inline constexpr Named<ApartWork> kApartNames[] = {
    {ApartWork::kExpertBiases, "expert_biases"},
    {ApartWork::kScaledRotary, "scaled_rotary"},
    {ApartWork::kReductionInputs, "reduction_inputs"},
    {ApartWork::kGatherOutputs, "gather_outputs"},
    {ApartWork::kLossInForward, "loss_in_forward"},
    {ApartWork::kHeadBesideLoss, "head_beside_loss"},
    {ApartWork::kBlocksForStep, "blocks_for_step"},
    {ApartWork::kCastsForStep, "casts_for_step"},
    {ApartWork::kExpertRowGathers, "expert_row_gathers"},
    {ApartWork::kPositionLayouts, "position_layouts"},
    {ApartWork::kExpertFetches, "expert_fetches"},
    {ApartWork::kWideNorms, "wide_norms"},
    {ApartWork::kSingleRankGroups, "single_rank_groups"},
    {ApartWork::kExpandedHeads, "expanded_heads"},
    {ApartWork::kExactRouters, "exact_routers"}};

/// The ranks of a node that hold a whole checkpoint at the start of a fine-tuning run.
enum class LoadingRanks : std::uint8_t { kNone, kFirst, kEach };
inline constexpr Named<LoadingRanks> kLoadingRanksNames[] = {
    {LoadingRanks::kNone, "none"}, {LoadingRanks::kFirst, "first"}, {LoadingRanks::kEach, "each"}};
struct HostLoading {
  LoadingRanks whole = LoadingRanks::kNone;    ///< Ranks that load, if each stores all parameters.
  LoadingRanks sharded = LoadingRanks::kNone;  ///< Ranks that load, if ranks share the parameters.
};

/// A variable that the processes of a framework must see where all of `when` and none of `unless`
/// hold.
struct FrameworkVariable {
  std::string name;
  std::string value;  ///< Required value; empty: the variable must not be set.
  std::vector<Circumstance> when, unless;
  std::string reason;
};

/// Seconds that the host takes for a message beyond its transfer, where no trace shows them.
struct MessageHostOverhead {
  double tensor_s = 0;  ///< A message of tensor parallelism.
  double data_s = 0;    ///< A message of sharded data parallelism.
};

/// The behaviour of a framework where neither a job nor a plan says it (`defaults:` of its file).
struct FrameworkDefaults {
  /// Default kernels; their attention kernel is that of generations that `attention` lacks.
  Kernels kernels;
  std::vector<std::pair<const cluster::Generation*, cluster::AttentionKernel>> attention;
  /// Kernels of attention that its files can ask for in place of that, of those that it runs.
  WordSet selects = WordSet().set();
  /// The losses that its files can ask for, by `LossKeeps`: with how many chunks, or any number of
  /// them. Without one, and of a fused loss that is not there, as `kernels` has them.
  std::map<LossKeeps, std::optional<std::int64_t>> losses;
  /// True if its files can say that updates of whole models in bf16 compute with the parameters
  /// themselves (`Masters::kNone`).
  bool updates_in_place = false;
  bool narrow_attention = false;   ///< True if its files can say `Kernels::narrow_attention`.
  bool narrow_parameters = false;  ///< True if its files can say `Kernels::narrow_parameters`.
  bool compiles = false;  ///< They can ask for torch.compile, which fuses norms and the loss.
  Optimizer optimizer = Optimizer::kAdam;
  /// Default optimizer of models with latent attention.
  Optimizer latent_optimizer = Optimizer::kAdam;
  /// Communication that runs beside computation, in the order of `kOverlapNames`.
  std::array<Circumstance, std::size(kOverlapNames)> overlap{};
  bool stored_gradients = false;  ///< Gradients are summed in the type of the parameters, not fp32.
  TensorInput tensor_input = Plan{}.tensor_input;
  bool joined_adapters = false;  ///< The default of `Adapters::joined`.
  /// Under sequence parallelism A multiplies a rank's own rows, and what it gives is gathered.
  bool local_adapters = false;
  StageSplit layers = StageSplit::kEven;
  /// Bytes of gradients that fill a bucket of DistributedDataParallel, where they are reduced
  /// beside the backward; else all in one message. 0: as plans do.
  std::int64_t bucket_bytes = 0;
  /// The sharding that its published recipes choose, which people leave unsaid of their runs; plans
  /// do not.
  Sharding recipe_sharding;
  bool recipe_sequence_parallel = false;
  MemoryMargins memory;
  WordSet holds;  ///< Set of `HeldMemory`; each line of a file adds to it.
  WordSet apart;  ///< Set of `ApartWork`, done by single kernels; each line of a file adds to it.
  /// Bytes that a host needs beside the states that are offloaded to it, over these: pinned
  /// buffers, copies, fragments.
  double host_share = 0;
  double host_process_bytes = 0;  ///< A rank's process on its host: libraries and CUDA's context.
  std::int64_t host_workers = 0;  ///< Processes of each rank that load data, unless told.
  double host_worker_bytes = 0;   ///< Bytes of such a process, without its batches.
  HostLoading loading;
  /// Settings that remedies stand for where its files are not written, by kind.
  std::map<RemedyKind, std::string> remedies;
  std::vector<FrameworkVariable> environment;
  MessageHostOverhead host_overhead;
  /// Threads with which a process updates what lies on the host; 0: as many as its memory feeds.
  std::int64_t host_threads = 0;
  /// How often an update there reads or writes gradients beside it, to scale them or for their
  /// norm.
  std::optional<std::int64_t> host_passes;

  FrameworkDefaults();
};

/// The defaults of a framework's release and variant; without a name those of jobs and plans. They
/// are built once and stay valid as long as the process.
const FrameworkDefaults& framework_defaults(const Framework& framework);

/// Names of the variants of a framework of `kFrameworkNames`.
std::vector<std::string_view> variant_names(std::string_view framework);

/// The framework on which another is built; its own name where it is built on none.
std::string_view base_of(const Framework& framework);

/// The framework with the variant that a word names, where one alone has a variant of that name and
/// no framework is called so ("ms-swift").
std::optional<Framework> framework_of_variant(std::string_view word);

/// Words that `framework:` may hold: the names of all frameworks, then of variants that stand for
/// theirs.
std::vector<std::string> framework_words();

/// The kernels of a framework on a device; those of `Kernels` without one.
Kernels default_kernels(const Framework& framework, const cluster::Device& device);

/// The kernels of attention that the files of a framework can ask for; all without one.
WordSet selected_attention(const Framework& framework);

/// The kernels that the files of a job's framework start: its own, with the job's kernel of
/// attention, its loss and its updates without masters where a file can say them. Those of the job
/// without a framework.
Kernels started_kernels(const Job& job);

/// The threads with which processes of a job update what lies on the host; 0: as many as its memory
/// feeds.
std::int64_t host_threads(const Job& job);

/// How often an update of the host reads or writes gradients beside it. Where nothing is known:
/// those that lie there three times, read for their norm, read and written to be clipped
/// (pytorch/pytorch torch/nn/utils/clip_grad.py, clip_grads_with_norm_, whatever the norm); those
/// that come down for it not at all, as the device has had their norm.
std::int64_t host_passes(const Job& job, const Plan& plan);

/// The optimizer of a framework for a model; Adam without one.
Optimizer default_optimizer(const Framework& framework, const model::Architecture& model);

/// Which communication of a plan runs beside computation where the plan does not say; `Overlap`
/// without a framework. The rest of the plan must be settled.
Overlap default_overlap(const Job& job, const Plan& plan);

/// Type in which gradients are summed where a plan does not say: that of the parameters in some
/// frameworks, in all of them for fp16, whose losses are scaled, and where updates compute with
/// parameters as they are stored (`Masters::kNone`); else `default_accumulate`.
DType default_gradients(const Job& job);

/// Default type of gradients beside the rest of a settled plan: where the framework does not sum
/// gradients in that type, the type of the parameters or the wider one.
DType default_gradients(const Job& job, Plan plan);

/// The input that a column-parallel layer keeps under sequence parallelism by default.
TensorInput default_tensor_input(const Job& job);

/// Layers of each stage of a plan whose degrees and schedule are settled; empty for the even split.
std::vector<std::int64_t> default_layers(const Job& job, const Plan& plan);

/// Elements that a plan reduces and gathers at a time.
struct Buckets {
  std::int64_t gradients, parameters;
};

/// The buckets of a plan that does not say them, when the rest of it is settled and its ranks are
/// those of the cluster.
Buckets default_buckets(const Job& job, const Plan& plan);

/// The buckets of a framework where it leaves no choice (`buckets:` of its file), else those that a
/// plan has (`chosen`). The ranks of the plan are those of the cluster.
Buckets fixed_buckets(const Framework& framework, const Job& job, const Plan& plan, Buckets chosen);

}  // namespace stepwright::plan
