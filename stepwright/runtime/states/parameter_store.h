#pragma once

#include <ATen/ATen.h>

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "stepwright/runtime/states/eight_bits.h"
#include "stepwright/runtime/states/parameter_slice.h"
#include "stepwright/runtime/states/state_layout.h"
#include "stepwright/step/matrices.h"
#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// Name of the bias by which a router corrects its choice of experts to balance their loads.
inline constexpr std::string_view kCorrectionBias = "router.correction_bias";

/// Returns PyTorch's type for a type. Fails with `kUnsupported` for one narrower than 16 bits.
at::ScalarType scalar_type(DType type);

/// The second moments of the rows and columns of a parameter's matrices, sharded as an optimizer's
/// states are.
struct RowColumnMoments {
  ParameterSlice slice;  ///< Slice of the sums, as of a vector (`edge_slice`).
  std::int64_t padded = 0;
  std::int64_t first = 0;  ///< Index of the first padded sum that this rank holds.
  at::Tensor held;
};

/// One parameter of a rank with its states; each state holds a run of blocks of the flattened,
/// padded local part.
struct StoredParameter {
  ParameterSlice slice;
  std::string_view local_name;  ///< Name of the parameter in templates.
  const StateLayout* layout = nullptr;
  /// For a borrowed parameter, the parameter that holds the states; else null.
  StoredParameter* owner = nullptr;
  /// True if it is not trained: it has a value and no gradient or optimizer states.
  bool frozen = false;
  std::int64_t padded = 0;
  /// Offset in the block's gathered parameters; -1: it is not gathered.
  std::int64_t gather_offset = -1;
  /// Offset in the gradients that the block passes on to a reduction; -1: not among them.
  std::int64_t reduce_offset = -1;
  at::Tensor value;     ///< Held blocks of the value, in the storage type.
  at::Tensor gradient;  ///< Held blocks of the gradient, in the accumulation type.
  /// The optimizer's blocks of the value; aliases `value` where types are equal.
  at::Tensor master;
  at::Tensor first_moment;
  at::Tensor second_moment;
  /// Moments of an eight-bit optimizer, in place of `first_moment` and `second_moment`.
  std::optional<EightBits> first_bytes;
  std::optional<EightBits> second_bytes;
  /// Sums in place of the moments, for a matrix whose optimizer keeps sums.
  std::optional<RowColumnMoments> sums;

  /// Returns a whole flat local part in its shape: a matrix, a vector or a stack of expert
  /// matrices.
  [[nodiscard]] at::Tensor shaped(const at::Tensor& flat) const;
  /// Returns, from a state held at spread `from`, the blocks that this rank holds at the finer
  /// spread `to`.
  [[nodiscard]] at::Tensor part(const at::Tensor& held, plan::Spread from, plan::Spread to) const;
  /// Returns the parameter that holds the states: itself, or the owner of a borrowed one.
  [[nodiscard]] StoredParameter& holder() { return owner != nullptr ? *owner : *this; }
  /// Returns the number of elements of one of its blocks.
  [[nodiscard]] std::int64_t block() const { return padded / layout->blocks(); }
  /// Return the first element (index in the padded local part) of a state with this spread that
  /// this rank holds, and (`held_elements`) how many it holds.
  [[nodiscard]] std::int64_t first_element(plan::Spread spread) const {
    return layout->held(spread).first * block();
  }
  [[nodiscard]] std::int64_t held_elements(plan::Spread spread) const {
    return layout->held(spread).count * block();
  }
  /// True if an optimizer of layers' matrices (Muon, Adafactor) treats it as a matrix.
  [[nodiscard]] bool is_layer_matrix() const {
    return !slice.matrices.empty() && step::is_of_layers(local_name);
  }
  /// Return the blocks of the value and of the gradient that this rank's optimizer updates.
  [[nodiscard]] at::Tensor optimizer_value() const;
  [[nodiscard]] at::Tensor optimizer_gradient() const;
};

