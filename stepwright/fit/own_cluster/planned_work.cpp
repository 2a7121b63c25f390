#include "stepwright/fit/own_cluster/planned_work.h"

#include "stepwright/cost/profiles/measured_profile.h"
#include "stepwright/step/work.h"

namespace stepwright {
namespace {

template <class Visit>
void each_operator(const StepProgram& program, const Stage& stage, Visit&& visit) {
  for (const Slot& slot : stage.schedule) {
    for (const Item& item : stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      const Template& piece = program.templates[static_cast<std::size_t>(item.which)];
      for (const Operator& op : piece.operators) visit(op);
    }
  }
}

}  // namespace

WorkByKind planned_work(const StepProgram& program, const Stage& stage) {
  WorkByKind work;
  each_operator(program, stage, [&](const Operator& op) {
    if (is_communication(op.kind)) return;
    PlannedWork& sum = work[{op.kind, law_phase(op.phase)}];
    sum.operators += op.repeats;
    sum.flops += op.repeats * flops(op);
    sum.bytes += op.repeats * memory_bytes(op);
    sum.dtype = op.dtype;
  });
  return work;
}

MessagesByScheme planned_messages(const StepProgram& program, const Stage& stage) {
  MessagesByScheme messages;
  each_operator(program, stage, [&](const Operator& op) {
    if (!is_communication(op.kind)) return;
    if (program.group_sizes[static_cast<std::size_t>(op.group)] < 2) return;
    PlannedMessages& sum = messages[{op.scheme, collective_of(op.kind)}];
    sum.calls += op.repeats;
    sum.bytes += op.repeats * static_cast<double>(op.payload_bytes());
  });
  return messages;
}

}  // namespace stepwright
