#include "stepwright/interleave/layer_strands.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/step/layer.h"

namespace stepwright {
namespace {

/// What an operator of a template is for, as far as its id depends on it.
enum class Use : std::uint8_t { kCompute, kWeightGradient, kEnter, kLeave };

Use use_of(const Operator& op) {
  if (op.kind == OperatorKind::kAllGather) return Use::kEnter;
  if (op.kind == OperatorKind::kReduceScatter || op.kind == OperatorKind::kAllReduce) {
    return Use::kLeave;
  }
  return op.phase == Phase::kWeightGradient ? Use::kWeightGradient : Use::kCompute;
}

struct StrandRole {
  std::string_view name;
  Use use;
  std::string_view id;
};

constexpr StrandRole kForwardRoles[] = {
    {"norm.attention", Use::kCompute, "f1"}, {"attention.qkv", Use::kEnter, "f2"},
    {"attention.qkv", Use::kCompute, "f3"},  {"attention.output", Use::kCompute, "f5"},
    {"attention.output", Use::kLeave, "f6"}, {"norm.mlp", Use::kCompute, "f8"},
    {"mlp.fc1", Use::kEnter, "f9"},          {"mlp.fc1", Use::kCompute, "f10"},
    {"activation", Use::kCompute, "f11"},    {"mlp.fc2", Use::kCompute, "f12"},
    {"mlp.fc2", Use::kLeave, "f13"}};
/// Of a layer of experts the half behind attention.
constexpr StrandRole kExpertForwardRoles[] = {{"norm.mlp", Use::kCompute, "m1"},
                                              {"router.weight", Use::kCompute, "m2"},
                                              {"router.top_k", Use::kCompute, "m2"},
                                              {"experts.permute", Use::kCompute, "m3"},
                                              {"experts.counts", Use::kEnter, "m4"},
                                              {"experts.dispatch", Use::kCompute, "m4"},
                                              {"experts.probabilities", Use::kCompute, "m4"},
                                              {"experts.sort", Use::kCompute, "m5"},
                                              {"experts.fc1", Use::kCompute, "m6"},
                                              {"activation", Use::kCompute, "m7"},
                                              {"experts.fc2", Use::kCompute, "m8"},
                                              {"experts.unsort", Use::kCompute, "m8"},
                                              {"experts.combine", Use::kCompute, "m9"},
                                              {"experts.unpermute", Use::kCompute, "m10"}};
constexpr StrandRole kExpertBackwardRoles[] = {
    {"experts.permute", Use::kCompute, "q2"},
    {"experts.combine", Use::kCompute, "q3"},
    {"experts.sort", Use::kCompute, "q4"},
    {"experts.probabilities_gradient", Use::kCompute, "q4"},
    {"experts.fc2", Use::kCompute, "q4"},
    {"experts.fc2", Use::kWeightGradient, "q5"},
    {"activation", Use::kCompute, "q6"},
    {"experts.fc1", Use::kCompute, "q7"},
    {"experts.unsort", Use::kCompute, "q7"},
    {"experts.fc1", Use::kWeightGradient, "q8"},
    {"experts.probabilities", Use::kCompute, "q9"},
    {"experts.dispatch", Use::kCompute, "q9"},
    {"experts.unpermute", Use::kCompute, "q10"},
    {"router.top_k", Use::kCompute, "q11"},
    {"router.weight", Use::kCompute, "q11"},
    {"router.weight", Use::kWeightGradient, "q12"},
    {"experts.sum", Use::kCompute, "q13"},
    {"norm.mlp", Use::kCompute, "q13"}};
/// Beside the routed experts.
constexpr StrandRole kSharedForwardRoles[] = {
    {"shared.fc1", Use::kEnter, "s_ag"},       {"shared.fc1", Use::kCompute, "s_fc1"},
    {"activation", Use::kCompute, "s_swiglu"}, {"shared.fc2", Use::kCompute, "s_fc2"},
    {"shared.fc2", Use::kLeave, "s_rs"},       {"shared.gate", Use::kCompute, "s_gate"}};
constexpr StrandRole kSharedBackwardRoles[] = {
    {"shared.gate", Use::kCompute, "s_gate_bwd"},
    {"shared.gate", Use::kWeightGradient, "s_gate_wgrad"},
    {"shared.fc2", Use::kEnter, "s_ag_bwd"},
    {"shared.fc2", Use::kCompute, "s_fc2_bwd"},
    {"shared.fc2", Use::kWeightGradient, "s_fc2_wgrad"},
    {"activation", Use::kCompute, "s_swiglu_bwd"},
    {"shared.fc1", Use::kCompute, "s_fc1_bwd"},
    {"shared.fc1", Use::kEnter, "ag_shared_again"},
    {"shared.fc1", Use::kWeightGradient, "s_fc1_wgrad"},
    {"shared.fc1", Use::kLeave, "s_rs_bwd"}};
constexpr StrandRole kBackwardRoles[] = {{"mlp.fc2", Use::kEnter, "b2"},
                                         {"mlp.fc2", Use::kCompute, "b3"},
                                         {"mlp.fc2", Use::kWeightGradient, "b4"},
                                         {"activation", Use::kCompute, "b5"},
                                         {"mlp.fc1", Use::kCompute, "b6"},
                                         {"mlp.fc1", Use::kEnter, "ag_mlp_again"},
                                         {"mlp.fc1", Use::kWeightGradient, "b7"},
                                         {"mlp.fc1", Use::kLeave, "b8"},
                                         {"norm.mlp", Use::kCompute, "b9"},
                                         {"attention.output", Use::kEnter, "b11"},
                                         {"attention.output", Use::kCompute, "b12"},
                                         {"attention.output", Use::kWeightGradient, "b13"},
                                         {"attention.qkv", Use::kCompute, "b15"},
                                         {"attention.qkv", Use::kEnter, "ag_attn_again"},
                                         {"attention.qkv", Use::kWeightGradient, "b16"},
                                         {"attention.qkv", Use::kLeave, "b17"},
                                         {"norm.attention", Use::kCompute, "b18"}};

[[noreturn]] void fail_unlisted(std::string_view what) {
  throw Error(ErrorKind::kUnsupported,
              fmt::format("interleave: layers with {} have no list of operators yet", what));
}

/// Before the id of what is computed again for the backward.
constexpr std::string_view kAgain = "re_";

/// "mlp.fc1", "mlp.fc1, data gradient", "reduce_scatter of mlp.fc2".
std::string what_is(const Operator& op) {
  if (is_communication(op.kind)) {
    return fmt::format("{} of {}", name_of(kOperatorNames, op.kind), op.name);
  }
  if (op.phase == Phase::kDataGradient) return fmt::format("{}, data gradient", op.name);
  if (op.phase == Phase::kWeightGradient) return fmt::format("{}, weight gradient", op.name);
  return op.phase == Phase::kRecompute ? fmt::format("{}, computed again", op.name)
                                       : std::string(op.name);
}

void add_what(StrandOperator& out, const Operator& op) {
  const std::string what = what_is(op);
  if (out.what.find(what) != std::string::npos) return;
  out.what += out.what.empty() ? what : " and " + what;
}

/// Collects operators of a template under their ids.
class StrandWriter {
 public:
  StrandWriter(const Template& piece, std::span<const OperatorTime> times)
      : piece_(piece), times_(times), ids_(piece.operators.size()) {}

