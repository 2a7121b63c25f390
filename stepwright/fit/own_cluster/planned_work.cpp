#include "stepwright/fit/own_cluster/planned_work.h"

#include "stepwright/cost/profiles/measured_profile.h"
#include "stepwright/step/work.h"

namespace stepwright::fit {
namespace {

template <class Visit>
void each_operator(const step::StepProgram& program, const step::Stage& stage, Visit&& visit) {
  for (const step::ScheduleSlot& slot : stage.schedule) {
    for (const step::Item& item : stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      const step::Template& piece = program.templates[static_cast<std::size_t>(item.which)];
      for (const step::Operator& op : piece.operators) visit(op);
    }
  }
}

}  // namespace

WorkByKind planned_computations(const step::StepProgram& program, const step::Stage& stage) {
  WorkByKind work;
  each_operator(program, stage, [&](const step::Operator& op) {
    if (step::is_communication(op.kind)) return;
    PlannedComputations& sum = work[{op.kind, cost::measured_phase_of(op.phase)}];
    sum.operators += op.repeats;
    sum.flops += op.repeats * step::flops(op);
    sum.bytes += op.repeats * step::memory_bytes(op);
    sum.dtype = op.dtype;
  });
  return work;
}

MessagesByScheme planned_messages(const step::StepProgram& program, const step::Stage& stage) {
  MessagesByScheme messages;
  each_operator(program, stage, [&](const step::Operator& op) {
    if (!step::is_communication(op.kind)) return;
    if (program.group_sizes[static_cast<std::size_t>(op.group)] < 2) return;
    PlannedMessages& sum = messages[{op.scheme, step::collective_of_operator(op.kind)}];
    sum.calls += op.repeats;
    sum.bytes += op.repeats * static_cast<double>(op.payload_bytes());
  });
  return messages;
}

}  // namespace stepwright::fit
