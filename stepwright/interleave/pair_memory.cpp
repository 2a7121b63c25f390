#include "stepwright/interleave/pair_memory.h"

#include <map>
#include <string>

#include "stepwright/memory/lifetimes.h"
#include "stepwright/step/pair.h"

namespace stepwright::interleave {
namespace {

/// Returns the operators of both templates for each id of the strands.
std::map<std::string, step::PairOrder> operators_by_id(const LayerOperatorLists& strands) {
  std::map<std::string, step::PairOrder> operators;
  for (const InterleavedOperator& op : strands.pair.forward) operators[op.id] = op.operators;
  const auto count = static_cast<std::int32_t>(strands.templates.forward.operators.size());
  for (const InterleavedOperator& op : strands.pair.backward) {
    for (const std::int32_t index : op.operators) operators[op.id].push_back(count + index);
  }
  return operators;
}

step::PairOrder order_of(const LayerOperatorLists& strands,
                         const std::vector<InterleavedBlock>& blocks) {
  const auto operators = operators_by_id(strands);
  step::PairOrder order;
  for (const InterleavedBlock& block : blocks) {
    for (const auto* list : {&block.communication, &block.backward, &block.forward}) {
      for (std::string id : *list) {
        if (id.ends_with('\'')) id.pop_back();
        const auto found = operators.find(id);
        if (found == operators.end()) continue;
        order.insert(order.end(), found->second.begin(), found->second.end());
      }
    }
  }
  return order;
}

}  // namespace

double interleaved_pair_peak_bytes(const LayerOperatorLists& strands,
                                   const std::vector<InterleavedBlock>& blocks, double imbalance) {
  const step::OperatorTemplate pair = step::merge_forward_backward_templates(
      strands.templates.forward, strands.templates.backward, order_of(strands, blocks));
  const memory::OperatorTemplateMemory walked = memory::template_memory_footprint(pair, imbalance);
  return walked.peak_bytes - walked.input_bytes - memory::total_bytes(walked.restored);
}

std::vector<InterleavedBlock> blocks_without_interleaving(const ForwardBackwardOperators& pair) {
  std::vector<InterleavedBlock> blocks;
  const auto add = [&](const InterleavedOperator& op,
                       std::vector<std::string> InterleavedBlock::* list) {
    InterleavedBlock& block = blocks.emplace_back();
    if (op.is_collective()) {
      block.communication.push_back(op.id);
    } else {
      (block.*list).push_back(op.id);
      block.compute_s = op.seconds;
    }
    block.seconds = op.seconds;
  };
  for (const InterleavedOperator& op : pair.backward) add(op, &InterleavedBlock::backward);
  for (const InterleavedOperator& op : pair.forward) add(op, &InterleavedBlock::forward);
  return blocks;
}

}  // namespace stepwright::interleave
