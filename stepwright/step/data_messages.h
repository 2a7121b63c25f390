#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "stepwright/core/divide_up.h"
#include "stepwright/plan/grid.h"
#include "stepwright/plan/state_types.h"
#include "stepwright/step/setting.h"

namespace stepwright::step {

// The messages of data parallelism, as values: what a strategy sends, when, and in how many pieces.
// Builders write operators from them (`step/sharding.h`), pricers sum them
// (`simulate/price/data_cost.h`). The rules are those of PaRO (2310.06003), the table of
// docs/algorithms.md.

/// The moment of a step at which data parallelism sends messages: the columns of the table.
enum class DataMoment : std::uint8_t {
  kEachUse,       ///< Gathers a block's parameters before every forward and backward of it.
  kEachBackward,  ///< Reduces gradients that a rank does not hold whole, after every backward.
  kLastBackward,  ///< Sums gradients over all ranks after the last backward of a step.
  kAfterStep,     ///< Gathers updated parameters on the ranks that hold them.
};

/// True if the messages of a moment carry gradients; false: parameters.
constexpr bool reduces(DataMoment moment) {
  return moment == DataMoment::kEachBackward || moment == DataMoment::kLastBackward;
}

/// The ranks between which a data-parallel message is exchanged.
enum class MessageReach : std::uint8_t {
  kInner,  ///< I: the m consecutive ranks of a sharding group.
  /// E: the n ranks with equal rank inside their sharding groups; each message carries 1/m of the
  /// payload.
  kOuter,
  kWorld,  ///< W: all ranks that hold the same parameters.
};

struct DataMessage {
  OperatorKind kind{};
  MessageReach reach{};
  bool operator==(const DataMessage&) const = default;
};

/// A list of at most two messages, one after the other.
class DataMessages {
 public:
  constexpr DataMessages() = default;
  constexpr DataMessages(std::initializer_list<DataMessage> messages) : count_(messages.size()) {
    std::ranges::copy(messages, messages_.begin());
  }
  [[nodiscard]] constexpr const DataMessage* begin() const { return messages_.data(); }
  [[nodiscard]] constexpr const DataMessage* end() const { return messages_.data() + count_; }
  [[nodiscard]] constexpr bool empty() const { return count_ == 0; }

 private:
  std::array<DataMessage, 2> messages_{};
  std::size_t count_ = 0;
};

/// The messages that one of the fourteen strategies sends at a moment: one cell of the table.
/// `scattered`: as `Kernels::scattered_gradients`.
DataMessages data_messages(const plan::Sharding& sharding, DataMoment moment, bool scattered);

/// How a plan spreads the states of one kind of parameters (dense, routed): group sizes and
/// communicators.
struct StateSpread {
  std::int64_t inner = 1;  ///< Ranks of the inner group (m).
  std::int64_t world = 1;  ///< Ranks of all groups together (n * m).
  plan::GroupKind inner_group{};
  plan::GroupKind outer_group{};
  plan::GroupKind world_group{};
  bool routed = false;

