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

/// The kind of one node of a step program. Each kind's comment gives its fields of `Shape`; "rows"
/// are tokens (or token copies) on this rank.
enum class OperatorKind : std::uint8_t {
  // Computation.
  /// look-up of rows x columns(hidden) elements in a table of inner(vocabulary on this rank) rows
  kEmbedding,
  kNorm,    ///< norm of rows x columns elements
  kLinear,  ///< matrix product [rows, inner] x [inner, columns]
  /// `batch` expert products on this rank, with `rows` rows in all, each [., inner] x [inner,
  /// columns]
  kGroupedLinear,
  kRotary,     ///< rotary embedding of rows x columns elements, in place
  kAttention,  ///< fused attention core: batch, heads, kv_heads, queries, keys, head_dim, value_dim
  kScores,     ///< unfused attention's Q K^T, sized by the attention fields of Shape
  kSoftmax,    ///< mask and softmax over batch x heads x queries x keys elements
  kAttendValues,  ///< unfused attention's product of probabilities and V
  /// causal convolution along each of `columns` columns of `rows` rows, with a window of `inner`
  /// rows
  kConvolution,
  /// recurrent state along sequences (`step/work.h`): batch, heads, kv_heads (groups), queries
  /// (tokens of a sequence), keys (tokens of a chunk), head_dim (state), value_dim
  kScan,
  /// activation function with rows x columns results; a gated one reads twice as many
  kActivation,
  kAdd,      ///< residual addition of rows x columns elements
  kDropout,  ///< dropout of rows x columns elements; writes a mask
  /// router over rows x columns(experts): gate probabilities and the `inner` largest of each row
  kTopK,
  kPermute,     ///< copy of rows x columns into the order of experts (rows counts copies)
  kUnpermute,   ///< weighted sum of rows x columns back to the tokens (rows counts copies)
  kLossLocal,   ///< one pass of the cross entropy over rows x columns(vocabulary on this rank)
  kAccumulate,  ///< addition of rows x columns to a gradient or a running sum
  kNormSquare,  ///< sum of squares over the `rows` gradients of a stage
  /// optimizer update. rows: parameters updated on this rank; inner: bytes moved for each
  /// (`update_bytes_of_element`)
  kOptimizer,
  /// `rows` matrices of `columns` elements each, orthogonalized in Newton-Schulz steps of `inner`
  /// FLOPs each
  kOrthogonalize,
  kCopyToHost,     ///< copy of `rows` elements from device memory to host memory
  kHostOptimizer,  ///< as kOptimizer, computed by the host in host memory
  kCopyFromHost,   ///< copy of `rows` elements from host memory to device memory
  /// rows x columns weights converted from a narrow stored type; inner: 1/100 bits of each stored
  /// weight
  kDequantize,
  kUnpack,  ///< rows x columns elements copied out of a gathered buffer, by `batch` copies
  // Communication.
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  /// one step of a ring: send to the next rank of the group, receive from the previous one
  kShift,
  kSend,  ///< message to a neighbouring pipeline chunk
  kReceive,
  kBroadcast,  ///< message from one rank of the group to all others
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

/// True if the host computes it, or it is a copy over the link to the host.
constexpr bool is_of_host(OperatorKind kind) {
  return kind >= OperatorKind::kCopyToHost && kind <= OperatorKind::kCopyFromHost;
}

/// True if the operator occupies a device's arithmetic: neither a message nor a copy.
constexpr bool computes(OperatorKind kind) { return !is_communication(kind) && !is_of_host(kind); }

/// The collective that models a communication operator: kSend, kReceive and kShift are point to
/// point; a broadcast around a ring sends as much as an all-gather of the same buffer and takes as
/// long.
constexpr collective::Collective collective_of(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kAllReduce: return collective::Collective::kAllReduce;
    case OperatorKind::kAllGather:
    case OperatorKind::kBroadcast: return collective::Collective::kAllGather;
    case OperatorKind::kReduceScatter: return collective::Collective::kReduceScatter;
    case OperatorKind::kAllToAll: return collective::Collective::kAllToAll;
    default: return collective::Collective::kPointToPoint;
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

/// True if the phase computes a gradient.
constexpr bool is_backward(Phase phase) {
  return phase == Phase::kDataGradient || phase == Phase::kWeightGradient;
}

/// The in-order queues of a rank: operators of one stream run one after the other.
enum class Stream : std::uint8_t {
  kCompute,
  kTensor,
  kContext,
  kExpert,
  kPipelineForward,
  kPipelineBackward,
  kGather,  ///< Gathers of parameters by data parallelism.
  kReduce,  ///< Reductions of gradients by data parallelism.
  kToHost,  ///< Copies to host memory.
  kFromHost,
  /// Messages between positions that split the vocabulary and do not wait for each other.
  kVocabulary,
};
inline constexpr Named<Stream> kStreamNames[] = {{Stream::kCompute, "compute"},
                                                 {Stream::kTensor, "tensor"},
                                                 {Stream::kContext, "context"},
                                                 {Stream::kExpert, "expert"},
                                                 {Stream::kPipelineForward, "pipeline_forward"},
                                                 {Stream::kPipelineBackward, "pipeline_backward"},
                                                 {Stream::kGather, "gather"},
                                                 {Stream::kReduce, "reduce"},
                                                 {Stream::kToHost, "to_host"},
                                                 {Stream::kFromHost, "from_host"},
                                                 {Stream::kVocabulary, "vocabulary"}};
inline constexpr int kStreams = 11;

/// Purpose of an operator, if its kind, phase, scheme and part do not tell it.
enum class Purpose : std::uint8_t {
  kPlain,  ///< Kind, phase, scheme and part already tell the purpose.
  // Operators of the adapter beside a frozen product.
  kAdapterDown,  ///< The adapter's product with A.
  kAdapterUp,    ///< The adapter's product with B.
  /// Multiplication by alpha / rank: of the adapter's result in a forward, of its gradient in a
  /// backward.
  kAdapterScale,
  /// Adds the adapter's result to the product's; in a backward, adds the two gradients of the
  /// input.
  kAdapterAdd,
  // Messages about model states.
  kGatherParameters,  ///< Gathers a block's sharded parameters before a use.
  /// Gathers updated parameters that ranks hold whole, as the optimizer's shards are finer.
  kGatherUpdated,
  kReduceGradients,  ///< Reduces gradients over data-parallel ranks.
  /// Reduces gradients of parameters that all tensor ranks hold, each rank with a partial sum.
  kReduceReplicated,
  kReduceTiedTable,  ///< Reduces gradients of a tied table between the stages that hold it.
  kShareNorm,        ///< Sums the squares of the gradients.
  kShareLoads,       ///< Sums the rows of each expert, by which routers correct their balance.
  kShareLoss,
  kGatherMatrices,  ///< Gathers gradients of matrices that an optimizer orthogonalizes.
  kShareProducts,   ///< Sums products of matrices of which each rank holds some columns.
  kReturnMatrices,  ///< Returns shards of matrices from the ranks that have orthogonalized them.
  kShareSums,       ///< Completes the sums of squares of a matrix's rows and columns.
  kGatherMoments,   ///< Gathers sums of squares from the ranks that hold shards of them.
  kShareSquares,    ///< Sums the squared norms of updates whose size their own norm limits.
  kColumns,         ///< Gathers rows whose columns are split over tensor ranks.
  // Exchanges of sequence shards for head shards (Ulysses).
  kQueries,
  kKeys,
  kValues,
  kAttentionOut,
  // Routed rows.
  kToExperts,    ///< A message from the ranks of tokens to the ranks of their experts.
  kFromExperts,  ///< A message from the ranks of experts back to the ranks of the tokens.
  kOwnCopies,    ///< Copies this rank's rows into the order of all experts, and back.
  kSortArrived,  ///< Sorts rows from their order of arrival into the order of this rank's experts.
  /// Sorts rows from the order of this rank's experts back into their order of arrival.
  kUnsortArrived,
  /// Computes gradients of gate weights from the experts' results and their gradients.
  kGateGradient,
  // Computations.
  kHeadNorm,  ///< kNorm: norms queries and keys, head by head or over all heads.
  kHeadSums,  ///< kNorm: the sums that a norm of all heads shares between tensor ranks.
  /// kActivation: multiplies the attention core's result by a sigmoid for each element.
  kAttentionGate,
  /// kActivation: multiplies a scan's result, normed or not, by an activation of the gates.
  kMixerGate,
  kSharedGate,  ///< kActivation: multiplies each row by the sigmoid of its logit.
  /// kActivation: activation of experts' rows, each times its router probability.
  kWeightedExperts,
  /// kAdd: adds the bias of each of `batch` experts, weighted as its rows, by unfused kernels.
  kExpertBias,
  kScaledRotary,  ///< kRotary: by unfused kernels, because sines and cosines are scaled.
  kDeltaScan,     ///< kScan: a gated delta rule.
  kMamba2Scan,    ///< kScan: one decay for each head.
  kMambaScan,     ///< kScan: a decay for each element of the state.
  kOtherUpdate,   ///< kOptimizer: an update that is not Adam's single pass.
  kLargestLogit,  ///< kLossLocal: the first pass of the cross entropy.
  // Work on one position's part of the vocabulary, between messages of all positions
  // (`step/vocabulary_part.h`):
  kPartSoftmax,   ///< kLossLocal: divides the exponentials by the sum over this part.
  kPartSum,       ///< kLossLocal: rescales this part's sum to the largest logit of all parts.
  kTargetRows,    ///< kEmbedding: looks up the head's table rows of the targets.
  kPartGradient,  ///< kAdd: combines the rows' gradient from this part's softmax and targets.
  /// kLossLocal: all passes of a document's loss, by `inner` kernels, whose results the host waits
  /// for.
  kDocumentLoss,
  kHeldGradient,  ///< A weight gradient that a forward computes and keeps for the backward.
  kOnChip,  ///< kLinear: a product whose logits stay on chip, with everything computed from them.
  /// kGroupedLinear: each expert's parameters are fetched separately; gated: for two modules.
  kFetchedExperts,
};

/// True if a message carries parameters, gradients or the numbers shared at the end of a step.
constexpr bool is_of_states(Purpose purpose) {
  return purpose >= Purpose::kGatherParameters && purpose <= Purpose::kShareSquares;
}

/// The kind of parallelism that a message serves; the traffic ledger has one sum for each.
enum class Scheme : std::uint8_t { kNone, kTensor, kContext, kExpert, kPipeline, kData, kControl };
inline constexpr Named<Scheme> kSchemeNames[] = {
    {Scheme::kNone, "none"},      {Scheme::kTensor, "tensor"},     {Scheme::kContext, "context"},
    {Scheme::kExpert, "expert"},  {Scheme::kPipeline, "pipeline"}, {Scheme::kData, "data"},
    {Scheme::kControl, "control"}};

/// The collective algorithm that a plan asks for in the messages of a scheme (used where it is
/// possible: `settled`).
constexpr collective::Algorithm algorithm_of(const plan::Collectives& collectives, Scheme scheme) {
  switch (scheme) {
    case Scheme::kTensor: return collectives.tensor;
    case Scheme::kContext: return collectives.context;
    case Scheme::kExpert: return collectives.expert;
    case Scheme::kData: return collectives.data;
    default: return collective::Algorithm::kLibrary;
  }
}

/// Resolved sizes of a computation on one rank; unused fields are 0.
struct Shape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t inner = 0;
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;  ///< Keys that a query could attend to without a mask.
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;
  /// Query-key pairs that the mask leaves, per head and sequence: the causal half, a window, a ring
  /// block. A fused kernel computes this many pairs, an unfused one queries * keys.
  std::int64_t pairs = 0;
  auto operator<=>(const Shape&) const = default;
};

using TensorId = std::int16_t;
using ParameterId = std::int16_t;

/// A range of consecutive entries: ids in a template's pool, or rows.
struct Slice {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

/// One node of a program. Bytes and FLOPs follow from kind, shape and dtype (`step/work.h`).
struct Operator {
  OperatorKind kind{};
  Phase phase = Phase::kForward;
  Stream stream = Stream::kCompute;
  Scheme scheme = Scheme::kNone;
  plan::GroupKind group = plan::GroupKind::kNone;
  /// Type of the elements computed or sent. For kLinear and kGroupedLinear: precision of the
  /// product (elements narrower than 16 bits are stored as bf16).
  DType dtype = DType::kBf16;
  /// True for routed work: `shape.rows` and the payload are means over ranks; the busiest rank has
  /// `busiest` times as much.
  bool routed = false;
  bool gated = false;    ///< True for the kActivation of a gated MLP.
  bool largest = false;  ///< kAllReduce: true if it takes the maximum instead of the sum.
  /// True if a message is sent in pieces that overlap the product that produces or reads them, or
  /// another micro-batch (exchanges of experts): the framework waits for a share of it.
  bool in_pieces = false;
  Shape shape{};
  /// For communication, elements of the full buffer (all-gather: its output; reduce-scatter: its
  /// input; all-to-all: the local input; point to point: the message).
  std::int64_t payload_elements = 0;
  /// Rows of the loss chunk that the operator computes; empty: all rows of its tensors.
  Slice rows{};
  /// Number of equal operations issued back to back and counted as one (buckets of a size).
  std::int64_t repeats = 1;
  LayerPart part{};
  std::string_view name{};  ///< Name in messages; empty: the name of the part.
  Purpose purpose = Purpose::kPlain;
  /// Strand, in a template of two micro-batches (`step/pair.h`): 0 the forward's, 1 the backward's.
  std::uint8_t strand = 0;
  /// Index of the weight that it uses or updates, in the template's parameters; -1: none.
  ParameterId parameter = -1;
  Slice reads{};       ///< Tensors that it reads, as indices into Template::operands.
  Slice writes{};      ///< Tensors that it writes, as indices into Template::operands.
  Slice after{};       ///< Range of Template::edges: the operators that it waits for.
  double busiest = 1;  ///< For routed work, load of the busiest rank over the mean.

  /// Load of the busiest rank, which all others wait for, over the mean.
  [[nodiscard]] double load() const { return routed ? busiest : 1; }
  [[nodiscard]] std::int64_t payload_bytes() const { return size_bytes(dtype, payload_elements); }
};

/// Name of the group's communicator that carries an operator's messages. Each stream has a
/// communicator of its own, so that calls on it are in the stream's order. Transfers between
/// pipeline neighbours, whose streams differ at the two ends, have one communicator for each
/// direction.
constexpr std::string_view channel_of(const Operator& op) {
  if (op.kind == OperatorKind::kSend || op.kind == OperatorKind::kReceive) {
    return op.phase == Phase::kForward ? "forward" : "backward";
  }
  return name_of(kStreamNames, op.stream);
}

}  // namespace stepwright::step
