#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "stepwright/collective/wire.h"
#include "stepwright/core/dtype.h"
#include "stepwright/core/named.h"
#include "stepwright/plan/grid.h"
#include "stepwright/step/layer_part.h"

namespace stepwright::step {

/// The kind of an operator, one node of a step program. The comment of each kind says what the
/// fields of `OperatorShape` mean for it; "rows" are tokens (or token copies) on this rank.
enum class OperatorKind : std::uint8_t {
  // Computation.
  /// embedding look-up: `rows` rows of `columns` (hidden) elements from a table of `inner` rows
  /// (the vocabulary on this rank)
  kEmbedding,
  kNorm,    ///< LayerNorm or RMSNorm of rows x columns elements
  kLinear,  ///< matrix product [rows, inner] x [inner, columns]
  /// grouped matrix product of `batch` experts on this rank with `rows` rows in all, each [rows of
  /// the expert, inner] x [inner, columns]
  kGroupedLinear,
  kRotary,  ///< rotary embedding of rows x columns elements, in place
  /// fused attention core; sizes: batch, heads, kv_heads, queries, keys, head_dim, value_dim
  kAttention,
  kScores,   ///< product Q K^T of unfused attention; uses the same sizes as kAttention
  kSoftmax,  ///< mask and softmax of unfused attention over batch x heads x queries x keys elements
  /// product of unfused attention's probabilities and V; uses the same sizes as kAttention
  kAttendValues,
  /// causal convolution along the sequence in each of `columns` channels of `rows` rows, with a
  /// window of `inner` rows
  kConvolution,
  /// scan of a recurrent state (Mamba, delta net) along sequences. batch, heads, kv_heads (groups),
  /// queries (tokens of a sequence), keys (tokens of a chunk), head_dim (state), value_dim
  kScan,
  /// activation function with rows x columns results; a gated one (SwiGLU) reads twice as many
  kActivation,
  kAdd,      ///< residual addition of rows x columns elements
  kDropout,  ///< dropout of rows x columns elements; also writes the mask
  /// router of a mixture of experts: gate probabilities of rows x columns (experts), and the
  /// `inner` largest of each row
  kTopK,
  /// copy of rows x columns elements into the order of experts; `rows` counts a row once per chosen
  /// expert
  kPermute,
  /// weighted sum of the experts' rows x columns results back to the tokens; `rows` counts a row
  /// once per chosen expert
  kUnpermute,
  /// one pass of the cross entropy over logits, rows x columns (the vocabulary on this rank)
  kLossLocal,
  kAccumulate,  ///< addition of rows x columns elements to an accumulated gradient or a running sum
  /// sum of squares over the `rows` gradient elements of a pipeline stage, for the gradient norm
  kNormSquare,
  /// optimizer update. rows: parameter elements updated on this rank; inner: bytes moved for each
  kOptimizer,
  /// orthogonalization (Muon) of `rows` matrices of `columns` elements each, in Newton-Schulz steps
  /// of `inner` FLOPs per matrix
  kOrthogonalize,
  kCopyToHost,  ///< copy of `rows` elements from device memory to host memory
  /// optimizer update computed by the host in host memory. rows: parameter elements updated; inner:
  /// bytes moved for each
  kHostOptimizer,
  kCopyFromHost,  ///< copy of `rows` elements from host memory to device memory
  /// conversion of rows x columns weights from the narrow type in which they are stored; inner:
  /// bits of a stored weight times 100
  kDequantize,
  /// copy of rows x columns elements out of a gathered buffer, by `batch` copy operations
  kUnpack,
  // Communication.
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  /// one step of a ring (ring attention): send to the next rank of the group, receive from the
  /// previous one
  kShift,
  kSend,  ///< message to the neighbouring pipeline chunk: the residual stream or its gradient
  kReceive,
  kBroadcast,  ///< message that one rank of a group sends to all others
};
inline constexpr Named<OperatorKind> kOperatorNames[] = {
    {OperatorKind::kEmbedding, "embedding"},
    {OperatorKind::kNorm, "norm"},
    {OperatorKind::kLinear, "linear"},
    {OperatorKind::kGroupedLinear, "grouped_linear"},
    {OperatorKind::kRotary, "rotary"},
    {OperatorKind::kAttention, "attention"},
    {OperatorKind::kScores, "scores"},
    {OperatorKind::kSoftmax, "softmax"},
    {OperatorKind::kAttendValues, "attend_values"},
    {OperatorKind::kConvolution, "convolution"},
    {OperatorKind::kScan, "scan"},
    {OperatorKind::kActivation, "activation"},
    {OperatorKind::kAdd, "add"},
    {OperatorKind::kDropout, "dropout"},
    {OperatorKind::kTopK, "top_k"},
    {OperatorKind::kPermute, "permute"},
    {OperatorKind::kUnpermute, "unpermute"},
    {OperatorKind::kLossLocal, "loss"},
    {OperatorKind::kAccumulate, "accumulate"},
    {OperatorKind::kNormSquare, "norm_square"},
    {OperatorKind::kOptimizer, "optimizer"},
    {OperatorKind::kOrthogonalize, "orthogonalize"},
    {OperatorKind::kCopyToHost, "copy_to_host"},
    {OperatorKind::kHostOptimizer, "host_optimizer"},
    {OperatorKind::kCopyFromHost, "copy_from_host"},
    {OperatorKind::kDequantize, "dequantize"},
    {OperatorKind::kUnpack, "unpack"},
    {OperatorKind::kAllReduce, "all_reduce"},
    {OperatorKind::kAllGather, "all_gather"},
    {OperatorKind::kReduceScatter, "reduce_scatter"},
    {OperatorKind::kAllToAll, "all_to_all"},
    {OperatorKind::kShift, "shift"},
    {OperatorKind::kSend, "send"},
    {OperatorKind::kReceive, "receive"},
    {OperatorKind::kBroadcast, "broadcast"}};

constexpr bool is_communication(OperatorKind kind) { return kind >= OperatorKind::kAllReduce; }

/// True for the operators that involve the host: its optimizer update, and copies between host and
/// device memory.
constexpr bool operator_involves_host(OperatorKind kind) {
  return kind >= OperatorKind::kCopyToHost && kind <= OperatorKind::kCopyFromHost;
}

/// True if an operator computes on the device: it is neither a message, nor a copy between host and
/// device, nor work of the host.
constexpr bool computes_on_device(OperatorKind kind) {
  return !is_communication(kind) && !operator_involves_host(kind);
}

/// Returns the collective by which a communication operator is modelled: kSend, kReceive and kShift
/// are point to point; a broadcast around a ring sends as much as an all-gather of the same buffer
/// and takes as long.
constexpr collective::CollectiveOperation collective_of_operator(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kAllReduce: return collective::CollectiveOperation::kAllReduce;
    case OperatorKind::kAllGather:
    case OperatorKind::kBroadcast: return collective::CollectiveOperation::kAllGather;
    case OperatorKind::kReduceScatter: return collective::CollectiveOperation::kReduceScatter;
    case OperatorKind::kAllToAll: return collective::CollectiveOperation::kAllToAll;
    default: return collective::CollectiveOperation::kPointToPoint;
  }
}

