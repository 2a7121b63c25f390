#include "stepwright/interleave/interleaving.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "stepwright/core/error.h"
#include "stepwright/interleave/dynamic_program.h"
#include "stepwright/interleave/pair_memory.h"
#include "stepwright/interleave/pair_template.h"

namespace stepwright::interleave {
namespace {

/// Relative tolerance of comparisons, as bounds and sums add the same terms in different orders.
constexpr double kRounding = 1e-12;

void check(const Strand& strand) {
  if (strand.size() <= kMostStrandOperators) return;
  throw Error(ErrorKind::kUnsupported,
              fmt::format("interleave: {} operators in one direction of a layer, at most {}",
                          strand.size(), kMostStrandOperators));
}

/// Returns the forward list rotated to start at `start`: the operators before it belong to the next
/// layer, whose first operators wait for the last of this one.
Strand rotated(const Strand& forward, std::size_t start) {
  const std::size_t kept = forward.size() - start;
  Strand out;
  for (std::size_t i = start; i < forward.size(); ++i) {
    InterleavedOperator& op = out.emplace_back(forward[i]);
    std::erase_if(op.after, [&](std::size_t other) { return other < start; });
    for (std::size_t& other : op.after) other -= start;
  }
  for (std::size_t i = 0; i < start; ++i) {
    InterleavedOperator& op = out.emplace_back(forward[i]);
    op.id += '\'';
    for (std::size_t& other : op.after) other += kept;
    if (op.after.empty()) op.after = {kept - 1};
  }
  return out;
}

/// Seconds saved if each reduction overlaps the weight gradient of the product before it.
double own_overlap_s(const Strand& backward, const cost::OverlapSlowdownFactors& contention) {
  double saved_s = 0;
  for (const InterleavedOperator& op : backward) {
    if (!op.is_collective() || op.after.empty()) continue;
    const InterleavedOperator& product = backward[op.after.back()];
    const auto own = std::ranges::find_if(backward, [&](const InterleavedOperator& other) {
      return other.weight_gradient && other.after == product.after;
    });
    if (own == backward.end() || product.is_collective()) continue;
    LinkSeconds sent{};
    sent[static_cast<std::size_t>(op.link)] = op.seconds;
    saved_s +=
        op.seconds + own->seconds - interleaved_block_seconds(sent, own->seconds, contention);
  }
  return saved_s;
}

double total(const Strand& strand) {
  double sum = 0;
  for (const InterleavedOperator& op : strand) sum += op.seconds;
  return sum;
}

void set_exposed(const ForwardBackwardOperators& pair, LayerInterleaving& out) {
  for (const Strand* strand : {&pair.forward, &pair.backward}) {
    for (const InterleavedOperator& op : *strand) {
      if (op.is_collective()) out.exposed_by_collective[op.id] = 0;
    }
  }
  for (const InterleavedBlock& block : out.blocks) {
    if (block.communication.empty()) continue;
    std::string id = block.communication.front();
    if (id.ends_with('\'')) id.pop_back();
    out.exposed_by_collective[id] += block.seconds - block.compute_s;
  }
}

void check_limit(double serial_bytes, double limit_bytes) {
  if (serial_bytes <= limit_bytes) return;
  throw Error(ErrorKind::kInput,
              fmt::format("--memory-limit: must be at least {:.0f} bytes, which the operators need "
                          "even one after the other; it is {:.0f}",
                          serial_bytes, limit_bytes));
}

double computation(const Strand& strand) {
  double sum = 0;
  for (const InterleavedOperator& op : strand) sum += op.is_collective() ? 0 : op.seconds;
  return sum;
}

/// Returns the seconds of all computation, or of the messages of one link if they take longer.
double longest_s(const ForwardBackwardOperators& pair) {
  LinkSeconds busy_s{};  // index 0 (no link) holds computation
  for (const Strand* strand : {&pair.forward, &pair.backward}) {
    for (const InterleavedOperator& op : *strand) {
      busy_s[static_cast<std::size_t>(op.link)] += op.seconds;
    }
  }
  return std::ranges::max(busy_s);
}

/// Returns the indices at which the forward list may start, in the order of trial: its beginning,
/// then after collectives, where the best start usually is.
std::vector<std::size_t> starts_of(const Strand& forward, bool rotate) {
  std::vector<std::size_t> starts{0};
  for (const bool behind : {true, false}) {
    for (std::size_t i = 1; rotate && i < forward.size(); ++i) {
      if (forward[i - 1].is_collective() == behind) starts.push_back(i);
    }
  }
  return starts;
}

/// Tries the starts of the forward list one after the other; returns the rotated list of the best,
/// or the forward list itself if none keeps the memory limit.
Strand try_starts(const ForwardBackwardOperators& pair, const InterleaveOptions& options,
                  double compute_s, LayerInterleaving& out) {
  const FinishedOperatorStates backward(pair.backward);
  const double rounding_s = kRounding * compute_s;
  Strand best = pair.forward;
  out.exposed_s = kInfiniteExposedSeconds;
  for (const std::size_t start : starts_of(pair.forward, options.rotate)) {
    Strand list = rotated(pair.forward, start);
    const FinishedOperatorStates forward(list);
    InterleavingDynamicProgram program(forward, backward, options.contention);
    if (program.exposed_lower_bound_s() >= out.exposed_s - rounding_s) break;
    const double exposed_s = program.solve_min_exposed_communication_s(out.exposed_s - rounding_s);
    if (exposed_s == kInfiniteExposedSeconds) continue;
    std::vector<InterleavedBlock> blocks = program.blocks();
    const double bytes = options.extra_bytes ? options.extra_bytes(blocks) : 0;
    if (bytes > options.memory_limit_bytes) continue;
    out.exposed_s = exposed_s;
    out.starts_at = list.front().id;
    out.blocks = std::move(blocks);
    out.peak_extra_bytes = bytes;
    best = std::move(list);
  }
  return best;
}

}  // namespace

LayerInterleaving interleave_layer_forward_and_backward(const ForwardBackwardOperators& pair,
                                                        const InterleaveOptions& options) {
  check(pair.forward);
  check(pair.backward);
  const double compute_s = computation(pair.forward) + computation(pair.backward);
  LayerInterleaving out;
  out.serial_s = total(pair.forward) + total(pair.backward);
  out.serial_own_overlap_s = out.serial_s - own_overlap_s(pair.backward, options.contention);
  out.lower_bound_s = longest_s(pair);
  const std::vector<InterleavedBlock> serial = blocks_without_interleaving(pair);
  out.serial_extra_bytes = options.extra_bytes ? options.extra_bytes(serial) : 0;
  check_limit(out.serial_extra_bytes, options.memory_limit_bytes);
  const Strand best = try_starts(pair, options, compute_s, out);
  if (out.blocks.empty()) {
    out.exposed_s = out.serial_s - compute_s;
    out.starts_at = pair.forward.front().id;
    out.blocks = serial;
    out.peak_extra_bytes = out.serial_extra_bytes;
  }
  out.interleaved_s = compute_s + out.exposed_s;
  out.event_s = simulated_pair_seconds({best, pair.backward}, out.blocks, options.contention);
  set_exposed(pair, out);
  return out;
}

}  // namespace stepwright::interleave
