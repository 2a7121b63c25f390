#pragma once

#include <array>
#include <vector>

#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The end of a module of a forward: its result, and how many operators stand before.
struct ModuleEnd {
  TensorId result = -1;
  std::int32_t operators = 0;
};
/// The ends by `Module`.
using ModuleEnds = std::array<ModuleEnd, std::size(plan::kModuleNames)>;

/// Computes in a backward template what its forward did not keep: the operators of the forward that
/// lead from what it kept to the tensor that is asked for, and no others, each once.
class Rematerialisation {
 public:
  /// The source of the values.
  struct Source {
    const TemplateBuilder& forward;
    const Kept& all;           ///< All tensors that a backward may read.
    const Kept& kept;          ///< The part of `all` that was kept, as tensors of the forward.
    TensorId parameters = -1;  ///< The forward's gathered parameters; -1: not sharded.
  };
  /// `restored`: what was kept, as tensors of the backward; `parameters`: gathered there.
  Rematerialisation(const Source& source, const Kept& restored, TensorId parameters);

  /// Runs everything up to the end of its module again where one of these roles is asked for.
  void run_whole(std::vector<Keep> roles, const ModuleEnd& end);

  /// Appends to the backward what makes the tensor of a role, and fills every role in `kept` whose
  /// tensor is there then. Nothing where the forward has no such tensor.
  void run(TemplateBuilder& backward, Kept& kept, Keep role);

 private:
  /// Looks at the whole forward. Most backwards never ask, and the forward of an encoder holds all
  /// its layers.
  void start();
  [[nodiscard]] const Template& forward() const { return source_.forward.piece(); }
  /// Whether a tensor has, for a reader at this operator, the value with which it was kept.
  [[nodiscard]] bool is_final(TensorId id, std::int32_t reader) const;
  /// Marks the operators before `reader` that write a tensor, and what leads to them.
  void mark_writers(TensorId id, std::int32_t reader);
  /// Marks the operators before `reader` that must run for a tensor.
  void mark(TensorId id, std::int32_t reader);
  void replay(TemplateBuilder& backward, std::int32_t index);

  struct Whole {
    std::vector<Keep> roles;
    ModuleEnd end;
  };
  Source source_;
  Kept restored_;  ///< Tensors that were restored at the start.
  TensorId parameters_;
  std::vector<Whole> whole_;
  std::vector<TensorId> kept_;  ///< By tensor of the forward: where it was restored; -1.
  std::vector<TensorId> made_;  ///< By tensor of the forward: where it was made again; -1.
  /// Last operator that writes each tensor of the forward; -1 for its inputs.
  std::vector<std::int32_t> last_write_;
  std::vector<bool> marked_;  ///< Operators of the forward that run again.
  /// By operator of the forward: its index in the backward; -1: not run.
  std::vector<std::int32_t> run_;
};

}  // namespace stepwright::step
