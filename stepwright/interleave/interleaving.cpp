#include "stepwright/interleave/interleaving.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <unordered_map>

#include "stepwright/core/error.h"
#include "stepwright/interleave/pair_memory.h"
#include "stepwright/interleave/pair_template.h"
#include "stepwright/simulate/price/step_load.h"

namespace stepwright {
namespace {

constexpr double kUnreached = std::numeric_limits<double>::infinity();
/// Bounds and sums add the same terms in different orders.
constexpr double kRounding = 1e-12;

/// How much computation runs while collectives last that start together.
double hidden_seconds(const std::array<double, kLinkClasses>& collectives,
                      const Contention& contention) {
  double now_s = 0;
  double hidden_s = 0;
  while (now_s < std::ranges::max(collectives)) {
    double next_s = kUnreached;
    double slow = 1;
    for (int link = 0; link < kLinkClasses; ++link) {
      const double ends_s = collectives[static_cast<std::size_t>(link)];
      if (ends_s <= now_s) continue;
      next_s = std::min(next_s, ends_s);
      slow = std::max(slow, slow_down_beside(static_cast<LinkClass>(link), contention));
    }
    hidden_s += (next_s - now_s) / slow;
    now_s = next_s;
  }
  return hidden_s;
}

double computation(const Strand& strand) {
  double sum = 0;
  for (const StrandOperator& op : strand) sum += op.is_collective() ? 0 : op.seconds;
  return sum;
}

void add_messages(const Strand& strand, std::array<double, kLinkClasses>& busy_s) {
  for (const StrandOperator& op : strand) {
    if (op.is_collective()) busy_s[static_cast<std::size_t>(op.link)] += op.seconds;
  }
}

/// What a backward can do without a collective, from each set of operators that is done.
struct Extension {
  std::size_t ideal = 0;
  double compute_s = 0;
  double part_s = 0;  ///< The most that one with an operator less computes.
};

/// The states of a backward and the ways between them.
class Backward {
 public:
  explicit Backward(const Strand& strand) : strand_(strand), ideals_(order_ideals(strand)) {
    std::unordered_map<OperatorSet, std::size_t> place;
    for (std::size_t i = 0; i < ideals_.size(); ++i) place[ideals_[i]] = i;
    const std::vector<OperatorSet> needed = ancestors(strand);
    steps_.resize(ideals_.size());
    collectives_.resize(ideals_.size());
    next_.resize(ideals_.size() * strand.size());
    for (std::size_t i = 0; i < ideals_.size(); ++i) {
      for (std::size_t op = 0; op < strand.size(); ++op) {
        if (holds(ideals_[i], op) || (needed[op] & ~ideals_[i]) != 0) continue;
        (strand[op].is_collective() ? collectives_ : steps_)[i].push_back(op);
        next_[i * strand.size() + op] = place.at(ideals_[i] | only(op));
      }
    }
    for (std::size_t i = 0; i < ideals_.size(); ++i) extensions_.push_back(extend(i));
  }

  [[nodiscard]] std::size_t size() const { return ideals_.size(); }
  [[nodiscard]] OperatorSet set(std::size_t ideal) const { return ideals_[ideal]; }
  /// Computations and collectives that may come next.
  [[nodiscard]] const std::vector<std::size_t>& steps(std::size_t i) const { return steps_[i]; }
  [[nodiscard]] const std::vector<std::size_t>& collectives(std::size_t i) const {
    return collectives_[i];
  }
  /// Everything that computations alone lead to, itself first.
  [[nodiscard]] const std::vector<Extension>& extensions(std::size_t i) const {
    return extensions_[i];
  }
  [[nodiscard]] std::size_t with(std::size_t ideal, std::size_t op) const {
    return next_[ideal * strand_.size() + op];
  }

 private:
  [[nodiscard]] std::vector<Extension> extend(std::size_t from) const {
    std::vector<Extension> found{{from, 0}};
    for (std::size_t next = 0; next < found.size(); ++next) {
      const Extension here = found[next];
      for (const std::size_t op : steps_[here.ideal]) {
        const std::size_t larger = with(here.ideal, op);
        const auto known = std::ranges::find(found, larger, &Extension::ideal);
        if (known != found.end()) {
          known->part_s = std::max(known->part_s, here.compute_s);
        } else {
          found.push_back({larger, here.compute_s + strand_[op].seconds, here.compute_s});
        }
      }
    }
    return found;
  }