  /// An operator that the program need not have: the gradient of a residual addition.
  void open(std::string_view id) {
    strand_[place(std::string(id))].what = "residual, data gradient";
  }
  void add(std::size_t op, std::string_view id) {
    const std::size_t at = place(std::string(id));
    StrandOperator& out = strand_[at];
    ids_[op] = at;
    out.operators.push_back(static_cast<std::int32_t>(op));
    add_what(out, piece_.operators[op]);
    const bool message = is_communication(piece_.operators[op].kind);
    auto& [compute_s, message_s] = seconds_[at];
    (message ? message_s : compute_s) += times_[op].seconds;
    out.seconds = std::max(compute_s, message_s);
    if (message) out.link = times_[op].link;
    out.weight_gradient = use_of(piece_.operators[op]) == Use::kWeightGradient;
    for (const std::int32_t other : piece_.after(piece_.operators[op])) {
      const std::size_t before = ids_[static_cast<std::size_t>(other)];
      if (before != at) needed_[at].insert(before);
    }
  }
  /// `after` takes the place of `before` in what others depend on.
  void put_behind(std::string_view after, std::string_view before) {
    const std::size_t first = place(std::string(before));
    const std::size_t second = place(std::string(after));
    for (auto& [id, needed] : needed_) {
      if (id != second && needed.erase(first) > 0) needed.insert(second);
    }
    needed_[second].insert(first);
  }
  /// Everything that depends on nothing comes after it, but what is only computed again.
  void put_first(std::string_view id) {
    const std::size_t first = place(std::string(id));
    for (std::size_t i = 0; i < strand_.size(); ++i) {
      if (strand_[i].id.starts_with(kAgain)) continue;
      if (i != first && needed_[i].empty()) needed_[i].insert(first);
    }
  }

