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
#include "stepwright/plan/frameworks/default_condition.h"
#include "stepwright/plan/frameworks/stage_split.h"
#include "stepwright/plan/job.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/plan/remedy_kind.h"

namespace stepwright::plan {

/// Evidence by which predicted memory of a framework was checked.
enum class FrameworkMemoryEvidence : std::uint8_t {
  kNone,    ///< No measured run; the error observed over other frameworks is used.
  kLabels,  ///< Runs known only to fit or not to fit in memory.
  kPeaks,   ///< Runs with measured peaks of the allocator or the process.
};
inline constexpr Named<FrameworkMemoryEvidence> kMemoryEvidenceNames[] = {
    {FrameworkMemoryEvidence::kNone, "none"},
    {FrameworkMemoryEvidence::kLabels, "labels"},
    {FrameworkMemoryEvidence::kPeaks, "peaks"}};

/// Device memory that a framework needs beyond tensors, as shares of what a plan's rank stores
/// (`DeviceMemoryReserve` of memory/memory.h).
struct FrameworkMemoryMargins {
  /// Allocator waste, as a share of the tensors that a step allocates and frees. PyTorch's caching
  /// allocator rounds blocks above 10 MiB up to 2 MiB, 3 % of a tensor of 32 MiB, and keeps freed
  /// blocks that fit no tensor. The default is half of what stacks of 2022 and 2023 show, as newer
  /// ones grow their segments in place.
  double share = 0.15;
  /// Additional memory, as a share of the parameters that a rank stores.
  double parameter_share = 0;
  /// Additional memory, as a share of the optimizer states that a rank stores.
  double optimizer_share = 0;
  /// Additional memory for copies of fp32 gradients in the job's narrow type: number of copies,
  /// each as large as the parameters.
  double narrow_gradients = 0;
  /// Number of parameters that an update works on at once if parameters are sharded (DeepSpeed's
  /// `sub_group_size`): the update then holds their gradients twice, narrow and in fp32, in place
  /// of the margins `optimizer_share` and `narrow_gradients`. 0: the margins hold for all plans.
  double sub_group_parameters = 0;
  FrameworkMemoryEvidence evidence = FrameworkMemoryEvidence::kNone;
};

/// Kinds of memory that a framework keeps in PyTorch's allocator beyond model states and the
/// tensors of a step; `memory/held.h` computes the bytes of each.
enum class AllocatorMemoryKind : std::uint8_t {
  /// cuBLAS workspaces, one for each thread that computes: the forward's and autograd's.
  kBlasWorkspaces,
  kEngineWorkspaces,  ///< Workspaces of Transformer Engine's matrix products and grouped products.
  /// Memory of the input that each pipeline chunk received last, and of its gradient.
  kStageInputs,
  /// One buffer that the matrix products and gathers of several layers share for their results.
  kProductBuffer,
  kWideGradients,  ///< fp32 copies of narrow gradients for the optimizer, kept until the next step.
  kBatch,          ///< Memory of one micro-batch's tokens, labels, positions and masks.
  /// Gradients exist only from the first backward of a step to the next step, and gathered
  /// parameters from their first use to the end of the step; a backward has gathered them once it
  /// has passed the loss.
  kFreshGradients,
  /// Receive buffers of each pipeline chunk for every micro-batch, kept from the first step on.
  kReceiveBuffers,
  /// Gradient of each pipeline chunk's received input, for every micro-batch whose backward (split
  /// into input and weight gradients) has computed it.
  kInputGradients,
  /// The first stage does all work of a split backward in the weight-gradient part, since its input
  /// has no gradient.
  kWholeFirstStage,
  /// Buckets of DistributedDataParallel, in addition to the gradients themselves.
  kReducerBuckets,
};
inline constexpr Named<AllocatorMemoryKind> kHeldMemoryNames[] = {
    {AllocatorMemoryKind::kBlasWorkspaces, "blas_workspaces"},
    {AllocatorMemoryKind::kEngineWorkspaces, "engine_workspaces"},
    {AllocatorMemoryKind::kStageInputs, "stage_inputs"},
    {AllocatorMemoryKind::kProductBuffer, "product_buffer"},
    {AllocatorMemoryKind::kWideGradients, "wide_gradients"},
    {AllocatorMemoryKind::kBatch, "batch"},
    {AllocatorMemoryKind::kFreshGradients, "fresh_gradients"},
    {AllocatorMemoryKind::kReceiveBuffers, "receive_buffers"},
    {AllocatorMemoryKind::kInputGradients, "input_gradients"},
    {AllocatorMemoryKind::kWholeFirstStage, "whole_first_stage"},
    {AllocatorMemoryKind::kReducerBuckets, "reducer_buckets"}};

/// Work that a framework does less efficiently than others: by unfused PyTorch kernels in otherwise
/// fused layers, or with additional copies and buffers.
enum class UnfusedWork : std::uint8_t {
  kExpertBiases,  ///< Biases of the experts' second matrix products are added expert by expert.
  kScaledRotary,  ///< Rotary embeddings with scaled sines and cosines (YaRN) run unfused.
  /// A copy of each bucket's gradients as input of the reduce-scatter, in memory of its own.
  kReductionInputs,
  /// A forward copies parameters out of the gather buffer, which stays allocated until the next
  /// gather.
  kGatherOutputs,
  /// The loss is computed inside the model's forward, so that the last gather buffer stays
  /// allocated during it.
  kLossInForward,
  /// The gathered head weight stays in memory until the loss has been computed.
  kHeadBesideLoss,
  /// Parameters that stay gathered for a step are gathered block by block in its forward (frozen
  /// ones beside their shards), and freed when a block's backward is done.
  kBlocksForStep,
  /// Unsharded fp32 parameters are cast for the forward's matrix products, and the casts stay in
  /// memory until the backward (torch.autocast).
  kCastsForStep,
  /// If experts are split only over tensor ranks, each rank gathers the token rows of all experts,
  /// each row once.
  kExpertRowGathers,
  /// Rows are copied between the rank order, in which tensor parallelism gathers and reduces them,
  /// and the order of sequence positions.
  kPositionLayouts,
  /// Separate calls fetch the sharded parameters of each module when it runs (of each expert's
  /// modules, if experts run one after the other).
  kModuleFetches,
  /// Unfused norms multiply by their weight in fp32.
  kWideNorms,
  /// Parameters are gathered, cast and reduced even in groups of one rank.
  kSingleRankGroups,
  /// Keys and values are copied for every query head that shares them.
  kExpandedHeads,
  /// Routers multiply in fp32.
  kExactRouters,
  /// Atomic additions of single elements (scatter_add) sum the rows that return from experts.
  kAtomicRowSums,
  /// Gradients of the rows that return from experts are outer products in fp32 (torch.bmm).
  kOuterProducts,
  /// FlashAttention keeps its result with sequences first, and the output projection a copy with
  /// positions first.
  kAttentionLayouts,
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
    {UnfusedWork::kModuleFetches, "module_fetches"},
    {UnfusedWork::kWideNorms, "wide_norms"},
    {UnfusedWork::kSingleRankGroups, "single_rank_groups"},
    {UnfusedWork::kExpandedHeads, "expanded_heads"},
    {UnfusedWork::kExactRouters, "exact_routers"},
    {UnfusedWork::kAtomicRowSums, "atomic_row_sums"},
    {UnfusedWork::kOuterProducts, "outer_products"},
    {UnfusedWork::kAttentionLayouts, "attention_layouts"}};

/// Which ranks of a node load a whole checkpoint into host memory when fine-tuning starts: none,
/// the first one, or each.
enum class CheckpointLoadingRanks : std::uint8_t { kNone, kFirst, kEach };
inline constexpr Named<CheckpointLoadingRanks> kCheckpointLoadingRanksNames[] = {
    {CheckpointLoadingRanks::kNone, "none"},
    {CheckpointLoadingRanks::kFirst, "first"},
    {CheckpointLoadingRanks::kEach, "each"}};
struct HostLoading {
  /// Ranks of a node that load the whole checkpoint if parameters are not sharded.
  CheckpointLoadingRanks whole = CheckpointLoadingRanks::kNone;
  /// Ranks of a node that load the whole checkpoint if parameters are sharded.
  CheckpointLoadingRanks sharded = CheckpointLoadingRanks::kNone;
};

/// An environment variable that a framework's processes need if all conditions in `when` and none
/// in `unless` apply.
struct FrameworkEnvironmentVariable {
  std::string name;
  std::string value;  ///< Required value of the variable; empty: it must be unset.
  std::vector<FrameworkDefaultCondition> when, unless;
  std::string reason;
};

/// Assumed host seconds per message in addition to its transfer, for frameworks without a measured
/// trace.
struct MessageHostOverhead {
  double tensor_s = 0;  ///< Host seconds per tensor-parallel message.
  double data_s = 0;    ///< Host seconds per message of sharded data parallelism (FSDP, ZeRO).
};

/// Behaviour of a framework where neither the job nor the plan says otherwise: the `defaults:` of
/// its file, merged.
struct FrameworkDefaults {
  /// Default kernels. `attention` overrides their attention kernel for some device generations.
  FrameworkKernels kernels;
  std::vector<std::pair<const cluster::DeviceGeneration*, cluster::AttentionKernel>> attention;
  /// Attention kernels of deterministic runs, for device generations where they differ.
  std::vector<std::pair<const cluster::DeviceGeneration*, cluster::AttentionKernel>>
      deterministic_attention;
  /// Attention kernels that the framework's configuration files can select, among those that it
  /// supports; all by default.
  WordSet selects = WordSet().set();
  /// Cross-entropy implementations that the framework's configuration files can select, by
  /// `LossSavedTensors`, each with a fixed number of chunks (nullopt: any). Otherwise the loss of
  /// `kernels` is used.
  std::map<LossSavedTensors, std::optional<std::int64_t>> losses;
  /// True if the framework's configuration files can make whole-model bf16 training update the
  /// parameters themselves, without fp32 master copies (`MasterWeights::kNone`).
  bool updates_in_place = false;
  /// True if the framework's configuration files can turn on fp8 attention
  /// (`FrameworkKernels::narrow_attention`).
  bool narrow_attention = false;
  /// True if the framework's configuration files can store parameters in fp8
  /// (`FrameworkKernels::narrow_parameters`).
  bool narrow_parameters = false;
  /// True if the framework's configuration files can enable torch.compile, which fuses norms and
  /// the loss.
  bool compiles = false;
  /// Default optimizer for models with latent attention.
  Optimizer latent_optimizer = Optimizer::kAdam;
  /// For each communication of `kOverlapFlagNames`, in order: the condition under which it overlaps
  /// computation by default.
  std::array<FrameworkDefaultCondition, std::size(kOverlapFlagNames)> overlap{};
  /// True if gradients are accumulated in the parameters' own type by default; false: in fp32.
  bool stored_gradients = false;
  GatheredInputPolicy tensor_input = Plan{}.tensor_input;
  /// True if a fused product (qkv, gate and up) gets one LoRA adapter by default
  /// (`LoraAdapters::joined`).
  bool joined_adapters = false;
  /// True if, under sequence parallelism, LoRA's A is applied to each rank's shard of the sequence
  /// and its result is gathered.
  bool local_adapters = false;
  StageSplitRule layers = StageSplitRule::kEven;
  /// Bytes of a DistributedDataParallel bucket when reductions overlap the backward (without
  /// overlap, all gradients are one message). 0: plans choose bucket sizes.
  std::int64_t bucket_bytes = 0;
  /// Sharding of the framework's published recipes, assumed for published runs that do not report
  /// theirs; plans must state it.
  Sharding recipe_sharding;
  bool recipe_sequence_parallel = false;
  FrameworkMemoryMargins memory;
  /// Kinds of memory (`AllocatorMemoryKind`) that the framework keeps beyond model states and a
  /// step's tensors; the union of what all applicable lines of its file name.
  WordSet holds;
  /// Kinds of work (`UnfusedWork`) that the framework does less efficiently than others; the union
  /// of what all applicable lines of its file name.
  WordSet apart;
  /// Additional host memory for pinned buffers, copies and fragmentation, as a share of the states
  /// offloaded to the host.
  double host_share = 0;
  /// Host memory of one rank's process in bytes: libraries and CUDA's context.
  double host_process_bytes = 0;
  /// Number of data-loading processes per rank, unless the user states one.
  std::int64_t host_workers = 0;
  double host_worker_bytes = 0;  ///< Host bytes of one data-loading process, without its batches.
  HostLoading loading;
  /// The framework's own name for the setting behind each kind of memory remedy, for answers about
  /// frameworks whose configuration files this program does not write.
  std::map<MemoryRemedyKind, std::string> remedies;
  std::vector<FrameworkEnvironmentVariable> environment;
  MessageHostOverhead host_overhead;
  /// Threads with which each process updates optimizer states in host memory; 0: enough that host
  /// memory bandwidth is the limit.
  std::int64_t host_threads = 0;
  /// Passes over gradients beside a host optimizer update, to scale them or for their norm;
  /// nullopt: computed by `host_update_gradient_passes`.
  std::optional<std::int64_t> host_passes;

