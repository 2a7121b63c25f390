#pragma once

#include <array>
#include <vector>

#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// Where a module ends in a forward template: the module's result, and the number of operators up
/// to it.
struct ForwardModuleEnd {
  TensorId result = -1;
  std::int32_t operators = 0;
};
/// Where each module ends in a forward template, indexed by `plan::RecomputeModule`.
using ModuleEnds = std::array<ForwardModuleEnd, std::size(plan::kModuleNames)>;

/// Recomputes, in a backward template, the tensors that the forward did not keep (activation
/// recomputation): it runs exactly the forward's operators that lead from kept tensors to a
/// requested one, each once.
class Rematerialisation {
 public:
  /// Forward template (its operators and tensors) from which a backward recomputes tensors.
  struct RecomputationSource {
    const OperatorTemplateBuilder& forward;
    const KeptTensors& all;   ///< All tensors of the forward that its backward may read, by role.
    const KeptTensors& kept;  ///< Tensors of `all` that stay in memory for the backward, by role.
    /// Tensor of the forward's gathered parameters; -1: parameters are not sharded.
    TensorId parameters = -1;
  };
  /// Prepares the recomputation in one backward. `restored`: the kept tensors as tensors of the
  /// backward; `parameters`: tensor of the parameters that the backward gathered (-1: not sharded).
  Rematerialisation(const RecomputationSource& source, const KeptTensors& restored,
                    TensorId parameters);

  /// Makes a module run again as a whole if a tensor with one of `roles` is requested: all
  /// operators up to the module's `end`, even those that the tensor does not need.
  void recompute_whole_module(std::vector<KeptTensorRole> roles, const ForwardModuleEnd& end);

  /// Appends to the backward the forward operators that produce the tensor with the given role, and
  /// sets every role in `kept` whose tensor then exists. Does nothing if the forward has no such
  /// tensor.
  void recompute_tensor_of_role(OperatorTemplateBuilder& backward, KeptTensors& kept,
                                KeptTensorRole role);

 private:
  /// Prepares the tables of the whole forward. Done on the first request only: most backwards never
  /// recompute, and the forward of an encoder holds all its layers.
  void prepare_forward_tables();
  [[nodiscard]] const OperatorTemplate& forward() const { return source_.forward.piece(); }
  /// True if no forward operator from number `reader` on writes the tensor `id`, so that operator
  /// `reader` reads the value that was kept.
  [[nodiscard]] bool is_kept_value_unchanged(TensorId id, std::int32_t reader) const;
  /// Marks for recomputation the forward operators before number `reader` that write the tensor
  /// `id`, and all operators that lead to them.
  void mark_producing_operators_to_rerun(TensorId id, std::int32_t reader);
  /// Marks for recomputation the forward operators before number `reader` that produce the tensor
  /// `id`, unless the forward kept it.
  void mark_producers_for_recomputation(TensorId id, std::int32_t reader);
  void replay(OperatorTemplateBuilder& backward, std::int32_t index);

  struct Whole {
    std::vector<KeptTensorRole> roles;
    ForwardModuleEnd end;
  };
  RecomputationSource source_;
  KeptTensors restored_;  ///< Tensors that the forward kept, as tensors of the backward, by role.
  TensorId parameters_;
  std::vector<Whole> whole_;
  /// For each tensor of the forward, its restored copy in the backward; -1: not restored.
  std::vector<TensorId> kept_;
  /// For each tensor of the forward, the tensor of the backward that holds its recomputed value;
  /// -1: not recomputed.
  std::vector<TensorId> made_;
  /// Index of the last operator that writes each tensor of the forward; -1: an input of the
  /// forward.
  std::vector<std::int32_t> last_write_;
  /// For each operator of the forward: true if the backward must run it again.
  std::vector<bool> marked_;
  /// For each operator of the forward, its index in the backward; -1: the backward has not run it.
  std::vector<std::int32_t> run_;
};

}  // namespace stepwright::step