  /// In an order that respects the dependences: of those that may come next the first one met.
  Strand strand() {
    Strand out;
    std::vector<std::size_t> place(strand_.size(), strand_.size());
    const auto ready = [&](std::size_t i) {
      return place[i] == strand_.size() && std::ranges::all_of(needed_[i], [&](std::size_t other) {
               return place[other] < strand_.size();
             });
    };
    while (out.size() < strand_.size()) {
      std::size_t next = 0;
      while (next < strand_.size() && !ready(next)) ++next;
      if (next == strand_.size()) fail_unlisted("operators that wait for each other");
      place[next] = out.size();
      StrandOperator& op = out.emplace_back(strand_[next]);
      for (const std::size_t other : needed_[next]) op.after.push_back(place[other]);
      std::ranges::sort(op.after);
    }
    return out;
  }

 private:
  std::size_t place(const std::string& id) {
    const auto [entry, fresh] = places_.try_emplace(id, strand_.size());
    if (fresh) strand_.push_back({.id = id});
    return entry->second;
  }

  const Template& piece_;
  std::span<const OperatorTime> times_;
  std::vector<std::size_t> ids_;  ///< By operator of the template.
  Strand strand_;
  std::map<std::size_t, std::pair<double, double>> seconds_;  ///< Of computation, of messages.
  std::map<std::string, std::size_t> places_;
  std::map<std::size_t, std::set<std::size_t>> needed_;
};

std::optional<std::string> role_in(const Operator& op, std::span<const StrandRole> roles) {
  for (const StrandRole& role : roles) {
    if (role.name == op.name && role.use == use_of(op)) return std::string(role.id);
  }
  return std::nullopt;
}

/// The half of a layer that an operator stands in, and how far a ring has come.
struct Walked {
  bool mlp = false;            ///< Of a forward: past attention. Of a backward: still before it.
  std::int64_t blocks = 0;     ///< Of attention.
  std::int64_t messages = 0;   ///< Of keys and values.
  std::int64_t gradients = 0;  ///< Of their gradients.
};

bool is_residual(const Operator& op) { return op.name == "residual" || op.name == "dropout"; }

/// Names the operators of a layer's templates.
class LayerNames {
 public:
  LayerNames(bool experts, std::int64_t context) : experts_(experts), context_(context) {}

  [[nodiscard]] std::string forward(const Operator& op, Walked& walked) const {
    if (op.name == "norm.mlp") walked.mlp = true;
    if (is_residual(op)) return walked.mlp ? (experts_ ? "m11" : "f14") : "f7";
    if (experts_ && walked.mlp) {
      if (op.name == "experts.sum") return "m11";
      if (auto id = of_shared(op, kSharedForwardRoles)) return *id;
      return required(op, role_in(op, kExpertForwardRoles));
    }
    if (auto id = role_in(op, kForwardRoles)) return *id;
    if (context_ == 1) return core(op, "f4");
    if (op.name == "attention.rotary") return "f3";
    if (op.name == "context.key_values") return entry("f4", ++walked.messages);
    if (op.name == "attention.core") return entry("f4", ++walked.blocks);
    return core(op, entry("f4", context_));
  }

  [[nodiscard]] std::string backward(const Operator& op, Walked& walked) const {
    if (is_residual(op)) return walked.mlp ? first() : "b10";
    const bool norm = op.name == "norm.mlp";
    const bool behind = walked.mlp;
    if (norm) walked.mlp = false;
    if (experts_ && behind) {
      if (auto id = of_shared(op, kSharedBackwardRoles)) return *id;
      return required(op, role_in(op, kExpertBackwardRoles));
    }
    if (auto id = role_in(op, kBackwardRoles)) return *id;
    if (context_ == 1) return core(op, "b14");
    if (op.name == "context.key_values") return entry("b14", ++walked.messages);
    if (op.name == "attention.core") return entry("b14", ++walked.blocks);
    if (op.name == "context.key_values_gradient" && is_communication(op.kind)) {
      return entry("b14", ++walked.gradients + 1);
    }
    if (op.name.starts_with("context.") && is_communication(op.kind)) fail_unlisted(op);
    return entry("b14", context_ + 1);
  }

  /// The gradient of the last residual addition, and of the norm behind attention.
  [[nodiscard]] std::string first() const { return experts_ ? "q1" : "b1"; }
  [[nodiscard]] std::string middle() const { return experts_ ? "q13" : "b9"; }

