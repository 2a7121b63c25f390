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

/// The kind of one node of a step program. The meaning of `Shape` per kind stands beside it; rows
/// are tokens (or token copies) on this rank.
enum class OperatorKind : std::uint8_t {
  // Computation.
  kEmbedding,      ///< rows x columns(hidden) looked up from inner(vocabulary on this rank) rows
  kNorm,           ///< rows x columns elements normed
  kLinear,         ///< [rows, inner] x [inner, columns]
  kGroupedLinear,  ///< `batch` matrices on this rank, rows in all, each [., inner] x [inner,
                   ///< columns]
  kRotary,         ///< rows x columns elements rotated in place
  kAttention,      ///< fused core: batch, heads, kv_heads, queries, keys, head_dim, value_dim
  kScores,         ///< unfused Q K^T, the attention fields of Shape
  kSoftmax,        ///< mask and softmax over batch x heads x queries x keys
  kAttendValues,   ///< unfused scores x V
  kConvolution,    ///< rows x columns: a causal convolution of each column over `inner` rows
  kScan,           ///< a state along sequences (`step/work.h`): batch, heads, kv_heads (groups),
                   ///< queries (tokens of a sequence), keys (tokens of a chunk), head_dim (state),
                   ///< value_dim
  kActivation,     ///< rows x columns results; gated reads twice as many
  kAdd,            ///< rows x columns: residual addition
  kDropout,        ///< rows x columns: makes a mask
  kTopK,           ///< rows x columns(experts): gate probabilities and the `inner` largest
  kPermute,        ///< rows x columns copied into expert order (rows counts copies)
  kUnpermute,      ///< rows x columns weighted and summed back (rows counts copies)
  kLossLocal,      ///< rows x columns(vocabulary on this rank): one pass of the cross entropy
  kAccumulate,     ///< rows x columns added to a gradient or a running sum
  kNormSquare,     ///< rows: sum of squares of the gradients of a stage
  kOptimizer,      ///< rows: parameters updated on this rank; inner: bytes moved for each
                   ///< (`update_bytes_of_element`)
  kOrthogonalize,  ///< rows matrices of `columns` elements each, made orthogonal in steps of Newton
                   ///< and Schulz of `inner` FLOPs each
  kCopyToHost,     ///< rows elements from the device's memory to the host's
  kHostOptimizer,  ///< as kOptimizer, by the host in its memory
  kCopyFromHost,   ///< rows elements from the host's memory to the device's
  kDequantize,     ///< rows x columns made wide of a weight; inner: the centibits of one stored
  kUnpack,         ///< rows x columns copied out of a gathered buffer, in `batch` copies
  // Communication.
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kShift,  ///< one step of a ring: send to the next of the group, receive from the previous
  kSend,   ///< to a neighbouring pipeline chunk
  kReceive,
  kBroadcast,  ///< from the one member of the group that reads what all write
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

/// Whether it is done by the host, or over the link to it.
constexpr bool is_of_host(OperatorKind kind) {
  return kind >= OperatorKind::kCopyToHost && kind <= OperatorKind::kCopyFromHost;
}

/// Whether it keeps a device's arithmetic busy: neither a message nor a copy.
constexpr bool computes(OperatorKind kind) { return !is_communication(kind) && !is_of_host(kind); }

/// The operation that a communication operator stands for: kSend, kReceive and kShift are point to
/// point; around a ring a broadcast sends what an all-gather of the same buffer does, and as long.
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

/// Whether it makes a gradient.
constexpr bool is_backward(Phase phase) {
  return phase == Phase::kDataGradient || phase == Phase::kWeightGradient;
}

/// The in-order queues of a rank. Operators of one stream run one after the other.
enum class Stream : std::uint8_t {
  kCompute,
  kTensor,
  kContext,
  kExpert,
  kPipelineForward,
  kPipelineBackward,
  kGather,  ///< Parameter gathers of data parallelism.
  kReduce,  ///< Gradient reductions of data parallelism.
  kToHost,  ///< Copies to host memory.
  kFromHost,
  kVocabulary,  ///< Messages of positions that share the vocabulary and do not meet.
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

/// Purpose of an operator, where its kind, phase, scheme and part leave it open.
enum class Purpose : std::uint8_t {
  kPlain,  ///< Kind, phase and scheme say it all.
  // Beside a frozen product: of its adapter.
  kAdapterDown,   ///< The product with A.
  kAdapterUp,     ///< The product with B.
  kAdapterScale,  ///< Times alpha / rank: its result forward, the gradient of that backward.
  /// Adds the adapter's result to the product's; backward, the gradients of the input.
  kAdapterAdd,
  // Messages about model states.
  kGatherParameters,  ///< Parameters of a block before a use.
  kGatherUpdated,     ///< Resident parameters after an update of finer shards.
  kReduceGradients,   ///< Gradients, over data parallelism.
  /// Gradients of parameters equal on all tensor ranks, each of which has a part.
  kReduceReplicated,
  kReduceTiedTable,  ///< Gradients of a tied table, between the stages that hold it.
  kShareNorm,        ///< The sum of squares of the gradients.
  kShareLoads,       ///< Rows of each expert, by which routers correct their choice.
  kShareLoss,
  kGatherMatrices,  ///< Gradients that an optimizer makes orthogonal.
  kShareProducts,   ///< Products of such matrices, of which each rank has columns.
  kReturnMatrices,  ///< Parts of them, from the ranks that have made them orthogonal.
  kShareSums,       ///< Sums of squares of rows and columns of matrices.
  kGatherMoments,   ///< Sums of squares, gathered from the ranks that hold parts.
  kShareSquares,    ///< Norms of updates that are limited by their own norm.
  kColumns,         ///< A gather of columns, of which each tensor rank has some.
  // Exchanges of sequence parts against head parts (Ulysses).
  kQueries,
  kKeys,
  kValues,
  kAttentionOut,
  // Routed rows.
  kToExperts,      ///< A message from the ranks of tokens to those of their experts.
  kFromExperts,    ///< A message from the ranks of experts back to those of tokens.
  kOwnCopies,      ///< Rows of this rank to their copies in the order of all experts, and back.
  kSortArrived,    ///< Rows as they arrived to the order of this rank's experts.
  kUnsortArrived,  ///< Rows in the order of this rank's experts to the order of arrival.
  kGateGradient,   ///< Gradients of gate weights, from results and their gradients.
  // Computations.
  kHeadNorm,       ///< kNorm: of each head of queries and keys, or of all.
  kHeadSums,       ///< kNorm: the sums that a norm of all heads shares between tensor ranks.
  kAttentionGate,  ///< kActivation: a core's result times a sigmoid for each element.
  kMixerGate,   ///< kActivation: a scan's result times an activation of the gates, normed or not.
  kSharedGate,  ///< kActivation: rows times the sigmoid of one logit each.
  kWeightedExperts,  ///< kActivation: rows of experts, each times its router probability.
  kExpertBias,       ///< kAdd: of each of `batch` experts, weighted as its rows, by single kernels.
  kScaledRotary,     ///< kRotary: by single kernels, as sines and cosines are scaled.
  kDeltaScan,        ///< kScan: a gated delta rule.
  kMamba2Scan,       ///< kScan: one decay for each head.
  kMambaScan,        ///< kScan: a decay for each element of the state.
  kOtherUpdate,      ///< kOptimizer: an update that is not Adam's single pass.
  kLargestLogit,     ///< kLossLocal: the first pass of the cross entropy.
  // Of one position's part of the vocabulary, between others' (`step/vocabulary_part.h`):
  kPartSoftmax,   ///< kLossLocal: exponentials over their own sum.
  kPartSum,       ///< kLossLocal: that sum in the measure of all.
  kTargetRows,    ///< kEmbedding: of the head's table, those of the targets.
  kPartGradient,  ///< kAdd: gradient of the rows, from their own softmax and targets.
  kDocumentLoss,  ///< kLossLocal: all passes by `inner` kernels, for whose results the host waits.
  kHeldGradient,  ///< A weight gradient that a forward holds for the backward.
  kOnChip,        ///< kLinear: of logits that are never written, with all that is made of them.
  /// kGroupedLinear: each expert fetches its parameters; gated: those of two modules.
  kFetchedExperts,
};

/// Whether a message is about parameters, gradients or what a step shares at its end.
constexpr bool is_of_states(Purpose purpose) {
  return purpose >= Purpose::kGatherParameters && purpose <= Purpose::kShareSquares;
}

/// The kind of parallelism for which an operator communicates; the traffic ledger adds up by it.
enum class Scheme : std::uint8_t { kNone, kTensor, kContext, kExpert, kPipeline, kData, kControl };
inline constexpr Named<Scheme> kSchemeNames[] = {
    {Scheme::kNone, "none"},      {Scheme::kTensor, "tensor"},     {Scheme::kContext, "context"},
    {Scheme::kExpert, "expert"},  {Scheme::kPipeline, "pipeline"}, {Scheme::kData, "data"},
    {Scheme::kControl, "control"}};

/// The algorithm that a plan lets carry out the messages of a scheme, wherever it can (`settled`).
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
  std::int64_t keys = 0;  ///< Keys that a query could see if there were no mask.
  std::int64_t head_dim = 0;
  std::int64_t value_dim = 0;
  /// Query-key pairs that the mask leaves, per head and sequence: the causal half, a window, a ring
  /// block. What a fused kernel computes; an unfused one computes queries * keys.
  std::int64_t pairs = 0;
  auto operator<=>(const Shape&) const = default;
};

using TensorId = std::int16_t;
using ParameterId = std::int16_t;

/// A run of ids in a template's pool, or of rows.
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
  /// The type of the elements computed or sent; of kLinear and kGroupedLinear the precision of the
  /// product (elements narrower than 16 bits are stored as bf16).
  DType dtype = DType::kBf16;
  /// Routed work: `shape.rows` and the payload are means; the busiest rank has `busiest` times as
  /// much.
  bool routed = false;
  bool gated = false;    ///< kActivation of a gated MLP.
  bool largest = false;  ///< kAllReduce: takes the largest value instead of the sum.
  /// A message in pieces, beside the product that makes or takes them, or beside another
  /// micro-batch (exchanges of experts): a framework waits for a share of it.
  bool in_pieces = false;
  Shape shape{};
  /// Communication: elements of the full buffer (all-gather: its output; reduce-scatter: its input;
  /// all-to-all: the local input; point to point: the message).
  std::int64_t payload_elements = 0;
  /// Rows that a loss in chunks works on, of tensors that have more; empty: all rows.
  Slice rows{};
  std::int64_t repeats = 1;  ///< Equal operations issued back to back as one (buckets of a size).
  LayerPart part{};
  std::string_view name{};  ///< Name for people; empty: the part's own.
  Purpose purpose = Purpose::kPlain;
  /// The strand in a template of two micro-batches (`step/pair.h`): 0 the forward's, 1 the
  /// backward's.
  std::uint8_t strand = 0;
  /// Index of the weight that it uses or updates, in the template's parameters.
  ParameterId parameter = -1;
  Slice reads{};       ///< Tensors that it reads, as indices into Template::operands.
  Slice writes{};      ///< Tensors that it writes, as indices into Template::operands.
  Slice after{};       ///< Operators of the same template, into Template::edges.
  double busiest = 1;  ///< Load of the busiest rank over the mean, for routed work.

  /// How much of the mean the rank has that all wait for.
  [[nodiscard]] double load() const { return routed ? busiest : 1; }
  [[nodiscard]] std::int64_t payload_bytes() const { return size_bytes(dtype, payload_elements); }
};

/// Which of a group's communicators carries an operator's messages: each stream has its own, so
/// that the order of calls on each is that of one stream; transfers between pipeline neighbours,
/// which meet on different streams, have one for each direction.
constexpr std::string_view channel_of(const Operator& op) {
  if (op.kind == OperatorKind::kSend || op.kind == OperatorKind::kReceive) {
    return op.phase == Phase::kForward ? "forward" : "backward";
  }
  return name_of(kStreamNames, op.stream);
}

}  // namespace stepwright::step