  const Strand& strand_;
  std::vector<OperatorSet> ideals_;
  std::vector<std::size_t> next_;  ///< By ideal and operator.
  std::vector<std::vector<std::size_t>> steps_;
  std::vector<std::vector<std::size_t>> collectives_;
  std::vector<std::vector<Extension>> extensions_;
};

/// A block: from which state, and its collectives.
struct Step {
  std::size_t from = 0;
  bool forward_collective = false;
  std::vector<std::size_t> backward_collectives{};  ///< Of different link classes.
};

/// The programme of one forward order. With P the computation done, T(state) - P(state) changes
/// only where a collective is longer than what runs beside it: computations alone cost nothing.
class Programme {
 public:
  Programme(const Strand& forward, const Strand& backward, const Backward& states,
            const Contention& contention)
      : forward_(forward), backward_(backward), states_(states), contention_(contention) {
    exposed_s_.assign((forward.size() + 1) * states.size(), kUnreached);
    steps_.resize(exposed_s_.size());
  }

  /// The least exposed seconds.
  double solve() {
    exposed_s_.front() = 0;
    for (std::size_t place = 0; place <= forward_.size(); ++place) {
      for (std::size_t ideal = 0; ideal < states_.size(); ++ideal) leave(place, ideal);
    }
    return exposed_s_.back();
  }

  [[nodiscard]] std::vector<Block> blocks() const {
    std::vector<Block> blocks;
    for (std::size_t state = exposed_s_.size() - 1; state != 0; state = steps_[state].from) {
      blocks.push_back(block(state));
    }
    std::ranges::reverse(blocks);
    return joined(blocks);
  }

 private:
  [[nodiscard]] std::size_t state(std::size_t place, std::size_t ideal) const {
    return place * states_.size() + ideal;
  }

  void reach(std::size_t to, double exposed_s, const Step& step) {
    if (exposed_s >= exposed_s_[to]) return;
    exposed_s_[to] = exposed_s;
    steps_[to] = step;
  }

  /// All blocks that begin at a state.
  void leave(std::size_t place, std::size_t ideal) {
    const std::size_t from = state(place, ideal);
    const double before_s = exposed_s_[from];
    if (before_s == kUnreached) return;
    const bool more = place < forward_.size();
    const bool collective = more && forward_[place].is_collective();
    if (more && !collective) reach(state(place + 1, ideal), before_s, {.from = from});
    for (const std::size_t op : states_.steps(ideal)) {
      reach(state(place, states_.with(ideal, op)), before_s, {.from = from});
    }
    if (collective)
      cover(from, place + 1, place + 1, ideal, {.from = from, .forward_collective = true});
    std::size_t run = place;
    while (run < forward_.size() && !forward_[run].is_collective()) ++run;
    const std::vector<std::size_t>& open = states_.collectives(ideal);
    for (std::size_t i = 0; i < open.size(); ++i) {
      const LinkClass own = backward_[open[i]].link;
      cover(from, place, run, ideal, {.from = from, .backward_collectives = {open[i]}});
      if (collective && forward_[place].link != own) {
        cover(from, place + 1, place + 1, ideal,
              {.from = from, .forward_collective = true, .backward_collectives = {open[i]}});
      }
      for (std::size_t j = 0; j < i; ++j) {
        if (backward_[open[j]].link == own) continue;
        cover(from, place, run, ideal, {.from = from, .backward_collectives = {open[i], open[j]}});
      }
    }
  }

