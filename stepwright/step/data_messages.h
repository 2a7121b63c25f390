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
// (`simulate/price/sharding_message_cost.h`). The rules are those of PaRO (2310.06003), the table
// of docs/algorithms.md.

/// The moments of a training step at which data parallelism (DDP, ZeRO, FSDP) sends messages.
enum class DataParallelMessageMoment : std::uint8_t {
  kEachUse,  ///< Before every forward and backward of a block: its sharded parameters are gathered.
  /// After every backward: gradients of which a rank keeps only a shard are reduce-scattered.
  kEachBackward,
  /// After the last backward of a step: gradients are summed over all data-parallel ranks.
  kLastBackward,
  /// After the optimizer's update: updated parameters are gathered on the ranks that hold them.
  kAfterStep,
};

/// True if data-parallel messages at this moment of a step carry gradients; false: they carry
/// parameters.
constexpr bool moment_carries_gradients(DataParallelMessageMoment moment) {
  return moment == DataParallelMessageMoment::kEachBackward ||
         moment == DataParallelMessageMoment::kLastBackward;
}

/// The group of ranks that exchange a data-parallel message.
enum class DataParallelMessageGroup : std::uint8_t {
  kInner,  ///< The m consecutive ranks of one sharding group.
  /// The n ranks, one in each of n sharding groups, that hold the same shard; each message carries
  /// 1/m of the payload, where m is the number of ranks in a sharding group.
  kOuter,
  kWorld,  ///< All data-parallel ranks that hold the same parameters.
};

struct DataMessage {
  OperatorKind kind{};
  DataParallelMessageGroup reach{};
  bool operator==(const DataMessage&) const = default;
};

/// A list of at most two data-parallel messages, sent one after the other.
class DataParallelMessages {
 public:
  constexpr DataParallelMessages() = default;
  constexpr DataParallelMessages(std::initializer_list<DataMessage> messages)
      : count_(messages.size()) {
    std::ranges::copy(messages, messages_.begin());
  }
  [[nodiscard]] constexpr const DataMessage* begin() const { return messages_.data(); }
  [[nodiscard]] constexpr const DataMessage* end() const { return messages_.data() + count_; }
  [[nodiscard]] constexpr bool empty() const { return count_ == 0; }

 private:
  std::array<DataMessage, 2> messages_{};
  std::size_t count_ = 0;
};

/// Returns the messages that a sharding strategy (one of fourteen: how parameters, gradients and
/// optimizer states are split) sends at a moment of the step. `scattered`: true if gradients for a
/// sharded optimizer are reduce-scattered; false: all-reduced.
DataParallelMessages data_parallel_messages_of_sharding(const plan::Sharding& sharding,
                                                        DataParallelMessageMoment moment,
                                                        bool scattered);

/// The groups of ranks over which a plan shards the model states (parameters, gradients, optimizer
/// states) of dense or of routed parameters: sizes and communicators.
struct ShardingGroups {
  /// Number of consecutive ranks in one sharding group, over which a model state is divided (m).
  std::int64_t inner = 1;
  std::int64_t world = 1;  ///< Number of ranks in all sharding groups together (n * m).
  plan::CommunicatorKind inner_group{};
  plan::CommunicatorKind outer_group{};
  plan::CommunicatorKind world_group{};
  bool routed = false;

  [[nodiscard]] std::int64_t outer() const { return world / inner; }
  /// Returns the number of ranks over which a model state is divided: 1 if it is not sharded, the
  /// number of ranks in a sharding group, or that of all data-parallel ranks.
  [[nodiscard]] std::int64_t state_shard_count(plan::StateShardingScope spread) const;
  [[nodiscard]] plan::CommunicatorKind group(DataParallelMessageGroup reach) const;
  [[nodiscard]] std::int64_t ranks(DataParallelMessageGroup reach) const;
  /// Returns the number by which a message's payload is divided: a message between sharding groups
  /// carries only one rank's shard, any other message everything (1).
  [[nodiscard]] std::int64_t message_payload_divisor(DataParallelMessageGroup reach) const {
    return reach == DataParallelMessageGroup::kOuter ? inner : 1;
  }
  /// Returns a block's number of trained parameter elements: of routed (expert) ones if the groups
  /// shard those, else of dense ones. `size`: the block's parameter counts.
  [[nodiscard]] std::int64_t sharded_trained_elements(const ModelBlockParameterCounts& size) const {
    return routed ? size.expert : size.dense;
  }
  /// Returns a block's number of frozen parameter elements: of routed (expert) ones if the groups
  /// shard those, else of dense ones. `size`: the block's parameter counts.
  [[nodiscard]] std::int64_t frozen(const ModelBlockParameterCounts& size) const {
    return routed ? size.frozen_expert : size.frozen_dense;
  }
  [[nodiscard]] std::int64_t tensors(const ModelBlockParameterCounts& size) const {
    return routed ? size.expert_tensors : size.dense_tensors;
  }
  [[nodiscard]] const OptimizerMatrixSizes& stacked_matrix_sizes(
      const ModelBlockParameterCounts& size) const {
    return size.matrices(routed);
  }
  /// Returns the number of elements that a block with the parameter counts `size` contributes to
  /// the data-parallel messages at a moment of the step: trained elements, and frozen ones too in
  /// gathers before a use. A table that another block of the rank holds is gathered and reduced
  /// once more with the block that uses it, but summed over ranks and updated only once.
  [[nodiscard]] std::int64_t data_parallel_payload_elements(const ModelBlockParameterCounts& size,
                                                            DataParallelMessageMoment moment) const;
};