enum class Phase : std::uint8_t {
  kForward,
  kDataGradient,
  kWeightGradient,
  kRecompute,
  kOptimizer
};
inline constexpr Named<Phase> kPhaseNames[] = {{Phase::kForward, "forward"},
                                               {Phase::kDataGradient, "data_gradient"},
                                               {Phase::kWeightGradient, "weight_gradient"},
                                               {Phase::kRecompute, "recompute"},
                                               {Phase::kOptimizer, "optimizer"}};

/// True if operators of the phase compute a gradient.
constexpr bool is_backward_phase(Phase phase) {
  return phase == Phase::kDataGradient || phase == Phase::kWeightGradient;
}

/// The in-order queues (CUDA streams) of a rank: operators of one stream run one after the other.
enum class DeviceStream : std::uint8_t {
  kCompute,
  kTensor,
  kContext,
  kExpert,
  kPipelineForward,
  kPipelineBackward,
  kGather,  ///< Stream on which data parallelism gathers parameters.
  kReduce,  ///< Stream on which data parallelism reduces gradients.
  kToHost,  ///< Stream of copies from device memory to host memory.
  kFromHost,
  /// Stream of messages between pipeline stages that split the vocabulary and do not wait for each
  /// other.
  kVocabulary,
};
inline constexpr Named<DeviceStream> kStreamNames[] = {
    {DeviceStream::kCompute, "compute"},
    {DeviceStream::kTensor, "tensor"},
    {DeviceStream::kContext, "context"},
    {DeviceStream::kExpert, "expert"},
    {DeviceStream::kPipelineForward, "pipeline_forward"},
    {DeviceStream::kPipelineBackward, "pipeline_backward"},
    {DeviceStream::kGather, "gather"},
    {DeviceStream::kReduce, "reduce"},
    {DeviceStream::kToHost, "to_host"},
    {DeviceStream::kFromHost, "from_host"},
    {DeviceStream::kVocabulary, "vocabulary"}};
