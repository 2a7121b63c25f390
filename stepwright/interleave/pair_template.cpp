#include "stepwright/interleave/pair_template.h"

#include <map>
#include <utility>

#include "stepwright/simulate/timeline/alone.h"

namespace stepwright::interleave {
namespace {

/// Writes operators of both strands into one template.
class PairTemplate {
 public:
  explicit PairTemplate(const ForwardBackwardOperators& pair) : forward_(&pair.forward) {
    for (const Strand* strand : {&pair.forward, &pair.backward}) {
      for (const InterleavedOperator& op : *strand) operators_[op.id] = {strand, &op};
    }
  }

  void add(const std::string& id) {
    const auto& [strand, op] = operators_.at(id);
    const auto first = static_cast<std::int32_t>(piece_.edges.size());
    const bool opens = op->is_collective() && before_ >= 0;
    if (opens) piece_.edges.push_back(before_);
    for (const std::size_t other : op->after) {
      piece_.edges.push_back(placed_.at((*strand)[other].id));
    }
    placed_[id] = static_cast<std::int32_t>(piece_.operators.size());
    const bool inside = op->link == cost::LinkClass::kInside;
    step::Operator out;
    out.kind = op->is_collective() ? step::OperatorKind::kAllGather : step::OperatorKind::kLinear;
    if (op->is_collective())
      out.stream = inside ? step::DeviceStream::kTensor : step::DeviceStream::kExpert;
    out.after = {first, static_cast<std::int32_t>(op->after.size() + (opens ? 1 : 0))};
    piece_.operators.push_back(out);
    times_.push_back({.seconds = op->seconds, .link = op->link});
    if (!op->is_collective()) before_ = placed_[id];
  }

  [[nodiscard]] bool is_forward(const std::string& id) const {
    return operators_.at(id).first == forward_;
  }

  [[nodiscard]] double play(const cost::OverlapSlowdownFactors& contention) const {
    return simulate::simulate_template_alone(piece_, times_, contention).duration_s;
  }

 private:
  const Strand* forward_;
  std::map<std::string, std::pair<const Strand*, const InterleavedOperator*>> operators_;
  std::map<std::string, std::int32_t> placed_;
  step::OperatorTemplate piece_;
  std::vector<cost::OperatorTime> times_;
  std::int32_t before_ = -1;  ///< The last computation of the earlier blocks; -1: none.
};

}  // namespace

double simulated_pair_seconds(const ForwardBackwardOperators& pair,
                              const std::vector<InterleavedBlock>& blocks,
                              const cost::OverlapSlowdownFactors& contention) {
  PairTemplate piece(pair);
  for (const InterleavedBlock& block : blocks) {
    const bool forward_leaves_position =
        !block.communication.empty() && piece.is_forward(block.communication.front());
    const auto& first = forward_leaves_position ? block.backward : block.forward;
    const auto& second = forward_leaves_position ? block.forward : block.backward;
    for (const auto* list : {&block.communication, &first, &second}) {
      for (const std::string& id : *list) piece.add(id);
    }
  }
  return piece.play(contention);
}

}  // namespace stepwright::interleave