  /// Blocks of some collectives with the forward from its place up to one of `first` to `last`, and
  /// any computation of the backward.
  void cover(std::size_t from, std::size_t first, std::size_t last, std::size_t ideal,
             const Step& step) {
    std::array<double, kLinkClasses> sent{};
    if (step.forward_collective) sent[link(forward_[first - 1])] = forward_[first - 1].seconds;
    for (const std::size_t op : step.backward_collectives) {
      sent[link(backward_[op])] = backward_[op].seconds;
    }
    // What computes more than that leads no further than computations alone do from a part of it.
    const double hidden_s = hidden_seconds(sent, contention_);
    const double sent_s = std::ranges::max(sent);
    double run_s = 0;
    double part_s = 0;
    for (std::size_t place = first; place <= last && (place == first || part_s < hidden_s);
         ++place) {
      for (const Extension& extension : states_.extensions(ideal)) {
        const double compute_s = run_s + extension.compute_s;
        if (extension.ideal != ideal && run_s + extension.part_s >= hidden_s) continue;
        const double exposed_s = std::max(sent_s - hidden_s, sent_s - compute_s);
        std::size_t end = extension.ideal;
        for (const std::size_t op : step.backward_collectives) end = states_.with(end, op);
        reach(state(place, end), exposed_s_[from] + exposed_s, step);
      }
      part_s = run_s;
      if (place < forward_.size()) run_s += forward_[place].seconds;
    }
  }

  static std::size_t link(const StrandOperator& op) { return static_cast<std::size_t>(op.link); }

  /// The block that ends at a state.
  [[nodiscard]] Block block(std::size_t to) const {
    const Step& step = steps_[to];
    Block block;
    std::array<double, kLinkClasses> sent{};
    const auto add = [&](const StrandOperator& op, std::vector<std::string>& list) {
      if (op.is_collective()) {
        sent[link(op)] = op.seconds;
        block.communication.push_back(op.id);
      } else {
        block.compute_s += op.seconds;
        list.push_back(op.id);
      }
    };
    for (std::size_t i = step.from / states_.size(); i < to / states_.size(); ++i) {
      add(forward_[i], block.forward);
    }
    const OperatorSet before = states_.set(step.from % states_.size());
    const OperatorSet done = states_.set(to % states_.size()) & ~before;
    for (std::size_t i = 0; i < backward_.size(); ++i) {
      if (holds(done, i)) add(backward_[i], block.backward);
    }
    block.seconds = block_seconds(sent, block.compute_s, contention_);
    return block;
  }

  /// Blocks without collectives that follow each other are one.
  static std::vector<Block> joined(const std::vector<Block>& blocks) {
    std::vector<Block> out;
    for (const Block& block : blocks) {
      const bool joins =
          !out.empty() && out.back().communication.empty() && block.communication.empty();
      if (!joins) {
        out.push_back(block);
        continue;
      }
      Block& last = out.back();
      last.forward.insert(last.forward.end(), block.forward.begin(), block.forward.end());
      last.backward.insert(last.backward.end(), block.backward.begin(), block.backward.end());
      last.compute_s += block.compute_s;
      last.seconds += block.seconds;
    }
    return out;
  }

  const Strand& forward_;
  const Strand& backward_;
  const Backward& states_;
  const Contention& contention_;
  std::vector<double> exposed_s_;  ///< By state: place in the forward, then ideal.
  std::vector<Step> steps_;        ///< By state: the block that leads to it.
};

void check(const StrandPair& pair) {
  for (const Strand* strand : {&pair.forward, &pair.backward}) {
    if (strand->size() > kMostStrandOperators) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("interleave: {} operators in one direction of a layer, at most {}",
                              strand->size(), kMostStrandOperators));
    }
  }
  for (std::size_t i = 1; i < pair.forward.size(); ++i) {
    const std::vector<std::size_t>& after = pair.forward[i].after;
    if (std::ranges::find(after, i - 1) != after.end()) continue;
    throw Error(ErrorKind::kUnsupported,
                fmt::format("interleave: the forward is no chain: '{}' does not depend on '{}'",
                            pair.forward[i].id, pair.forward[i - 1].id));
  }
}

/// The chain that starts at a place; what stood before it belongs to the next layer.
Strand rotated(const Strand& forward, std::size_t start) {
  Strand out(forward.begin() + static_cast<std::ptrdiff_t>(start), forward.end());
  for (std::size_t i = 0; i < start; ++i) {
    out.push_back(forward[i]);
    out.back().id += '\'';
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].after.clear();
    if (i > 0) out[i].after.push_back(i - 1);
  }
  return out;
}