inline constexpr int kStreams = 11;

/// The purpose of an operator, where its kind, phase, kind of parallelism and layer part do not
/// tell it.
enum class OperatorPurpose : std::uint8_t {
  /// No special purpose: kind, phase, kind of parallelism and layer part tell what the operator
  /// does.
  kPlain,
  // Operators of the adapter beside a frozen product.
  kAdapterDown,  ///< Multiplies by matrix A of a LoRA adapter.
  kAdapterUp,    ///< Multiplies by matrix B of a LoRA adapter.
  /// Multiplies by a LoRA adapter's alpha / rank: the adapter's result in a forward, its gradient
  /// in a backward.
  kAdapterScale,
  /// Adds a LoRA adapter's result to the result of its product; in a backward, adds the adapter's
  /// gradient of the input to the product's.
  kAdapterAdd,
  // Messages about model states.
  /// Gathers a block's sharded parameters before a forward or backward uses them.
  kGatherParameters,
  /// Gathers updated parameters at the end of a step, because ranks hold more of the parameters
  /// than of the optimizer states.
  kGatherUpdated,
  kReduceGradients,  ///< Reduces gradients over the data-parallel ranks.
  /// Reduces, over the tensor ranks, gradients of parameters that all of these ranks hold, each
  /// with a partial sum of the gradient.
  kReduceReplicated,
  /// Reduces the gradient of a tied embedding table between the pipeline stages that hold it.
  kReduceTiedTable,
  kShareNorm,  ///< All-reduces the sum of squared gradients, for the gradient norm.
  /// All-reduces the number of rows of each expert, from which routers correct their load balance.
  kShareLoads,
  kShareLoss,
  /// Gathers the shards of gradient matrices on the ranks that orthogonalize them (Muon).
  kGatherMatrices,
  /// All-reduces k x k products of gradient matrices of which each tensor rank holds some columns,
  /// in a distributed Newton-Schulz step (Muon).
  kShareProducts,
  /// Sends shards of orthogonalized matrices (Muon) back to the ranks that hold their parameters.
  kReturnMatrices,
  /// Adds up, over ranks, the sums of squares of a matrix's rows and columns (Adafactor).
  kShareSums,
  /// Gathers the sums of squares of rows and columns (Adafactor) from the ranks that hold shards of
  /// them.
  kGatherMoments,
  /// All-reduces the squared norms of updates, for an optimizer that limits each update by its
  /// norm.
  kShareSquares,
  /// All-gathers rows whose columns are split over tensor ranks (multi-token prediction).
  kColumns,
  // Exchanges of sequence shards for head shards (Ulysses).
  kQueries,
  kKeys,
  kValues,
  kAttentionOut,
  // Routed rows.
  /// Message that sends token rows, or their gate weights, to the ranks of their experts.
  kToExperts,
  kFromExperts,  ///< Message that sends the experts' results back to the ranks that own the tokens.
  /// Copies this rank's rows into the order of all experts before they are sent, or sums their
  /// results back after they have returned.
  kOwnCopies,
  /// Sorts received rows from their order of arrival into the order of this rank's experts.
  kSortArrived,
  /// Sorts the experts' results from the order of this rank's experts back into the order in which
  /// rows arrived.
  kUnsortArrived,
  /// Computes the gradients of gate weights from the experts' results and the gradients of these.
  kGateGradient,
  // Computations.
  kHeadNorm,  ///< Purpose of a kNorm operator: norms queries and keys (QK norm), head by head or
              ///< over all heads.
  /// Purpose of a kNorm operator: computes the sums of squares that a QK norm over all heads shares
  /// between tensor ranks.
  kHeadSums,
  /// Purpose of a kActivation operator: multiplies each element of the attention core's result by
  /// the sigmoid of its gate.
  kAttentionGate,
  /// Purpose of a kActivation operator: multiplies the result of a scan (Mamba, delta net), normed
  /// or not, by an activation of its gates.
  kMixerGate,
  /// Purpose of a kActivation operator: multiplies each row of the shared experts' result by the
  /// sigmoid of its gate logit.
  kSharedGate,
  /// Purpose of a kActivation operator: activation function of experts' rows, each multiplied by
  /// its router probability.
  kWeightedExperts,
  /// Purpose of a kAdd operator: adds the bias of each of `batch` experts to its rows, weighted as
  /// the rows are, by unfused kernels.
  kExpertBias,
  /// Purpose of a kRotary operator: rotary embedding by unfused kernels, because its sines and
  /// cosines are scaled (YaRN).
  kScaledRotary,
  kDeltaScan,   ///< Purpose of a kScan operator: scan of a delta net with the gated delta rule.
  kMamba2Scan,  ///< Purpose of a kScan operator: scan of Mamba-2, with one decay for each head.
  /// Purpose of a kScan operator: scan of Mamba, with a decay for each element of the state.
  kMambaScan,
  /// Purpose of a kOptimizer operator: an update other than Adam's single fused pass.
  kOtherUpdate,
  /// Purpose of a kLossLocal operator: the first pass of the cross entropy, which finds each
  /// token's largest logit.
  kLargestLogit,
  // Work on one position's part of the vocabulary, between messages of all positions
  // (`step/vocabulary_part.h`):
  /// Purpose of a kLossLocal operator, if pipeline stages split the vocabulary: divides the
  /// exponentials by their sum over this stage's part.
  kPartSoftmax,
  /// Purpose of a kLossLocal operator, if pipeline stages split the vocabulary: rescales this
  /// part's sum of exponentials to the largest logit of all parts.
  kPartSum,
  /// Purpose of a kEmbedding operator, if pipeline stages split the vocabulary: looks up the target
  /// tokens' rows of the head's table.
  kTargetRows,
  /// Purpose of a kAdd operator, if pipeline stages split the vocabulary: combines the gradient of
  /// the head's input from the softmax and the targets of this part.
  kPartGradient,
  /// Purpose of a kLossLocal operator: all passes of a loss that is computed document by document,
  /// by `inner` kernels whose results the host waits for.
  kDocumentLoss,
  /// Purpose of the operators of the head's weight gradient, if the loss computes it in the forward
  /// and keeps it for the backward.
  kHeldGradient,
  /// Purpose of a kLinear operator: the head's product if its logits stay on chip, with the loss or
  /// gradients computed from them.
  kOnChip,
};

