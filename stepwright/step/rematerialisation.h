#pragma once

#include <array>
#include <vector>

#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// The end of a module in a forward: its result, and the number of operators up to it.
struct ModuleEnd {
  TensorId result = -1;
  std::int32_t operators = 0;
};
/// Module ends, indexed by `Module`.
using ModuleEnds = std::array<ModuleEnd, std::size(plan::kModuleNames)>;

/// Recomputes in a backward template the tensors that its forward did not keep: it runs exactly the
/// forward's operators that lead from kept tensors to a requested one, each once.
class Rematerialisation {
 public:
  /// The forward from which tensors are recomputed.
  struct Source {
    const TemplateBuilder& forward;
    const Kept& all;           ///< All tensors that a backward may read.
    const Kept& kept;          ///< The tensors of `all` that were kept, as tensors of the forward.
    TensorId parameters = -1;  ///< The forward's gathered parameters; -1: not sharded.
  };
  /// `restored`: the kept tensors, as tensors of the backward; `parameters`: the parameters that
  /// the backward gathered.
  Rematerialisation(const Source& source, const Kept& restored, TensorId parameters);

  /// Makes a request for one of these roles run the whole forward again up to the end of their
  /// module.
  void run_whole(std::vector<Keep> roles, const ModuleEnd& end);

  /// Appends to the backward the operators that produce the tensor of a role, and fills every role
  /// in `kept` whose tensor then exists. Does nothing if the forward has no such tensor.
  void run(TemplateBuilder& backward, Kept& kept, Keep role);

 private:
  /// Analyses the whole forward. Done on the first request only: most backwards never ask, and the
  /// forward of an encoder holds all its layers.
  void start();
  [[nodiscard]] const Template& forward() const { return source_.forward.piece(); }
  /// True if a tensor, read by the operator `reader`, has the value with which it was kept.
  [[nodiscard]] bool is_final(TensorId id, std::int32_t reader) const;
  /// Marks the operators before `reader` that write a tensor, and all operators that lead to them.
  void mark_writers(TensorId id, std::int32_t reader);
  /// Marks the operators before `reader` that must run for a tensor.
  void mark(TensorId id, std::int32_t reader);
  void replay(TemplateBuilder& backward, std::int32_t index);

  struct Whole {
    std::vector<Keep> roles;
    ModuleEnd end;
  };
  Source source_;
  Kept restored_;  ///< Kept tensors, as the backward restored them.
  TensorId parameters_;
  std::vector<Whole> whole_;
  /// For each tensor of the forward, the restored tensor of the backward; -1: not restored.
  std::vector<TensorId> kept_;
  /// For each tensor of the forward, the recomputed tensor of the backward; -1: not recomputed.
  std::vector<TensorId> made_;
  /// Last operator that writes each tensor of the forward; -1 for its inputs.
  std::vector<std::int32_t> last_write_;
  /// For each operator of the forward, true if the backward runs it again.
  std::vector<bool> marked_;
  /// For each operator of the forward, its index in the backward; -1: not run.
  std::vector<std::int32_t> run_;
};

}  // namespace stepwright::step
