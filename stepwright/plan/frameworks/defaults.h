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

/// The kind of measured runs that check the memory account of a framework.
enum class MemoryEvidence : std::uint8_t {
  kNone,    ///< No run is known; the spread between frameworks is used.
  kLabels,  ///< Runs of which only is known whether they fitted.
  kPeaks,   ///< Runs with measured peaks of allocators and processes.
};
inline constexpr Named<MemoryEvidence> kMemoryEvidenceNames[] = {
    {MemoryEvidence::kNone, "none"},
    {MemoryEvidence::kLabels, "labels"},
    {MemoryEvidence::kPeaks, "peaks"}};

/// Memory margins of a framework beyond tensors (`DeviceReserve` of memory/memory.h).
struct MemoryMargins {
  /// Share of the tensors that are allocated and freed in a step. PyTorch's caching allocator
  /// rounds blocks above 10 MiB up to 2 MiB, 3 % of a tensor of 32 MiB, and keeps freed blocks that
  /// no tensor fits into: half of what stacks of 2022 and 2023 show, as newer ones grow their
  /// segments in place.
  double share = 0.15;
  double parameter_share = 0;  ///< Share of the parameters that a rank stores.
  double optimizer_share = 0;  ///< Share of the optimizer states that a rank stores.
  /// Number of additional gradient copies, each as large as the parameters in the job's narrow
  /// type, beside gradients in fp32.
  double narrow_gradients = 0;
  MemoryEvidence evidence = MemoryEvidence::kNone;
};