  [[nodiscard]] std::int64_t outer() const { return world / inner; }
  /// Ranks over which a state with the spread `spread` is divided.
  [[nodiscard]] std::int64_t divisor(plan::Spread spread) const;
  [[nodiscard]] plan::GroupKind group(MessageReach reach) const;
  [[nodiscard]] std::int64_t ranks(MessageReach reach) const;
  /// The number by which a payload is divided in a message of this reach.
  [[nodiscard]] std::int64_t parts(MessageReach reach) const {
    return reach == MessageReach::kOuter ? inner : 1;
  }
  /// Trained elements of this kind of parameters in blocks of a size; `frozen`: the frozen
  /// elements.
  [[nodiscard]] std::int64_t held(const UnitSize& size) const {
    return routed ? size.expert : size.dense;
  }
  [[nodiscard]] std::int64_t frozen(const UnitSize& size) const {
    return routed ? size.frozen_expert : size.frozen_dense;
  }
  [[nodiscard]] std::int64_t tensors(const UnitSize& size) const {
    return routed ? size.expert_tensors : size.dense_tensors;
  }
  [[nodiscard]] const MatrixSize& matrices_of(const UnitSize& size) const {
    return size.matrices(routed);
  }
  /// Elements of this kind that blocks of a size contribute to the messages of a moment: trained
  /// elements, and for kEachUse frozen elements too. A table that another block of the rank holds
  /// is gathered and reduced once more with the block that uses it, but summed over ranks and
  /// updated only once.
  [[nodiscard]] std::int64_t payload(const UnitSize& size, DataMoment moment) const;
};

StateSpread dense_spread(const plan::Plan& plan);
StateSpread routed_spread(const plan::Plan& plan);
/// Elements of a state that one rank holds, padding included: trained parameters, and frozen ones,
/// which are sharded as parameters are.
std::int64_t shard_elements(const plan::Plan& plan, plan::Spread spread, const UnitSize& size);
std::int64_t frozen_elements(const plan::Plan& plan, const UnitSize& size);
std::int64_t frozen_elements(const plan::Plan& plan, plan::Spread spread, const UnitSize& size);

/// The data type of a moment's messages: parameters as stored, gradients as accumulated, or
/// gradients in fp32 if they are sent wider (`Kernels::wide_gradients`).
constexpr DType message_type(DataMoment moment, DType storage, DType gradient, bool wide) {
  if (!reduces(moment)) return storage;
  return wide && gradient != DType::kFp64 ? DType::kFp32 : gradient;
}

/// Model states of one kind that a rank copies between host and device: at most two entries, for
/// trained and for frozen parameters.
struct StateCopy {
  DType type{};
  std::int64_t elements = 0;
};
using StateCopies = std::array<StateCopy, 2>;
/// Copies between host and device at a moment, for blocks of a size. Trained and frozen parameters
/// are one entry if they are stored in one type, else one entry each.
StateCopies state_copies(const plan::Job& job, const plan::Plan& plan, const StateSpread& spread,
                         const UnitSize& size, DataMoment moment);

/// Elements of a bucket at a moment; 0: messages are not cut into buckets, as gathers for a use
/// never are.
std::int64_t bucket_elements(const plan::Plan& plan, DataMoment moment);
/// Number of equal pieces into which a message is cut: one per whole bucket, at least one.
constexpr std::int64_t pieces_of(std::int64_t elements, std::int64_t bucket) {
  return bucket > 0 ? std::max<std::int64_t>(1, elements / bucket) : 1;
}
/// True if the collected gradients fill a bucket. Gradients of blocks are collected until a bucket
/// is full; the rest at the end of a chunk is one more bucket.
constexpr bool fills_bucket(std::int64_t elements, std::int64_t bucket) {
  return elements >= bucket;
}

/// True if a backward reduces gradients bucket by bucket after its blocks. False: the reduction of
/// the last backward waits for the update, which sums all gradients of a position at once.
bool reduces_in_buckets(const plan::Plan& plan);
/// True if updated parameters are gathered block by block, before the next step's first use. False:
/// the update ends with one gather of all parameters of a position.
bool refreshes_in_blocks(const plan::Plan& plan);

/// A message at the end of a step that every sharding strategy sends; an all-reduce unless `kind`
/// says otherwise.
struct StepEndMessage {
  plan::GroupKind group{};
  std::int64_t elements = 0;  ///< Elements of the message; 0: no message.
  DType type{};
  std::string_view name;
  Purpose purpose{};
  Scheme scheme{};
  OperatorKind kind = OperatorKind::kAllReduce;
  std::int64_t bucket = 0;  ///< Elements of each piece into which the message is cut; 0: one piece.
};
/// Sizes of the sums that a pipeline position takes part in at the end of a step.
struct StepEnd {
  /// Elements of gradients that tensor ranks sum, as in `UnitSize::partial`.
  std::int64_t partial = 0;
  std::int64_t expert_partial = 0;
  std::int64_t tied_table = 0;  ///< Elements of a table shared with another stage; 0: none.
  bool loss = false;            ///< True if the position computes the loss.
  bool experts = false;         ///< True if the model has experts.
  /// Number of per-expert row counts that the ranks sum, for routers that balance load by a bias
  /// (no auxiliary loss); 0: none.
  std::int64_t loads = 0;
  bool shares_rows = false;  ///< True if tensor ranks route different rows (sequence parallelism).
};
/// All-reduces of gradients of which each rank has a partial sum: norm weights under sequence
/// parallelism, norms of heads, adapters, tied tables.
std::array<StepEndMessage, 3> partial_gradients(const plan::Plan& plan, const StepEnd& end);
/// All-reduces of numbers of which each rank has a partial sum: squares of the gradient norm, the
/// loss with its token count, and loads of experts (Megatron-Core
/// distributed/finalize_model_grads.py, `_update_router_expert_bias`). `exact` is their type
/// (`Setting::exact`).
std::array<StepEndMessage, 5> step_numbers(const StepEnd& end, DType exact);

}  // namespace stepwright::step