/// A block's parameters in the order of its templates.
struct StoredUnit {
  std::vector<StoredParameter> parameters;
  /// Parameters that are stored but not trained: biases of routers. Their `gradient` holds the
  /// loads of experts.
  std::vector<StoredParameter> buffers;
  std::int64_t gathered_elements = 0;  ///< Number of elements of its gathered parameters.
  /// Elements of the gradients that it passes on to a reduction.
  std::int64_t leaving_elements = 0;
  /// Returns the parameter of a name that templates use; null when the block has none of this name.
  [[nodiscard]] StoredParameter* find(std::string_view local_name);
  /// Returns the trained dense (or expert) parameters whose states are on this rank.
  [[nodiscard]] std::vector<StoredParameter*> own(bool expert);
  /// Returns all dense (or expert) parameters; a borrowed one is replaced by its owner.
  [[nodiscard]] std::vector<StoredParameter*> used(bool expert);
};

/// All parameters of a rank, their gradients and optimizer states.
class ParameterStore {
 public:
  /// The rank whose parameters are stored, and how they are cut.
  struct Place {
    const step::Setting& setting;
    const plan::Plan& plan;
    plan::Optimizer optimizer;
    const plan::Grid& grid;
    std::int64_t rank = 0;
    at::Device device = at::kCPU;
  };
  /// Allocates the states of a stage and sets initial values. All blocks of a unit must list the
  /// same parameters. Throws what `scalar_type` throws, and `kUnsupported` where owners of matrices
  /// would have unequal parts.
  ParameterStore(const Place& place, const step::StepProgram& program, const step::Stage& stage,
                 std::uint64_t seed);
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  /// Returns the unit that `Item::units` names; throws when the stage has no such block.
  [[nodiscard]] StoredUnit& unit(std::int32_t id) { return units_.at(id); }
  /// Returns the blocks of this rank, in the order in which its stage meets them.
  [[nodiscard]] const std::vector<std::int32_t>& order() const { return order_; }
  /// Returns all trained parameters whose states are on this rank, block by block.
  [[nodiscard]] std::vector<StoredParameter*> own();
  /// Returns all parameters, trained or frozen, whose states are on this rank, block by block.
  [[nodiscard]] std::vector<StoredParameter*> held();
  /// Returns the buffers, block by block; `kept`: the trained parameters, then the buffers.
  [[nodiscard]] std::vector<StoredParameter*> buffers();
  [[nodiscard]] std::vector<StoredParameter*> kept();
  /// Returns how dense parameters (or those of experts) are cut over ranks.
  [[nodiscard]] const StateLayout& layout(bool expert) const {
    return expert ? expert_layout_ : dense_layout_;
  }
  /// Sets all gradients to zero; called before the first forward of a step.
  void zero_gradients();

 private:
  void add_unit(std::int32_t id, const std::vector<step::LocalParameter>& local,
                std::uint64_t seed);
  void add_buffers(StoredUnit& unit, std::int32_t id) const;
  [[nodiscard]] StoredParameter* owner_of(std::string_view name);
  void allocate(StoredParameter& parameter, std::uint64_t seed) const;
  void allocate_moments(StoredParameter& parameter) const;
  [[nodiscard]] const StateLayout* layout_of(const ParameterSlice& slice,
                                             const step::LocalParameter& local);
  void check_owners() const;
  [[nodiscard]] RowColumnMoments edge_sums(const StoredParameter& parameter) const;
  void allocate_gradients(StoredUnit& unit) const;
  [[nodiscard]] at::Tensor zeros(std::int64_t elements, DType type) const;

  step::Setting setting_;
  plan::Optimizer optimizer_;
  at::Device device_;
  plan::Coordinates coordinates_;
  StateLayout dense_layout_;
  StateLayout expert_layout_;
  StateLayout whole_layout_;  ///< Layout of buffers, which every rank has in full.
  std::deque<StateLayout> owned_layouts_;
  /// Number of matrices assigned to owners so far, by shape, cut, and whether they belong to
  /// experts.
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, model::TensorSplit, bool>;
  std::map<Shape, std::int64_t> dealt_;
  std::map<std::int32_t, StoredUnit> units_;
  std::vector<std::int32_t> order_;
};

}  // namespace stepwright::runtime