/// Memory of PyTorch's allocator that a process holds in addition to model states and the tensors
/// of a step; `memory/held.h` has the bytes of each kind.
enum class HeldMemory : std::uint8_t {
  /// Workspaces of cuBLAS, one for each thread that computes: the forward's thread and autograd's.
  kBlasWorkspaces,
  kEngineWorkspaces,  ///< Workspaces of Transformer Engine's products and grouped products.
  kStageInputs,       ///< The most recent input of each chunk, and its gradient.
  kProductBuffer,     ///< One buffer shared by the results of several layers' products and gathers.
  kWideGradients,  ///< fp32 copies of narrow gradients for the optimizer, kept until the next step.
  kBatch,          ///< Tokens, labels, positions and masks of one micro-batch.
  /// Gradients are allocated by the first backward of a step and freed before the next step's.
  /// Gathered parameters stay from their first use to the end of the step; a backward has gathered
  /// them once it has passed the loss.
  kFreshGradients,
  /// Buffers for what each chunk receives of each micro-batch, kept from the first step on.
  kReceiveBuffers,
  /// The gradient of each chunk's received input, for each micro-batch whose split backward has
  /// computed it.
  kInputGradients,
  /// The first stage's input has no gradient, so its split backward does all work in the
  /// weight-gradient part.
  kWholeFirstStage,
  /// Buckets of DistributedDataParallel, in addition to the gradients themselves.
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

/// Work that a framework does by unfused PyTorch kernels although the rest of its layers is fused,
/// or with copies and buffers that other frameworks avoid.
enum class UnfusedWork : std::uint8_t {
  kExpertBiases,  ///< Biases of the experts' second products, added expert by expert.
  kScaledRotary,  ///< Rotary embedding whose sines and cosines are scaled (YaRN).
  /// Each backward sends a copy of a bucket's gradients, not the gradients that autograd computed.
  kReductionInputs,
  /// A forward copies parameters out of a gathered buffer, which stays in memory until the next
  /// gather.
  kGatherOutputs,
  /// The loss is computed inside the model's forward, so that the buffer of the last gather stays
  /// in memory meanwhile.
  kLossInForward,
  /// The gathered head stays in memory until its loss has been computed.
  kHeadBesideLoss,
  /// Parameters that stay gathered for a whole step are gathered in its forward, block by block
  /// (frozen ones in addition to their shards), and freed as soon as a block's backward is done.
  kBlocksForStep,
  /// Unsharded fp32 parameters are cast for a forward's products, and the casts stay in memory
  /// until the backward (torch.autocast).
  kCastsForStep,
  /// If experts are split only over tensor ranks, each rank gathers the rows of all of them, each
  /// row once.
  kExpertRowGathers,
  /// Copies between the order of ranks, in which tensor parallelism gathers and reduces rows, and
  /// the order of sequence positions.
  kPositionLayouts,
  /// If experts run one after the other, each expert's sharded parameters are fetched by separate
  /// calls when its module runs.
  kExpertFetches,
  /// Unfused norms whose weight multiplies rows in fp32.
  kWideNorms,
  /// Parameters are gathered, cast and reduced even in groups of one rank.
  kSingleRankGroups,
  /// Keys and values are copied for each query head that reads them.
  kExpandedHeads,
  /// Routers multiply rows in fp32.
  kExactRouters,
};
inline constexpr Named<UnfusedWork> kUnfusedWorkNames[] = {
    {UnfusedWork::kExpertBiases, "expert_biases"},
    {UnfusedWork::kScaledRotary, "scaled_rotary"},
    {UnfusedWork::kReductionInputs, "reduction_inputs"},
    {UnfusedWork::kGatherOutputs, "gather_outputs"},
    {UnfusedWork::kLossInForward, "loss_in_forward"},
    {UnfusedWork::kHeadBesideLoss, "head_beside_loss"},
    {UnfusedWork::kBlocksForStep, "blocks_for_step"},
    {UnfusedWork::kCastsForStep, "casts_for_step"},
    {UnfusedWork::kExpertRowGathers, "expert_row_gathers"},
    {UnfusedWork::kPositionLayouts, "position_layouts"},
    {UnfusedWork::kExpertFetches, "expert_fetches"},
    {UnfusedWork::kWideNorms, "wide_norms"},
    {UnfusedWork::kSingleRankGroups, "single_rank_groups"},
    {UnfusedWork::kExpandedHeads, "expanded_heads"},
    {UnfusedWork::kExactRouters, "exact_routers"}};

/// The ranks of a node that load a whole checkpoint into host memory at the start of a fine-tuning
/// run.
enum class CheckpointLoadingRanks : std::uint8_t { kNone, kFirst, kEach };
inline constexpr Named<CheckpointLoadingRanks> kCheckpointLoadingRanksNames[] = {
    {CheckpointLoadingRanks::kNone, "none"},
    {CheckpointLoadingRanks::kFirst, "first"},
    {CheckpointLoadingRanks::kEach, "each"}};
struct HostLoading {
  /// Ranks of a node that load the checkpoint if each rank stores all parameters.
  CheckpointLoadingRanks whole = CheckpointLoadingRanks::kNone;
  /// Ranks of a node that load the checkpoint if parameters are sharded.
  CheckpointLoadingRanks sharded = CheckpointLoadingRanks::kNone;
};

/// An environment variable that a framework's processes need if all circumstances of `when` and
/// none of `unless` apply.
struct FrameworkVariable {
  std::string name;
  std::string value;  ///< Required value of the variable; empty: it must not be set.
  std::vector<Circumstance> when, unless;
  std::string reason;
};

/// Host seconds for a message in addition to its transfer, used if no trace measures them.
struct MessageHostOverhead {
  double tensor_s = 0;  ///< Seconds for a message of tensor parallelism.
  double data_s = 0;    ///< Seconds for a message of sharded data parallelism.
};

/// The behaviour of a framework if neither a job nor a plan says otherwise (`defaults:` of its
/// file).
struct FrameworkDefaults {
  /// Default kernels. Their attention kernel is the one for device generations that `attention`
  /// does not list.
  Kernels kernels;
  std::vector<std::pair<const cluster::DeviceGeneration*, cluster::AttentionKernel>> attention;
  /// Attention kernels that the framework's configuration files can select instead of the default
  /// one, among those that it runs.
  WordSet selects = WordSet().set();
  /// Losses that its configuration files can select, by `LossSavedTensors`, each with a number of
  /// chunks (nullopt: any number). If none is selected, or a fused loss is unavailable, the loss of
  /// `kernels` is used.
  std::map<LossSavedTensors, std::optional<std::int64_t>> losses;
  /// True if its configuration files can make updates of whole models in bf16 compute with the
  /// parameters themselves (`MasterWeights::kNone`).
  bool updates_in_place = false;
  /// True if its configuration files can set `Kernels::narrow_attention`.
  bool narrow_attention = false;
  /// True if its configuration files can set `Kernels::narrow_parameters`.
  bool narrow_parameters = false;
  /// True if its configuration files can enable torch.compile, which fuses norms and the loss.
  bool compiles = false;
  /// Default optimizer of models with latent attention.
  Optimizer latent_optimizer = Optimizer::kAdam;
  /// For each flag of `kOverlapNames`, in order, the circumstance in which that communication
  /// overlaps computation.
  std::array<Circumstance, std::size(kOverlapNames)> overlap{};
  /// True if gradients are summed in the type of the parameters; false: in fp32.
  bool stored_gradients = false;
  TensorInput tensor_input = Plan{}.tensor_input;
  /// Default of `Adapters::joined`: one adapter for a whole fused product.
  bool joined_adapters = false;
  /// True if under sequence parallelism an adapter's A multiplies a rank's own rows, and its result
  /// is gathered.
  bool local_adapters = false;
  StageSplit layers = StageSplit::kEven;
  /// Bytes of gradients that fill a bucket of DistributedDataParallel, if reductions overlap the
  /// backward; without overlap all gradients are one message. 0: plans choose the buckets.
  std::int64_t bucket_bytes = 0;
  /// Sharding of the framework's published recipes, which reports of runs often leave out; plans
  /// must state it.
  Sharding recipe_sharding;
  bool recipe_sequence_parallel = false;
  MemoryMargins memory;
  /// Kinds of memory (`HeldMemory`) that the framework holds; every line of its file that names one
  /// adds it.
  WordSet holds;
  /// Work (`UnfusedWork`) that the framework runs in its own unfused way; every line of its file
  /// that names one adds it.
  WordSet apart;
  /// Host bytes for pinned buffers, copies and fragments, as a share of the states offloaded to the
  /// host.
  double host_share = 0;
  /// Bytes of a rank's process on its host: libraries and CUDA's context.
  double host_process_bytes = 0;
  /// Data-loading processes per rank, unless the user says otherwise.
  std::int64_t host_workers = 0;
  double host_worker_bytes = 0;  ///< Bytes of a data-loading process, without its batches.
  HostLoading loading;
  /// For each kind of remedy, the framework's own setting for it, named in answers for frameworks
  /// whose configuration files this program does not write.
  std::map<RemedyKind, std::string> remedies;
  std::vector<FrameworkVariable> environment;
  MessageHostOverhead host_overhead;
  /// Threads with which a process updates states in host memory; 0: as many as host memory
  /// bandwidth feeds.
  std::int64_t host_threads = 0;
  /// Number of passes over gradients that a host update makes in addition, to scale them or for
  /// their norm; nullopt: see `host_passes()`.
  std::optional<std::int64_t> host_passes;

