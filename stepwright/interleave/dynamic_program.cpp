#include "stepwright/interleave/dynamic_program.h"

#include <algorithm>
#include <utility>

#include "stepwright/simulate/price/step_load.h"

namespace stepwright::interleave {
namespace {

/// Adds to a block the operators between two states of a strand.
struct BlockWriter {
  InterleavedBlock block;
  LinkSeconds sent{};

  void add(const FinishedOperatorStates& strand, std::size_t from, std::size_t to,
           std::vector<std::string> InterleavedBlock::* list) {
    const OperatorSet done = strand.set(to) & ~strand.set(from);
    for (std::size_t i = 0; i < strand.strand().size(); ++i) {
      if (!holds(done, i)) continue;
      const InterleavedOperator& op = strand.strand()[i];
      if (op.is_collective()) {
        sent[static_cast<std::size_t>(op.link)] = op.seconds;
        block.communication.push_back(op.id);
      } else {
        block.compute_s += op.seconds;
        (block.*list).push_back(op.id);
      }
    }
  }
};

/// Joins consecutive blocks without collectives.
std::vector<InterleavedBlock> joined(const std::vector<InterleavedBlock>& blocks) {
  std::vector<InterleavedBlock> out;
  for (const InterleavedBlock& block : blocks) {
    const bool joins =
        !out.empty() && out.back().communication.empty() && block.communication.empty();
    if (!joins) {
      out.push_back(block);
      continue;
    }
    InterleavedBlock& last = out.back();
    last.forward.insert(last.forward.end(), block.forward.begin(), block.forward.end());
    last.backward.insert(last.backward.end(), block.backward.begin(), block.backward.end());
    last.compute_s += block.compute_s;
    last.seconds += block.seconds;
  }
  return out;
}

}  // namespace

InterleavingDynamicProgram::InterleavingDynamicProgram(
    const FinishedOperatorStates& forward, const FinishedOperatorStates& backward,
    const cost::OverlapSlowdownFactors& contention)
    : forward_(forward),
      backward_(backward),
      contention_(contention),
      exposed_s_(forward.size() * backward.size(), kInfiniteExposedSeconds),
      origins_(exposed_s_.size()) {
  for (const cost::LinkClass link : {cost::LinkClass::kInside, cost::LinkClass::kNetwork}) {
    lost_[static_cast<std::size_t>(link)] =
        1 - 1 / simulate::computation_slowdown_factor(link, contention);
  }
}

double InterleavingDynamicProgram::solve_min_exposed_communication_s(double limit_s) {
  exposed_s_.front() = 0;
  for (std::size_t f = 0; f < forward_.size(); ++f) {
    for (std::size_t b = 0; b < backward_.size(); ++b) leave(f, b, limit_s);
  }
  return exposed_s_.back() < limit_s ? exposed_s_.back() : kInfiniteExposedSeconds;
}

void InterleavingDynamicProgram::reach(std::size_t to, double exposed_s,
                                       const FastestPredecessorState& origin) {
  if (exposed_s >= exposed_s_[to]) return;
  exposed_s_[to] = exposed_s;
  origins_[to] = origin;
}

/// Returns a lower bound of the exposed seconds from a state on: the messages of one link, one
/// after the other, are exposed as far as they exceed all remaining computation, and computation
/// slowed beside them loses time.
double InterleavingDynamicProgram::still_exposed_s(std::size_t forward,
                                                   std::size_t backward) const {
  const RemainingSeconds& one = forward_.remaining(forward);
  const RemainingSeconds& other = backward_.remaining(backward);
  const double compute_s = one.compute_s + other.compute_s;
  double most_s = 0;
  for (std::size_t link = 1; link < cost::kLinkClasses; ++link) {
    const double messages_s = one.messages_s[link] + other.messages_s[link];
    most_s = std::max({most_s, messages_s - compute_s, messages_s * lost_[link]});
  }
  return most_s;
}

/// Tries all blocks that begin at a state. A collective that could already start before the
/// computation that led here is not started here, as it is better to start it earlier, beside that
/// computation.
void InterleavingDynamicProgram::leave(std::size_t forward, std::size_t backward, double limit_s) {
  const std::size_t from = place(forward, backward);
  const double before_s = exposed_s_[from];
  if (before_s >= limit_s || before_s + still_exposed_s(forward, backward) >= limit_s) return;
  for (const std::size_t op : forward_.computations_ready_in_state(forward)) {
    reach(place(forward_.state_after_operator(forward, op), backward), before_s, {from, true});
  }
  for (const std::size_t op : backward_.computations_ready_in_state(backward)) {
    reach(place(forward, backward_.state_after_operator(backward, op)), before_s, {from, true});
  }
  open_.clear();
  add_open(true, forward, origins_[from]);
  add_open(false, backward, origins_[from]);
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const ReadyCollective& one = open_[i];
    if (!one.known) cover(forward, backward, one, nullptr);
    for (std::size_t j = 0; j < i; ++j) {
      const ReadyCollective& other = open_[j];
      if (one.link == other.link || (one.known && other.known)) continue;
      cover(forward, backward, one, &other);
    }
  }
}

