#include "stepwright/fit/own_cluster/planned_work.h"

#include "stepwright/cost/profiles/measured_profile.h"
#include "stepwright/step/work.h"

namespace stepwright::fit {
namespace {

template <class VisitorCallback>
void each_operator(const step::StepProgram& program, const step::PipelineStageProgram& stage,
                   VisitorCallback&& visit) {
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    for (const step::TemplateSequenceItem& item :
         stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      const step::OperatorTemplate& piece = program.templates[static_cast<std::size_t>(item.which)];
      for (const step::Operator& op : piece.operators) visit(op);
    }
  }
}

}  // namespace

WorkByKind planned_computations(const step::StepProgram& program,
                                const step::PipelineStageProgram& stage) {
  WorkByKind work;
  each_operator(program, stage, [&](const step::Operator& op) {
    if (step::is_communication(op.kind)) return;
    PlannedComputations& sum = work[{op.kind, cost::phase_as_measured(op.phase)}];
    sum.operators += op.repeats;
    sum.flops += op.repeats * step::operator_flops(op);
    sum.bytes += op.repeats * step::device_memory_traffic_bytes(op);
    sum.dtype = op.dtype;
  });
  return work;
}

MessagesByScheme planned_messages(const step::StepProgram& program,
                                  const step::PipelineStageProgram& stage) {
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