  FrameworkDefaults();
};

/// Returns the defaults of a framework's release and variant; without a name the defaults of jobs
/// and plans. The defaults are built once and stay valid until the process ends.
const FrameworkDefaults& framework_defaults(const Framework& framework);

/// Names of the variants of a framework of `kFrameworkNames`.
std::vector<std::string_view> variant_names(std::string_view framework);

/// Name of the framework on which `framework` is built; its own name if it is built on none.
std::string_view base_framework(const Framework& framework);

/// Returns the framework whose variant has the name `word` ("ms-swift"); nullopt if several
/// frameworks have such a variant, or a framework has that name.
std::optional<Framework> framework_of_variant(std::string_view word);

/// Words that `framework:` may be: the names of all frameworks, then of variants that identify
/// their framework.
std::vector<std::string> framework_words();

/// Returns the kernels of a framework on a device; the defaults of `Kernels` if no framework is
/// named.
Kernels default_kernels(const Framework& framework, const cluster::Device& device);

/// Attention kernels that a framework's configuration files can select; all if no framework is
/// named.
WordSet selected_attention(const Framework& framework);

/// Returns the kernels that the configuration files of a job's framework start: its defaults, with
/// the job's attention kernel, loss and updates without masters if the files can set them. Without
/// a framework, the job's kernels.
Kernels started_kernels(const Job& job);

/// Threads with which each process of a job updates states in host memory; 0: as many as host
/// memory bandwidth feeds.
std::int64_t host_threads(const Job& job);

/// Number of additional passes that a host update makes over gradients. If the framework states
/// none: three for gradients in host memory, which are read for their norm, then read and written
/// to be clipped (pytorch/pytorch torch/nn/utils/clip_grad.py, clip_grads_with_norm_, whatever the
/// norm); none for gradients copied from the device, which has computed their norm.
std::int64_t host_passes(const Job& job, const Plan& plan);

/// Default optimizer of a framework for a model; Adam without a framework.
Optimizer default_optimizer(const Framework& framework, const model::Architecture& model);

/// Returns the framework's default overlap of communication with computation; `Overlap`'s own
/// defaults without a framework. All other choices of the plan must be settled.
Overlap default_overlap(const Job& job, const Plan& plan);

/// Default type in which gradients are summed. It is the type of the parameters in some frameworks,
/// and in all frameworks for fp16 (whose losses are scaled) and for updates that compute with
/// parameters as stored (`MasterWeights::kNone`); else `default_accumulate`.
DType default_gradients(const Job& job);

/// Default type of gradients of a plan whose other choices are settled: if the framework does not
/// sum gradients in the default type, the type of the parameters or the wider one.
DType default_gradients(const Job& job, Plan plan);

/// Default input that a column-parallel layer keeps under sequence parallelism.
TensorInput default_tensor_input(const Job& job);

/// Default layers of each stage of a plan whose degrees and schedule are settled; empty for the
/// even split.
std::vector<std::int64_t> default_layers(const Job& job, const Plan& plan);

/// Bucket sizes: elements that a plan reduces, and gathers, at a time.
struct Buckets {
  std::int64_t gradients, parameters;
};

/// Default buckets of a plan whose other choices are settled and whose ranks fill the cluster.
Buckets default_buckets(const Job& job, const Plan& plan);

/// Returns the buckets that a framework fixes (`buckets:` of its file), else `chosen`. The plan's
/// ranks must fill the cluster.
Buckets fixed_buckets(const Framework& framework, const Job& job, const Plan& plan, Buckets chosen);

}  // namespace stepwright::plan
