#include "stepwright/logs/planned_calls.h"

#include <fmt/format.h>

namespace stepwright {
namespace {

GroupCall call_of(const Operator& op) {
  return {op.kind, op.scheme, op.phase, std::string(op.name), op.payload_bytes()};
}

void add_template(Calls& calls, const Template& piece, std::int64_t rank, const Grid& grid) {
  for (const Operator& op : piece.operators) {
    if (!is_communication(op.kind) || grid.members(op.group, rank).size() < 2) continue;
    std::vector<GroupCall>& list = calls[{rank, op.group, std::string(channel_of(op))}];
    list.insert(list.end(), static_cast<std::size_t>(op.repeats), call_of(op));
  }
}

}  // namespace

void add_planned_calls(Calls& calls, const StepProgram& program, const Grid& grid,
                       std::int64_t rank) {
  const auto position = static_cast<std::size_t>(grid.coordinates(rank).pipeline);
  const Stage& stage = program.stages[position];
  for (const Slot& slot : stage.schedule) {
    for (const Item& item : stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      add_template(calls, program.templates[static_cast<std::size_t>(item.which)], rank, grid);
    }
  }
}

Calls planned_calls(const StepProgram& program, const Grid& grid) {
  Calls calls;
  for (std::int64_t rank = 0; rank < program.ranks; ++rank) {
    add_planned_calls(calls, program, grid, rank);
  }
  return calls;
}

std::set<GroupCall> data_calls(const StepProgram& program) {
  std::set<GroupCall> calls;
  if (program.even_routing) return calls;
  for (const Template& piece : program.templates) {
    for (const Operator& op : piece.operators) {
      if (is_communication(op.kind) && op.routed) calls.insert(call_of(op));
    }
  }
  return calls;
}

std::string text_of(const GroupCall& call) {
  return fmt::format("{} of {}, {}, {} bytes", name_of(kOperatorNames, call.operation), call.name,
                     name_of(kPhaseNames, call.phase), call.payload_bytes);
}

}  // namespace stepwright