  FrameworkDefaults();
};

/// Returns the defaults of a framework in its release and variant; without a name, general
/// defaults. The returned reference stays valid until the process ends.
const FrameworkDefaults& framework_defaults(const TrainingFramework& framework);

/// Returns the names of a framework's variants (forks, and programs built on it); the framework
/// must be one of `kFrameworkNames`.
std::vector<std::string_view> framework_variant_names(std::string_view framework);

/// Returns the framework on which `framework` is built; its own name if it is built on none.
std::string_view base_framework(const TrainingFramework& framework);

/// Returns the framework that has a variant named `word` ("ms-swift"); nullopt if none or several
/// have one, or if `word` is itself a framework.
std::optional<TrainingFramework> base_framework_of_variant(std::string_view word);

/// Returns all words allowed as a job's `framework:`: framework names, then variant names that
/// belong to one framework only.
std::vector<std::string> framework_field_words();

/// Returns the kernels that a framework uses on a device by default; the defaults of
/// `FrameworkKernels` without a framework.
FrameworkKernels default_kernels(const TrainingFramework& framework,
                                 const cluster::DeviceModel& device);

/// Returns the attention kernel that a framework uses on a device if the job states none.
/// `deterministic`: the run must give equal bits each time, which not every kernel does.
cluster::AttentionKernel default_attention_kernel(const TrainingFramework& framework,
                                                  const cluster::DeviceModel& device,
                                                  bool deterministic);

/// Returns the attention kernels that a framework's configuration files can select; all of them
/// without a framework.
WordSet selectable_attention_kernels(const TrainingFramework& framework);

/// Returns the kernels that the job's framework really uses when started from its configuration
/// files: its defaults, plus the job's attention kernel, loss and master-weight setting if those
/// files can state them. Without a framework, the job's kernels.
FrameworkKernels configured_kernels(const Job& job);

/// Returns the number of threads with which each process of a job updates optimizer states in host
/// memory; 0: enough that host memory bandwidth is the limit.
std::int64_t host_threads(const Job& job);

/// Returns the number of passes over gradients beside a host optimizer update. Unless the framework
/// states it: 3 for gradients in host memory, which are read for their norm, then read and written
/// for clipping (pytorch/pytorch torch/nn/utils/clip_grad.py, clip_grads_with_norm_); 0 for
/// gradients copied from the device, which has computed their norm.
std::int64_t host_update_gradient_passes(const Job& job, const Plan& plan);

/// Returns a framework's default optimizer for a model; Adam without a framework.
Optimizer default_optimizer(const TrainingFramework& framework,
                            const model::ModelArchitecture& model);

/// Returns which communication overlaps computation by default in the plan's framework;
/// `OverlapFlags`'s own defaults without a framework. All other choices of the plan must be final.
OverlapFlags default_overlap(const Job& job, const Plan& plan);

/// Returns the default type in which gradients are accumulated: `default_accumulation_type`; the
/// parameters' own type in some frameworks, for fp16 (whose losses are scaled), and for updates
/// without master copies (`MasterWeights::kNone`).
DType default_gradient_type(const Job& job);

/// Returns the default type in which a plan accumulates gradients: the job's default, or, if the
/// framework does not support that, the parameters' type or the wider one. All other choices must
/// be final.
DType default_gradient_type(const Job& job, Plan plan);

/// Returns whether column-parallel layers by default keep their gathered input for the backward or
/// gather it again (under sequence parallelism).
GatheredInputPolicy default_gathered_input_policy(const Job& job);

/// Returns the framework's default number of layers in each pipeline stage; empty: the even split.
/// Degrees and schedule of the plan must be final.
std::vector<std::int64_t> default_stage_layers(const Job& job, const Plan& plan);

/// Sizes of communication buckets: elements of gradients reduced, and of parameters gathered, at a
/// time.
struct BucketSizes {
  std::int64_t gradients, parameters;
};

/// Returns the framework's default bucket sizes for a plan. All other choices must be final, and
/// the plan's ranks must fill the cluster.
BucketSizes default_bucket_sizes(const Job& job, const Plan& plan);

/// Returns the bucket sizes that a framework uses without a choice (`buckets:` of its file), else
/// `chosen`. The plan's ranks must fill the cluster.
BucketSizes fixed_bucket_sizes(const TrainingFramework& framework, const Job& job, const Plan& plan,
                               BucketSizes chosen);

}  // namespace stepwright::plan
