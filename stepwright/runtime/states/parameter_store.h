#pragma once

#include <ATen/ATen.h>

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "stepwright/runtime/states/eight_bit_moments.h"
#include "stepwright/runtime/states/parameter_slice.h"
#include "stepwright/runtime/states/state_layout.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// Name of the bias that a router adds to its scores when it chooses experts, to balance their
/// loads.
inline constexpr std::string_view kRouterBiasName = "router.correction_bias";

/// Returns PyTorch's type for a number format. Fails with `kUnsupported` for block-scaled, FP8 and
/// 4-bit formats.
at::ScalarType scalar_type(DType type);

/// Second moments of the rows and columns of a parameter's matrices (Adafactor), sharded as other
/// optimizer states.
struct RowColumnMoments {
  /// The second moments of all rows and columns, described as a slice of a vector parameter
  /// (`adafactor_moment_slice`).
  ParameterSlice slice;
  std::int64_t padded = 0;
  /// Index, among the padded moments, of the first one that this rank holds.
  std::int64_t first = 0;
  at::Tensor held;
};

/// One parameter on a rank, with gradient and optimizer states. Each tensor holds a run of equal
/// blocks of the rank's flattened and padded slice.
struct StoredParameter {
  ParameterSlice slice;
  std::string_view local_name;  ///< Name of the parameter within its block, as operators use it.
  const StateShardingLayout* layout = nullptr;
  /// Parameter of another block that holds values and states for this one (tied tables); null: this
  /// one has its own.
  StoredParameter* owner = nullptr;
  /// True if the parameter is not trained: it has no gradient and no optimizer states.
  bool frozen = false;
  std::int64_t padded = 0;
  /// Offset, in elements, of this parameter in the buffer into which the block's parameters are
  /// gathered; -1: the parameter is not gathered.
  std::int64_t gather_offset = -1;
  /// Offset, in elements, of this gradient in the buffer that the block hands to a reduce message;
  /// -1: the gradient is not in it.
  std::int64_t reduce_offset = -1;
  /// Blocks of the parameter's value that this rank holds, in the storage type of parameters.
  at::Tensor value;
  /// Blocks of the parameter's gradient that this rank holds, in the type in which gradients are
  /// accumulated.
  at::Tensor gradient;
  /// Master copy of the value's blocks, which the optimizer updates in its wider type; an alias of
  /// `value` if the types are equal.
  at::Tensor master;
  at::Tensor first_moment;
  at::Tensor second_moment;
  /// First and second moments of an eight-bit optimizer, which replace `first_moment` and
  /// `second_moment`.
  std::optional<EightBitOptimizerMoments> first_bytes;
  std::optional<EightBitOptimizerMoments> second_bytes;
  /// Second moments of rows and columns (Adafactor), which replace `second_moment` for matrices.
  std::optional<RowColumnMoments> sums;

  /// Returns `flat`, this rank's whole slice flattened, in the parameter's shape: a matrix, a
  /// vector or a stack of expert matrices.
  [[nodiscard]] at::Tensor reshaped_to_parameter(const at::Tensor& flat) const;
  /// Returns the part of `held` (this rank's blocks of a state under the sharding `from`) that this
  /// rank holds under the finer sharding `to`.
  [[nodiscard]] at::Tensor part_under_finer_sharding(const at::Tensor& held,
                                                     plan::StateShardingScope from,
                                                     plan::StateShardingScope to) const;
  /// Returns the parameter that holds values and states: this one, or `owner` if there is one.
  [[nodiscard]] StoredParameter& value_owning_parameter() {
    return owner != nullptr ? *owner : *this;
  }
  /// Returns the number of elements in one of the equal blocks into which this padded parameter is
  /// divided for sharding.
  [[nodiscard]] std::int64_t block() const { return padded / layout->blocks(); }
  /// Returns the index, in this rank's padded slice, of the first element that the rank holds of a
  /// state sharded in the way `spread`.
  [[nodiscard]] std::int64_t first_held_element(plan::StateShardingScope spread) const {
    return layout->shard_blocks_on_this_rank(spread).first * block();
  }
  /// Returns the number of elements that this rank holds of a state sharded in the way `spread`.
  [[nodiscard]] std::int64_t held_elements(plan::StateShardingScope spread) const {
    return layout->shard_blocks_on_this_rank(spread).count * block();
  }
  /// True if Muon or Adafactor treats the parameter as a matrix of a layer.
  [[nodiscard]] bool is_layer_matrix() const {
    return !slice.matrices.empty() && step::is_layer_parameter(local_name);
  }
  /// Returns the part of the parameter's value that this rank's optimizer updates.
  [[nodiscard]] at::Tensor value_updated_by_own_optimizer() const;
  /// Returns the gradient of the part of the value that this rank's optimizer updates.
  [[nodiscard]] at::Tensor gradient_for_own_optimizer() const;
};

