#include "stepwright/fit/own_cluster/planned_work.h"

#include "stepwright/cost/profiles/measured_profile.h"
#include "stepwright/step/work.h"

namespace stepwright {

WorkByKind planned_work(const StepProgram& program, const Stage& stage) {
  WorkByKind work;
  for (const Slot& slot : stage.schedule) {
    for (const Item& item : stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      for (const Operator& op : program.templates[static_cast<std::size_t>(item.which)].operators) {
        if (is_communication(op.kind)) continue;
        PlannedWork& sum = work[{op.kind, law_phase(op.phase)}];
        sum.operators += op.repeats;
        sum.flops += op.repeats * flops(op);
        sum.bytes += op.repeats * memory_bytes(op);
        sum.dtype = op.dtype;
      }
    }
  }
  return work;
}

}  // namespace stepwright