/// What reductions save that run beside the weight gradient of the product before them.
double own_overlap_s(const Strand& backward, const Contention& contention) {
  double saved_s = 0;
  for (const StrandOperator& op : backward) {
    if (!op.is_collective() || op.after.empty()) continue;
    const StrandOperator& product = backward[op.after.back()];
    const auto own = std::ranges::find_if(backward, [&](const StrandOperator& other) {
      return other.weight_gradient && other.after == product.after;
    });
    if (own == backward.end() || product.is_collective()) continue;
    std::array<double, kLinkClasses> sent{};
    sent[static_cast<std::size_t>(op.link)] = op.seconds;
    saved_s += op.seconds + own->seconds - block_seconds(sent, own->seconds, contention);
  }
  return saved_s;
}

double total(const Strand& strand) {
  double sum = 0;
  for (const StrandOperator& op : strand) sum += op.seconds;
  return sum;
}

void set_exposed(const StrandPair& pair, Interleaving& out) {
  for (const Strand* strand : {&pair.forward, &pair.backward}) {
    for (const StrandOperator& op : *strand) {
      if (op.is_collective()) out.exposed_by_collective[op.id] = 0;
    }
  }
  for (const Block& block : out.blocks) {
    if (block.communication.empty()) continue;
    std::string id = block.communication.front();
    if (id.ends_with('\'')) id.pop_back();
    out.exposed_by_collective[id] += block.seconds - block.compute_s;
  }
}

void check_limit(double serial_bytes, double limit_bytes) {
  if (serial_bytes <= limit_bytes) return;
  throw Error(ErrorKind::kInput,
              fmt::format("--memory-limit: one operator after the other needs {:.0f} bytes beyond "
                          "what is there before; {:.0f} are fewer",
                          serial_bytes, limit_bytes));
}

}  // namespace

double block_seconds(const std::array<double, kLinkClasses>& collectives, double compute_s,
                     const Contention& contention) {
  const double hidden_s = hidden_seconds(collectives, contention);
  return std::ranges::max(collectives) + std::max(0.0, compute_s - hidden_s);
}

Interleaving interleave(const StrandPair& pair, const InterleaveOptions& options) {
  check(pair);
  const double compute_s = computation(pair.forward) + computation(pair.backward);
  std::array<double, kLinkClasses> busy_s{};
  add_messages(pair.forward, busy_s);
  add_messages(pair.backward, busy_s);
  Interleaving out;
  out.serial_s = total(pair.forward) + total(pair.backward);
  out.serial_own_overlap_s = out.serial_s - own_overlap_s(pair.backward, options.contention);
  out.lower_bound_s = std::max(compute_s, std::ranges::max(busy_s));
  const std::vector<Block> serial = serial_blocks(pair);
  const auto extra_bytes = [&](const std::vector<Block>& blocks) {
    return options.extra_bytes ? options.extra_bytes(blocks) : 0;
  };
  out.serial_extra_bytes = extra_bytes(serial);
  check_limit(out.serial_extra_bytes, options.memory_limit_bytes);
  const Backward states(pair.backward);
  double least_s = kUnreached;
  Strand best;
  for (std::size_t start = 0; start < pair.forward.size(); ++start) {
    Strand forward = rotated(pair.forward, start);
    Programme programme(forward, pair.backward, states, options.contention);
    const double exposed_s = programme.solve();
    if (exposed_s < least_s * (1 - kRounding)) {
      std::vector<Block> blocks = programme.blocks();
      const double bytes = extra_bytes(blocks);
      if (bytes <= options.memory_limit_bytes) {
        least_s = exposed_s;
        out.starts_at = forward.front().id;
        out.blocks = std::move(blocks);
        out.peak_extra_bytes = bytes;
        best = std::move(forward);
      }
    }
    const bool best_possible = compute_s + least_s <= out.lower_bound_s * (1 + kRounding);
    if (!options.rotate || best_possible) break;
  }
  if (least_s == kUnreached) {
    least_s = out.serial_s - compute_s;
    out.starts_at = pair.forward.front().id;
    out.blocks = serial;
    out.peak_extra_bytes = out.serial_extra_bytes;
    best = pair.forward;
  }
  out.exposed_s = least_s;
  out.interleaved_s = compute_s + least_s;
  out.event_s = event_seconds({best, pair.backward}, out.blocks, options.contention);
  set_exposed(pair, out);
  return out;
}

}  // namespace stepwright