 private:
  /// Routed experts have an activation, too.
  static std::optional<std::string> of_shared(const Operator& op,
                                              std::span<const StrandRole> roles) {
    return op.routed ? std::nullopt : role_in(op, roles);
  }
  [[noreturn]] static void fail_unlisted(const Operator& op) {
    stepwright::fail_unlisted(fmt::format("the operator '{}'", op.name));
  }
  static std::string required(const Operator& op, const std::optional<std::string>& id) {
    if (!id) fail_unlisted(op);
    return *id;
  }
  static std::string core(const Operator& op, std::string id) {
    if (!op.name.starts_with("attention.")) fail_unlisted(op);
    return id;
  }
  static std::string entry(std::string_view id, std::int64_t number) {
    return fmt::format("{}.{}", id, number);
  }

  bool experts_;
  std::int64_t context_;
};

Strand forward_strand(const Template& piece, std::span<const OperatorTime> times,
                      const LayerNames& names) {
  StrandWriter writer(piece, times);
  Walked walked;
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    writer.add(i, names.forward(piece.operators[i], walked));
  }
  return writer.strand();
}

/// Computes again in one order: all orders would be too many.
Strand chained_again(Strand strand) {
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < strand.size(); ++i) {
    if (!strand[i].id.starts_with(kAgain)) continue;
    std::vector<std::size_t>& after = strand[i].after;
    if (last && std::ranges::find(after, *last) == after.end()) {
      after.push_back(*last);
      std::ranges::sort(after);
    }
    last = i;
  }
  return strand;
}

Strand backward_strand(const Template& piece, std::span<const OperatorTime> times,
                       const LayerNames& names) {
  StrandWriter writer(piece, times);
  writer.open(names.first());
  Walked again;
  Walked walked{.mlp = true};
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const Operator& op = piece.operators[i];
    if (op.phase == Phase::kRecompute) {
      writer.add(i, std::string(kAgain) + names.forward(op, again));
      continue;
    }
    const bool before = walked.mlp;
    const std::string id = names.backward(op, walked);
    writer.add(i, id);
    if (before && !walked.mlp) writer.open("b10");
  }
  writer.put_behind("b10", names.middle());
  writer.put_first(names.first());
  return chained_again(writer.strand());
}

void check_listed(const Job& job, const Plan& plan, std::int64_t layer) {
  if (layer < 0 || layer >= job.model.layers) {
    throw Error(ErrorKind::kInput,
                fmt::format("--layer {}: must be from 0 to {}", layer, job.model.layers - 1));
  }
  if (plan.parallel.context > 1 && plan.context_kind != ContextKind::kRing) {
    fail_unlisted("context parallelism that is no ring");
  }
}

/// Which layer of its chunk a layer is, from 0.
std::int64_t place_in_chunk(const std::vector<std::int64_t>& chunks, std::int64_t layer) {
  for (const std::int64_t layers : chunks) {
    if (layer < layers) break;
    layer -= layers;
  }
  return layer;
}

void set_seconds(Node node, Strand& strand) {
  std::vector<std::string_view> ids;
  for (const StrandOperator& op : strand) ids.push_back(op.id);
  node.allow_only(ids);
  for (StrandOperator& op : strand) {
    const Node time = node.get(op.id);
    op.seconds = time.number();
    if (!(op.seconds > 0)) {
      time.fail(fmt::format("must be a number of seconds above 0; it is {}", time.text()));
    }
  }
}

}  // namespace

LayerStrands layer_strands(const Job& job, const Plan& plan, const CostModel& cost,
                           std::int64_t layer) {
  check_listed(job, plan, layer);
  const LayerClass which = job.model.layer_class(layer);
  LayerStrands out;
  const std::int64_t place = place_in_chunk(chunk_layers(job, plan), layer);
  out.templates =
      build_layer(make_setting(job, plan), which, layer_recompute(plan.recompute, place));
  const LayerNames names(which.experts, plan.parallel.context);
  const auto layouts = group_layouts(job.cluster, Grid(plan));
  std::vector<OperatorTime> times;
  cost.price(out.templates.forward, layouts, plan.collectives, times);
  out.pair.forward = forward_strand(out.templates.forward, times, names);
  cost.price(out.templates.backward, layouts, plan.collectives, times);
  out.pair.backward = backward_strand(out.templates.backward, times, names);
  return out;
}

void read_times(Node node, StrandPair& pair) {
  node.allow_only({"forward", "backward", "pair"});
  set_seconds(node.get("forward"), pair.forward);
  set_seconds(node.get("backward"), pair.backward);
}

}  // namespace stepwright
