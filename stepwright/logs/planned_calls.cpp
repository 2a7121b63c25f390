#include "stepwright/logs/planned_calls.h"

#include <fmt/format.h>

namespace stepwright::logs {
namespace {

ProcessGroupCall call_of(const step::Operator& op) {
  return {op.kind, op.scheme, op.phase, std::string(op.name), op.payload_bytes()};
}

void add_template(Calls& calls, const step::OperatorTemplate& piece, std::int64_t rank,
                  const plan::RankGrid& grid) {
  for (const step::Operator& op : piece.operators) {
    if (!step::is_communication(op.kind) || grid.group_ranks_containing(op.group, rank).size() < 2)
      continue;
    std::vector<ProcessGroupCall>& list =
        calls[{rank, op.group, std::string(step::operator_communicator_name(op))}];
    list.insert(list.end(), static_cast<std::size_t>(op.repeats), call_of(op));
  }
}

}  // namespace

void add_planned_calls(Calls& calls, const step::StepProgram& program, const plan::RankGrid& grid,
                       std::int64_t rank) {
  const auto position = static_cast<std::size_t>(grid.coordinates(rank).pipeline);
  const step::PipelineStageProgram& stage = program.stages[position];
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    for (const step::TemplateSequenceItem& item :
         stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      add_template(calls, program.templates[static_cast<std::size_t>(item.which)], rank, grid);
    }
  }
}

Calls planned_calls(const step::StepProgram& program, const plan::RankGrid& grid) {
  Calls calls;
  for (std::int64_t rank = 0; rank < program.ranks; ++rank) {
    add_planned_calls(calls, program, grid, rank);
  }
  return calls;
}

std::set<ProcessGroupCall> data_dependent_calls(const step::StepProgram& program) {
  std::set<ProcessGroupCall> calls;
  if (program.even_routing) return calls;
  for (const step::OperatorTemplate& piece : program.templates) {
    for (const step::Operator& op : piece.operators) {
      if (step::is_communication(op.kind) && op.routed) calls.insert(call_of(op));
    }
  }
  return calls;
}

std::string group_call_description(const ProcessGroupCall& call) {
  return fmt::format("{} of {}, {}, {} bytes", name_of(step::kOperatorNames, call.operation),
                     call.name, name_of(step::kPhaseNames, call.phase), call.payload_bytes);
}

}  // namespace stepwright::logs