void InterleavingDynamicProgram::add_open(bool forward, std::size_t state,
                                          const FastestPredecessorState& origin) {
  const FinishedOperatorStates& strand = forward ? forward_ : backward_;
  const std::size_t before =
      forward ? origin.from / backward_.size() : origin.from % backward_.size();
  for (const std::size_t op : strand.collectives_ready_in_state(state)) {
    const InterleavedOperator& one = strand.strand()[op];
    const bool known =
        origin.computes && std::ranges::find(strand.collectives_ready_in_state(before), op) !=
                               strand.collectives_ready_in_state(before).end();
    open_.push_back({forward, op, static_cast<std::size_t>(one.link), one.seconds, known});
  }
}

/// Tries blocks of one or two collectives with any computation beside them.
void InterleavingDynamicProgram::cover(std::size_t forward, std::size_t backward,
                                       const ReadyCollective& one, const ReadyCollective* other) {
  LinkSeconds sent{};
  sent[one.link] = one.seconds;
  if (other != nullptr) sent[other->link] = other->seconds;
  const double hidden_s = other == nullptr ? one.seconds * (1 - lost_[one.link])
                                           : compute_seconds_beside_collectives(sent, contention_);
  const double sent_s = std::ranges::max(sent);
  const std::size_t from = place(forward, backward);
  const double before_s = exposed_s_[from];
  const auto behind = [&](std::size_t state, bool of_forward) {
    const FinishedOperatorStates& strand = of_forward ? forward_ : backward_;
    if (one.forward == of_forward) state = strand.state_after_operator(state, one.op);
    if (other != nullptr && other->forward == of_forward)
      state = strand.state_after_operator(state, other->op);
    return state;
  };
  // Extensions that compute more than the collectives hide lead no further than computations alone
  // from a smaller extension.
  for (const ComputationOnlyState& f : forward_.computation_only_states(forward)) {
    if (f.state != forward && f.part_s >= hidden_s) break;
    const std::size_t to = behind(f.state, true);
    for (const ComputationOnlyState& b : backward_.computation_only_states(backward)) {
      if (b.state != backward && f.compute_s + b.part_s >= hidden_s) break;
      if (f.state != forward && f.part_s + b.compute_s >= hidden_s) continue;
      const double exposed_s = sent_s - std::min(hidden_s, f.compute_s + b.compute_s);
      reach(place(to, behind(b.state, false)), before_s + exposed_s, {from, false});
    }
  }
}

std::vector<InterleavedBlock> InterleavingDynamicProgram::blocks() const {
  std::vector<InterleavedBlock> blocks;
  for (std::size_t state = exposed_s_.size() - 1; state != 0; state = origins_[state].from) {
    blocks.push_back(block(state));
  }
  std::ranges::reverse(blocks);
  return joined(blocks);
}

/// Returns the block that ends at a state.
InterleavedBlock InterleavingDynamicProgram::block(std::size_t to) const {
  const std::size_t from = origins_[to].from;
  const std::size_t width = backward_.size();
  BlockWriter writer;
  writer.add(forward_, from / width, to / width, &InterleavedBlock::forward);
  writer.add(backward_, from % width, to % width, &InterleavedBlock::backward);
  writer.block.seconds =
      interleaved_block_seconds(writer.sent, writer.block.compute_s, contention_);
  return std::move(writer.block);
}

}  // namespace stepwright::interleave
