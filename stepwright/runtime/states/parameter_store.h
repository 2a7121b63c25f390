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

/// The bias by which a router of loads that differ corrects its choice.
inline constexpr std::string_view kCorrectionBias = "router.correction_bias";

/// PyTorch's name of a type. Fails with `kUnsupported` for one narrower than 16 bits.
at::ScalarType scalar_type(DType type);

/// The second moments of the rows and columns of a parameter's matrices, spread as an optimizer's
/// states are.
struct EdgeSums {
  ParameterSlice slice;  ///< Slice of the sums, as of a vector (`edge_slice`).
  std::int64_t padded = 0;
  std::int64_t first = 0;  ///< Index of the first padded sum that this rank holds.
  at::Tensor held;
};

/// One parameter of a rank with its states: runs of blocks of the flattened, padded local part.
struct StoredParameter {
  ParameterSlice slice;
  std::string_view local_name;  ///< Name of the parameter in templates.
  const StateLayout* layout = nullptr;
  StoredParameter* owner = nullptr;  ///< Borrowed: who holds the states; else null.
  bool frozen = false;               ///< It has a value alone.
  std::int64_t padded = 0;
  /// Offset in the block's gathered parameters; -1: not among them.
  std::int64_t gather_offset = -1;
  /// Offset in the block's leaving gradients; -1: not among them.
  std::int64_t reduce_offset = -1;
  at::Tensor value;     ///< Held blocks, type of storage.
  at::Tensor gradient;  ///< Held blocks, type of accumulation.
  at::Tensor master;    ///< Optimizer's blocks; aliases `value` where types are equal.
  at::Tensor first_moment;
  at::Tensor second_moment;
  std::optional<EightBits> first_bytes;  ///< Instead of them, of an optimizer of eight bits.
  std::optional<EightBits> second_bytes;
  std::optional<EdgeSums> sums;  ///< Instead of them, of a matrix whose optimizer keeps sums.

  /// A whole flat local part as the matrix (or vector, or stack of expert matrices) it is.
  [[nodiscard]] at::Tensor shaped(const at::Tensor& flat) const;
  /// The blocks that a rank holds at the finer `to` out of a state held at `from`.
  [[nodiscard]] at::Tensor part(const at::Tensor& held, plan::Spread from, plan::Spread to) const;
  /// Who holds the states: itself, or the owner of a borrowed one.
  [[nodiscard]] StoredParameter& holder() { return owner != nullptr ? *owner : *this; }
  /// Elements of one of its blocks.
  [[nodiscard]] std::int64_t block() const { return padded / layout->blocks(); }
  /// The first element, of the padded local part, of a state that is spread so, and how many this
  /// rank holds.
  [[nodiscard]] std::int64_t first_element(plan::Spread spread) const {
    return layout->held(spread).first * block();
  }
  [[nodiscard]] std::int64_t held_elements(plan::Spread spread) const {
    return layout->held(spread).count * block();
  }
  /// Whether an optimizer of matrices of layers treats it as one.
  [[nodiscard]] bool is_layer_matrix() const {
    return !slice.matrices.empty() && step::is_of_layers(local_name);
  }
  /// The blocks of the value and the gradient that this rank's optimizer updates.
  [[nodiscard]] at::Tensor optimizer_value() const;
  [[nodiscard]] at::Tensor optimizer_gradient() const;
};

/// A block's parameters in the order of its templates.
struct StoredUnit {
  std::vector<StoredParameter> parameters;
  /// Parameters that are stored and not trained: biases of routers. Their gradients are loads of
  /// experts.
  std::vector<StoredParameter> buffers;
  std::int64_t gathered_elements = 0;  ///< Elements of its gathered parameters.
  std::int64_t leaving_elements = 0;   ///< Elements of its gradients on their way to being reduced.
  /// The parameter of a name that templates use; null when the block has none of this name.
  [[nodiscard]] StoredParameter* find(std::string_view local_name);
  /// The trained parameters with states here, of the dense or the expert side.
  [[nodiscard]] std::vector<StoredParameter*> own(bool expert);
  /// All parameters of a side, borrowed ones as their owners.
  [[nodiscard]] std::vector<StoredParameter*> used(bool expert);
};

/// All parameters of a rank, their gradients and optimizer states.
class ParameterStore {
 public:
  /// Whose parameters, and how they are cut.
  struct Place {
    const step::Setting& setting;
    const plan::Plan& plan;
    plan::Optimizer optimizer;
    const plan::Grid& grid;
    std::int64_t rank = 0;
    at::Device device = at::kCPU;
  };
  /// Allocates the states of a stage and sets initial values. All blocks of a unit list the same
  /// parameters. Throws what `scalar_type` throws, and `kUnsupported` where owners of matrices
  /// would have unequal parts.
  ParameterStore(const Place& place, const step::StepProgram& program, const step::Stage& stage,
                 std::uint64_t seed);
  ParameterStore(const ParameterStore&) = delete;
  ParameterStore& operator=(const ParameterStore&) = delete;

  /// The unit that `Item::units` names; throws when the stage has no such block.
  [[nodiscard]] StoredUnit& unit(std::int32_t id) { return units_.at(id); }
  /// The blocks of this rank, as its stage meets them.
  [[nodiscard]] const std::vector<std::int32_t>& order() const { return order_; }
  /// All trained parameters whose states are here, block by block.
  [[nodiscard]] std::vector<StoredParameter*> own();
  /// All parameters whose states are here, frozen ones too, block by block.
  [[nodiscard]] std::vector<StoredParameter*> held();
  /// The buffers, block by block, and those behind what is trained.
  [[nodiscard]] std::vector<StoredParameter*> buffers();
  [[nodiscard]] std::vector<StoredParameter*> kept();
  /// How dense parameters are cut over ranks, or those of experts.
  [[nodiscard]] const StateLayout& layout(bool expert) const {
    return expert ? expert_layout_ : dense_layout_;
  }
  /// Before the first forward of a step.
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
  [[nodiscard]] EdgeSums edge_sums(const StoredParameter& parameter) const;
  void allocate_gradients(StoredUnit& unit) const;
  [[nodiscard]] at::Tensor zeros(std::int64_t elements, DType type) const;

  step::Setting setting_;
  plan::Optimizer optimizer_;
  at::Device device_;
  plan::Coordinates coordinates_;
  StateLayout dense_layout_;
  StateLayout expert_layout_;
  StateLayout whole_layout_;  ///< Layout of buffers, which every rank has.
  std::deque<StateLayout> owned_layouts_;
  /// Matrices of a shape, alike cut, of experts or not, that were dealt out to owners so far.
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, model::Split, bool>;
  std::map<Shape, std::int64_t> dealt_;
  std::map<std::int32_t, StoredUnit> units_;
  std::vector<std::int32_t> order_;
};

}  // namespace stepwright::runtime