/// True if a message carries parameters, gradients or numbers that ranks share at the end of a
/// step.
constexpr bool carries_model_states(OperatorPurpose purpose) {
  return purpose >= OperatorPurpose::kGatherParameters && purpose <= OperatorPurpose::kShareSquares;
}

/// The kind of parallelism that a message serves; reports add up traffic for each kind.
enum class ParallelismScheme : std::uint8_t {
  kNone,
  kTensor,
  kContext,
  kExpert,
  kPipeline,
  kData,
  kControl
};
inline constexpr Named<ParallelismScheme> kSchemeNames[] = {
    {ParallelismScheme::kNone, "none"},         {ParallelismScheme::kTensor, "tensor"},
    {ParallelismScheme::kContext, "context"},   {ParallelismScheme::kExpert, "expert"},
    {ParallelismScheme::kPipeline, "pipeline"}, {ParallelismScheme::kData, "data"},
    {ParallelismScheme::kControl, "control"}};

/// Returns the collective algorithm (ring, tree, ...) that a plan asks for in the messages of a
/// kind of parallelism; it is used only where it is possible.
constexpr collective::CollectiveAlgorithm planned_collective_algorithm(
    const plan::CollectiveAlgorithmChoices& collectives, ParallelismScheme scheme) {
  switch (scheme) {
    case ParallelismScheme::kTensor: return collectives.tensor;
    case ParallelismScheme::kContext: return collectives.context;
    case ParallelismScheme::kExpert: return collectives.expert;
    case ParallelismScheme::kData: return collectives.data;
    default: return collective::CollectiveAlgorithm::kLibrary;
  }
}