ShardingGroups dense_spread(const plan::Plan& plan);
ShardingGroups routed_spread(const plan::Plan& plan);
/// Returns the number of elements, padding included, that one rank holds of a model state (such as
/// gradients) of trained parameters. `size`: counts of the parameters; `spread`: over which ranks
/// the state is divided.
std::int64_t state_shard_elements(const plan::Plan& plan, plan::StateShardingScope spread,
                                  const ModelBlockParameterCounts& size);
/// Returns the number of elements, padding included, that one rank holds of frozen parameters.
std::int64_t frozen_state_shard_elements(const plan::Plan& plan,
                                         const ModelBlockParameterCounts& size);
std::int64_t frozen_state_shard_elements(const plan::Plan& plan, plan::StateShardingScope spread,
                                         const ModelBlockParameterCounts& size);

/// Returns the data type of the data-parallel messages at a moment of the step: parameters as
/// stored, gradients as accumulated, or gradients in fp32 if `wide`.
constexpr DType data_parallel_message_dtype(DataParallelMessageMoment moment, DType storage,
                                            DType gradient, bool wide) {
  if (!moment_carries_gradients(moment)) return storage;
  return wide && gradient != DType::kFp64 ? DType::kFp32 : gradient;
}

/// Number and data type of elements that a rank copies between host and device memory.
struct HostStateCopy {
  DType type{};
  std::int64_t elements = 0;
};
using StateCopies = std::array<HostStateCopy, 2>;
/// Returns the elements of model states stored in host memory that a rank copies to or from the
/// device at a moment of the step, for parameters with the counts `size`. Trained and frozen
/// parameters are one entry if they are stored in one type, else one entry each.
StateCopies offloaded_state_copy_elements(const plan::Job& job, const plan::Plan& plan,
                                          const ShardingGroups& spread,
                                          const ModelBlockParameterCounts& size,
                                          DataParallelMessageMoment moment);

/// Returns the number of elements in each bucket into which data-parallel messages are cut at a
/// moment of the step; 0: messages are not cut, such as gathers of parameters before a use.
std::int64_t bucket_elements(const plan::Plan& plan, DataParallelMessageMoment moment);
/// Returns the number of equal pieces into which a message of `elements` is cut: one for each whole
/// bucket of `bucket` elements, at least one; bucket 0: one piece.
constexpr std::int64_t bucketed_message_pieces(std::int64_t elements, std::int64_t bucket) {
  return bucket > 0 ? std::max<std::int64_t>(1, elements / bucket) : 1;
}
/// True if the gradients collected so far, `elements`, fill a bucket, so that it is reduced. The
/// gradients left at the end of a pipeline chunk are one more bucket.
constexpr bool fills_bucket(std::int64_t elements, std::int64_t bucket) {
  return elements >= bucket;
}

/// True if a backward reduces gradients bucket by bucket after its blocks. False: gradients are
/// only reduced before the update, all gradients of a pipeline stage at once.
bool reduces_in_buckets(const plan::Plan& plan);
/// True if updated parameters are gathered block by block, before the next step's first use. False:
/// the update ends with one gather of all parameters of a pipeline stage.
bool gathers_updates_by_block(const plan::Plan& plan);

/// A message at the end of a step that every sharding strategy sends, such as that of the gradient
/// norm or the loss; an all-reduce unless `kind` says otherwise.
struct StepEndMessage {
  plan::CommunicatorKind group{};
  std::int64_t elements = 0;  ///< Number of elements of the message; 0: the message is not sent.
  DType type{};
  std::string_view name;
  OperatorPurpose purpose{};
  ParallelismScheme scheme{};
  OperatorKind kind = OperatorKind::kAllReduce;
  /// Number of elements in each bucket into which the message is cut; 0: it is sent in one piece.
  std::int64_t bucket = 0;
};
/// Sizes of the sums over ranks in which a pipeline stage takes part at the end of a step.
struct StepEndSumSizes {
  /// Number of elements of dense gradients of which each tensor rank has only a partial sum, so
  /// that the tensor ranks all-reduce them.
  std::int64_t partial = 0;
  std::int64_t expert_partial = 0;
  /// Number of elements of a vocabulary table that another pipeline stage holds too (tied weights);
  /// 0: none.
  std::int64_t tied_table = 0;
  bool loss = false;     ///< True if the pipeline stage computes the loss.
  bool experts = false;  ///< True if the model has experts.
  /// Number of row counts, one for each expert, that the ranks sum for routers that balance load by
  /// a bias (no auxiliary loss); 0: none.
  std::int64_t loads = 0;
  /// True if each tensor rank routes its own rows (sequence parallelism), so that row counts are
  /// summed over tensor ranks too.
  bool shares_rows = false;
};
/// Returns the all-reduces at the end of a step of gradients of which each rank has a partial sum:
/// norm weights under sequence parallelism, norms of heads, adapters, tied tables.
std::array<StepEndMessage, 3> partial_gradient_all_reduces(const plan::Plan& plan,
                                                           const StepEndSumSizes& end);
/// Returns the all-reduces at the end of a step of numbers of which each rank has a partial sum:
/// squares of the gradient norm, the loss with its token count, and row counts of experts
/// (Megatron-Core distributed/finalize_model_grads.py, `_update_router_expert_bias`). `exact`:
/// their type.
std::array<StepEndMessage, 5> step_statistics_all_reduces(const StepEndSumSizes& end, DType exact);

}  // namespace stepwright::step