/// Parameters of one block (a layer, the embedding or the head) on a rank, in the order in which
/// its step program lists them.
struct ModelBlockParameters {
  std::vector<StoredParameter> parameters;
  /// Router biases of the block, which are adjusted by expert loads instead of gradients. Their
  /// `gradient` holds the number of rows that each expert got.
  std::vector<StoredParameter> buffers;
  /// Number of elements of the buffer into which the block's parameters are gathered.
  std::int64_t gathered_elements = 0;
  /// Number of elements of the buffer of gradients that the block hands to a reduce message.
  std::int64_t leaving_elements = 0;
  /// Returns the parameter or buffer of the block with this name; null if it has none.
  [[nodiscard]] StoredParameter* find(std::string_view local_name);
  /// Returns the trained parameters of the block (dense or expert ones) that have states of their
  /// own on this rank.
  [[nodiscard]] std::vector<StoredParameter*> trained_parameters_with_own_states(bool expert);
  /// Returns all parameters of the block, dense or expert ones; instead of a borrowed one (tied
  /// table), the parameter that holds its values.
  [[nodiscard]] std::vector<StoredParameter*> value_holding_parameters_of_block(bool expert);
};

/// All parameters of a rank with their gradients and optimizer states.
class ParameterStore {
 public:
  /// The rank whose parameters are stored, with the plan and settings that say how they are
  /// sharded.
  struct ParameterStoreRank {
    const step::StepBuildSettings& setting;
    const plan::Plan& plan;
    plan::Optimizer optimizer;
    const plan::RankGrid& grid;
    std::int64_t rank = 0;
    at::Device device = at::kCPU;
  };
  /// Allocates parameters, gradients and optimizer states of a pipeline stage, and sets initial
  /// values. The forward and the backward of a block must list the same parameters. Fails with
  /// `kUnsupported` for a type that PyTorch lacks, and if ranks that orthogonalize for Muon would
  /// have unequal parts of the matrices.
  ParameterStore(const ParameterStoreRank& place, const step::StepProgram& program,
                 const step::PipelineStageProgram& stage, std::uint64_t seed);
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  /// Returns the parameters of the block with the identifier `id` (`TemplateSequenceItem::units`);
  /// throws if the stage has no such block.
  [[nodiscard]] ModelBlockParameters& parameters_of_block(std::int32_t id) { return units_.at(id); }
  /// Returns the identifiers of this rank's blocks (layers, embedding, head), in the order in which
  /// its stage first uses them.
  [[nodiscard]] const std::vector<std::int32_t>& block_numbers_in_use_order() const {
    return order_;
  }
  /// Returns all trained parameters that have states on this rank, block by block.
  [[nodiscard]] std::vector<StoredParameter*> trained_parameters_with_own_states();
  /// Returns all parameters, trained or frozen, whose values are on this rank, block by block.
  [[nodiscard]] std::vector<StoredParameter*> parameters_on_this_rank();
  /// Returns the router biases that expert loads adjust, block by block.
  [[nodiscard]] std::vector<StoredParameter*> buffers();
  /// Returns everything that a training step changes: the trained parameters, then the router
  /// biases that expert loads adjust.
  [[nodiscard]] std::vector<StoredParameter*> kept();
  /// Returns how states of dense parameters (or of expert parameters) are sharded over
  /// data-parallel ranks.
  [[nodiscard]] const StateShardingLayout& state_sharding_layout_of_kind(bool expert) const {
    return expert ? expert_layout_ : dense_layout_;
  }
  /// Sets all gradients to zero, before the first forward of a step.
  void zero_gradients();

 private:
  void add_unit(std::int32_t id, const std::vector<step::RankLocalParameter>& local,
                std::uint64_t seed);
  void add_buffers(ModelBlockParameters& unit, std::int32_t id) const;
  [[nodiscard]] StoredParameter* owner_of(std::string_view name);
  void allocate(StoredParameter& parameter, std::uint64_t seed) const;
  void allocate_moments(StoredParameter& parameter) const;
  [[nodiscard]] const StateShardingLayout* layout_of(const ParameterSlice& slice,
                                                     const step::RankLocalParameter& local);
  void check_owners() const;
  [[nodiscard]] RowColumnMoments edge_sums(const StoredParameter& parameter) const;
  void allocate_gradients(ModelBlockParameters& unit) const;
  [[nodiscard]] at::Tensor zeros(std::int64_t elements, DType type) const;

  step::StepBuildSettings setting_;
  plan::Optimizer optimizer_;
  at::Device device_;
  plan::RankCoordinates coordinates_;
  StateShardingLayout dense_layout_;
  StateShardingLayout expert_layout_;
  /// Sharding layout of router biases: every rank has a full copy.
  StateShardingLayout whole_layout_;
  std::deque<StateShardingLayout> owned_layouts_;
  /// Key by which matrices are assigned to ranks: shape (copies, rows, columns), tensor-parallel
  /// split, and true for experts. Matrices with equal keys are assigned in turn to the ranks that
  /// hold their optimizer states.
  using Shape =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, model::TensorParallelSplit, bool>;
  std::map<Shape, std::int64_t> dealt_;
  std::map<std::int32_t, ModelBlockParameters> units_;
  std::vector<std::int32_t> order_;
};

}  // namespace stepwright::runtime