/// Sizes of a computation on one rank, after the plan's splits; fields that its operator kind does
/// not use are 0.
struct OperatorShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t inner = 0;
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;  ///< Number of keys that a query could attend to if there were no mask.
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;
  /// Number of query-key pairs that the mask leaves, per head and sequence: the causal half, a
  /// window, a ring block. A fused kernel computes this many pairs, an unfused one queries * keys.
  std::int64_t pairs = 0;
  auto operator<=>(const OperatorShape&) const = default;
};

using TensorId = std::int16_t;
using ParameterId = std::int16_t;

/// A range of consecutive entries: indices into a list of a template, or token rows.
struct IndexRange {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// An operator of a training step: one computation, copy or message of a rank. Bytes and FLOPs
/// follow from kind, shape and dtype (`step/work.h`).
struct Operator {
  OperatorKind kind{};
  Phase phase = Phase::kForward;
  DeviceStream stream = DeviceStream::kCompute;
  ParallelismScheme scheme = ParallelismScheme::kNone;
  plan::CommunicatorKind group = plan::CommunicatorKind::kNone;
  /// Type of the elements that the operator computes or sends. For matrix products: precision of
  /// the product (elements narrower than 16 bits are stored as bf16).
  DType dtype = DType::kBf16;
  /// True for work on rows routed to experts: `shape.rows` and the message's payload are means over
  /// ranks; the busiest rank has `busiest` times as many rows.
  bool routed = false;
  bool gated = false;    ///< True for the activation function of a gated MLP (such as SwiGLU).
  bool largest = false;  ///< True if an all-reduce takes the maximum instead of the sum.
  /// True if a message is sent in pieces that overlap another computation: the product that
  /// produces or reads them, or another micro-batch (exchanges of experts). Only a share of its
  /// time is then exposed.
  bool in_pieces = false;
  OperatorShape shape{};
  /// Number of elements of a message's full buffer (all-gather: its output; reduce-scatter: its
  /// input; all-to-all: the local input; point to point: the message).
  std::int64_t payload_elements = 0;
  /// Tokens of the loss chunk that the operator computes; empty: all rows of its tensors.
  IndexRange rows{};
  /// Number of equal operations, issued back to back, that this operator stands for (the buckets of
  /// a message, for example).
  std::int64_t repeats = 1;
  LayerPart part{};
  std::string_view name{};  ///< Name of the operator in reports; empty: the name of its layer part.
  OperatorPurpose purpose = OperatorPurpose::kPlain;
  /// Number of PyTorch modules (of each expert, in a grouped product) whose sharded parameters the
  /// host fetches before the operator and releases after it, each by separate calls.
  std::uint8_t module_fetches = 0;
  /// In a template that interleaves two micro-batches: 0 for operators of the forward's
  /// micro-batch, 1 for operators of the backward's.
  std::uint8_t strand = 0;
  /// Index, in the template's parameters, of the weight that the operator uses or updates; -1:
  /// none.
  ParameterId parameter = -1;
  IndexRange reads{};   ///< Tensors that the operator reads: range of OperatorTemplate::operands.
  IndexRange writes{};  ///< Tensors that the operator writes: range of OperatorTemplate::operands.
  IndexRange after{};   ///< Operators that this one waits for: range of OperatorTemplate::edges.
  /// For work on rows routed to experts: load of the busiest rank over the mean load.
  double busiest = 1;

  /// Load of the busiest rank over the mean load, by which a routed operator's time grows, because
  /// all ranks wait for the busiest; 1 for other operators.
  [[nodiscard]] double busiest_rank_load_factor() const { return routed ? busiest : 1; }
  [[nodiscard]] std::int64_t payload_bytes() const {
    return bytes_of_elements(dtype, payload_elements);
  }
};

/// Returns the name of the communicator, within the operator's group, that carries its message.
/// Each stream has a communicator of its own, so that calls on it are in the stream's order.
/// Transfers between pipeline neighbours, whose streams differ at the two ends, have one
/// communicator for each direction.
constexpr std::string_view operator_communicator_name(const Operator& op) {
  if (op.kind == OperatorKind::kSend || op.kind == OperatorKind::kReceive) {
    return op.phase == Phase::kForward ? "forward" : "backward";
  }
  return name_of(kStreamNames, op.stream);
}

}  // namespace stepwright::step
