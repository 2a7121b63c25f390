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

namespace stepwright::interleave {
namespace {

/// Use of an operator of a template, as far as its id depends on it: a computation, a weight
/// gradient, or a message that enters or leaves a tensor-parallel region.
enum class Use : std::uint8_t { kCompute, kWeightGradient, kEnter, kLeave };

Use use_of(const step::Operator& op) {
  if (op.kind == step::OperatorKind::kAllGather) return Use::kEnter;
  if (op.kind == step::OperatorKind::kReduceScatter || op.kind == step::OperatorKind::kAllReduce) {
    return Use::kLeave;
  }
  return op.phase == step::Phase::kWeightGradient ? Use::kWeightGradient : Use::kCompute;
}

/// Ids of the operators of a layer part in a forward and in a backward; empty: there is none.
struct StrandRole {
  step::LayerPart part;
  Use use;
  std::string_view forward;
  std::string_view backward;
};

constexpr StrandRole kRoles[] = {
    {step::LayerPart::kAttentionNorm, Use::kCompute, "f1", "b18"},
    {step::LayerPart::kQkv, Use::kEnter, "f2", "ag_attn_again"},
    {step::LayerPart::kQkv, Use::kCompute, "f3", "b15"},
    {step::LayerPart::kQkv, Use::kWeightGradient, "", "b16"},
    {step::LayerPart::kQkv, Use::kLeave, "", "b17"},
    {step::LayerPart::kAttentionOutput, Use::kEnter, "", "b11"},
    {step::LayerPart::kAttentionOutput, Use::kCompute, "f5", "b12"},
    {step::LayerPart::kAttentionOutput, Use::kWeightGradient, "", "b13"},
    {step::LayerPart::kAttentionOutput, Use::kLeave, "f6", ""},
    {step::LayerPart::kAttentionDropout, Use::kCompute, "f7", "b10"},
    {step::LayerPart::kAttentionResidual, Use::kCompute, "f7", "b10"},
    {step::LayerPart::kFc1, Use::kEnter, "f9", "ag_mlp_again"},
    {step::LayerPart::kFc1, Use::kCompute, "f10", "b6"},
    {step::LayerPart::kFc1, Use::kWeightGradient, "", "b7"},
    {step::LayerPart::kFc1, Use::kLeave, "", "b8"},
    {step::LayerPart::kMlpActivation, Use::kCompute, "f11", "b5"},
    {step::LayerPart::kFc2, Use::kEnter, "", "b2"},
    {step::LayerPart::kFc2, Use::kCompute, "f12", "b3"},
    {step::LayerPart::kFc2, Use::kWeightGradient, "", "b4"},
    {step::LayerPart::kFc2, Use::kLeave, "f13", ""},
    {step::LayerPart::kRouter, Use::kCompute, "m2", "q11"},
    {step::LayerPart::kRouter, Use::kWeightGradient, "", "q12"},
    {step::LayerPart::kTopK, Use::kCompute, "m2", "q11"},
    {step::LayerPart::kLatentIn, Use::kCompute, "m3", "q10"},
    {step::LayerPart::kLatentIn, Use::kWeightGradient, "", "q12"},
    {step::LayerPart::kPermute, Use::kCompute, "m3", "q2"},
    {step::LayerPart::kExpertCounts, Use::kEnter, "m4", ""},
    {step::LayerPart::kDispatch, Use::kCompute, "m4", "q9"},
    {step::LayerPart::kGateWeights, Use::kCompute, "m4", "q9"},
    {step::LayerPart::kSort, Use::kCompute, "m5", "q4"},
    {step::LayerPart::kExpertFc1, Use::kCompute, "m6", "q7"},
    {step::LayerPart::kExpertFc1, Use::kWeightGradient, "", "q8"},
    {step::LayerPart::kExpertActivation, Use::kCompute, "m7", "q6"},
    {step::LayerPart::kExpertFc2, Use::kCompute, "m8", "q4"},
    {step::LayerPart::kExpertBias, Use::kCompute, "m8", "q4"},
    {step::LayerPart::kExpertFc2, Use::kWeightGradient, "", "q5"},
    {step::LayerPart::kUnsort, Use::kCompute, "m8", "q7"},
    {step::LayerPart::kCombine, Use::kCompute, "m9", "q3"},
    {step::LayerPart::kUnpermute, Use::kCompute, "m10", "q10"},
    {step::LayerPart::kGateWeightsGradient, Use::kCompute, "", "q4"},
    {step::LayerPart::kLatentOut, Use::kCompute, "m10", "q2"},
    {step::LayerPart::kLatentOut, Use::kWeightGradient, "", "q5"},
    {step::LayerPart::kExpertSum, Use::kCompute, "m11", "q13"},
    {step::LayerPart::kSharedFc1, Use::kEnter, "s_ag", "ag_shared_again"},
    {step::LayerPart::kSharedFc1, Use::kCompute, "s_fc1", "s_fc1_bwd"},
    {step::LayerPart::kSharedFc1, Use::kWeightGradient, "", "s_fc1_wgrad"},
    {step::LayerPart::kSharedFc1, Use::kLeave, "", "s_rs_bwd"},
    {step::LayerPart::kSharedActivation, Use::kCompute, "s_swiglu", "s_swiglu_bwd"},
    {step::LayerPart::kSharedFc2, Use::kEnter, "", "s_ag_bwd"},
    {step::LayerPart::kSharedFc2, Use::kCompute, "s_fc2", "s_fc2_bwd"},
    {step::LayerPart::kSharedFc2, Use::kWeightGradient, "", "s_fc2_wgrad"},
    {step::LayerPart::kSharedFc2, Use::kLeave, "s_rs", ""},
    {step::LayerPart::kSharedGate, Use::kCompute, "s_gate", "s_gate_bwd"},
    {step::LayerPart::kSharedGate, Use::kWeightGradient, "", "s_gate_wgrad"}};
/// Roles whose ids differ between a layer without experts and one with.
constexpr StrandRole kDenseRoles[] = {{step::LayerPart::kMlpNorm, Use::kCompute, "f8", "b9"},
                                      {step::LayerPart::kMlpDropout, Use::kCompute, "f14", "b1"},
                                      {step::LayerPart::kMlpResidual, Use::kCompute, "f14", "b1"}};
constexpr StrandRole kExpertRoles[] = {{step::LayerPart::kMlpNorm, Use::kCompute, "m1", "q13"},
                                       {step::LayerPart::kMlpDropout, Use::kCompute, "m11", "q1"},
                                       {step::LayerPart::kMlpResidual, Use::kCompute, "m11", "q1"}};

[[noreturn]] void fail_unlisted(std::string_view what) {
  throw Error(ErrorKind::kUnsupported,
              fmt::format("interleave: layers with {} have no list of operators yet", what));
}

/// Prefix of the ids of operators recomputed for the backward.
constexpr std::string_view kAgain = "re_";

/// Describes an operator: "mlp.fc1", "mlp.fc1, data gradient", "reduce_scatter of mlp.fc2".
std::string what_is(const step::Operator& op) {
  if (step::is_communication(op.kind)) {
    return fmt::format("{} of {}", name_of(step::kOperatorNames, op.kind), op.name);
  }
  if (op.phase == step::Phase::kDataGradient) return fmt::format("{}, data gradient", op.name);
  if (op.phase == step::Phase::kWeightGradient) return fmt::format("{}, weight gradient", op.name);
  return op.phase == step::Phase::kRecompute ? fmt::format("{}, computed again", op.name)
                                             : std::string(op.name);
}

void add_what(InterleavedOperator& out, const step::Operator& op) {
  const std::string what = what_is(op);
  if (out.what.find(what) != std::string::npos) return;
  out.what += out.what.empty() ? what : " and " + what;
}

/// Collects operators of a template under their ids.
class StrandWriter {
 public:
  StrandWriter(const step::OperatorTemplate& piece, std::span<const cost::OperatorTime> times)
      : piece_(piece), times_(times), ids_(piece.operators.size()) {}

  /// Adds an operator that the program may lack: the gradient of a residual addition.
  void open(std::string_view id) {
    strand_[place(std::string(id))].what = "residual, data gradient";
  }
  void add(std::size_t op, std::string_view id) {
    const std::size_t at = place(std::string(id));
    InterleavedOperator& out = strand_[at];
    ids_[op] = at;
    out.operators.push_back(static_cast<std::int32_t>(op));
    add_what(out, piece_.operators[op]);
    const bool message = step::is_communication(piece_.operators[op].kind);
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
  /// Makes the operators that depend on `before` depend on `after`, which follows it.
  void put_behind(std::string_view after, std::string_view before) {
    const std::size_t first = place(std::string(before));
    const std::size_t second = place(std::string(after));
    for (auto& [id, needed] : needed_) {
      if (id != second && needed.erase(first) > 0) needed.insert(second);
    }
    needed_[second].insert(first);
  }
  /// Makes all operators without dependences follow `id`, except recomputed ones.
  void put_first(std::string_view id) {
    const std::size_t first = place(std::string(id));
    for (std::size_t i = 0; i < strand_.size(); ++i) {
      if (strand_[i].id.starts_with(kAgain)) continue;
      if (i != first && needed_[i].empty()) needed_[i].insert(first);
    }
  }

  /// Returns the strand in an order that respects the dependences; among operators that may come
  /// next, the first one added comes first.
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
      InterleavedOperator& op = out.emplace_back(strand_[next]);
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

  const step::OperatorTemplate& piece_;
  std::span<const cost::OperatorTime> times_;
  std::vector<std::size_t> ids_;  ///< For each operator of the template, the index of its id.
  Strand strand_;
  /// For each id, the seconds of computation and of messages.
  std::map<std::size_t, std::pair<double, double>> seconds_;
  std::map<std::string, std::size_t> places_;
  std::map<std::size_t, std::set<std::size_t>> needed_;
};

/// Number of entries of a context-parallel ring met so far.
struct RingEntries {
  std::int64_t blocks = 0;     ///< Number of attention blocks so far.
  std::int64_t messages = 0;   ///< Messages of keys and values.
  std::int64_t gradients = 0;  ///< Messages of gradients of keys and values.
};

/// Names the operators of a layer's templates.
class LayerIds {
 public:
  LayerIds(bool experts, std::int64_t context)
      : roles_(experts ? kExpertRoles : kDenseRoles), context_(context) {}

  [[nodiscard]] std::string forward(const step::Operator& op, RingEntries& ring) const {
    if (const auto id = listed(op, &StrandRole::forward)) return std::string(*id);
    if (op.part == step::LayerPart::kRotary && context_ > 1) return "f3";
    if (const auto number = entry_of(op, ring)) return core("f4", *number);
    if (!step::is_of_attention(op.part)) fail_unlisted(op);
    return core("f4", context_);
  }

  [[nodiscard]] std::string backward(const step::Operator& op, RingEntries& ring) const {
    if (const auto id = listed(op, &StrandRole::backward)) return std::string(*id);
    if (const auto number = entry_of(op, ring)) return core("b14", *number);
    if (op.part == step::LayerPart::kKeyValuesGradient) {
      return core("b14", step::is_communication(op.kind) ? ++ring.gradients + 1 : context_ + 1);
    }
    if (!step::is_of_attention(op.part)) fail_unlisted(op);
    return core("b14", context_ + 1);
  }

  /// Id of the gradient of the last residual addition; the other function: of the norm after
  /// attention.
  [[nodiscard]] std::string first() const { return std::string(roles_[1].backward); }
  [[nodiscard]] std::string middle() const { return std::string(roles_[0].backward); }

 private:
  [[noreturn]] static void fail_unlisted(const step::Operator& op) {
    interleave::fail_unlisted(fmt::format("the operator '{}'", op.name));
  }
  [[nodiscard]] std::optional<std::string_view> listed(const step::Operator& op,
                                                       std::string_view StrandRole::* id) const {
    for (const std::span<const StrandRole> roles : {roles_, std::span<const StrandRole>(kRoles)}) {
      for (const StrandRole& role : roles) {
        const bool found = role.part == op.part && role.use == use_of(op);
        if (found && !(role.*id).empty()) return role.*id;
      }
    }
    return std::nullopt;
  }
  /// Returns the entry of a ring to which a block of attention, or a message beside it, belongs;
  /// nullopt: to none.
  static std::optional<std::int64_t> entry_of(const step::Operator& op, RingEntries& ring) {
    if (op.part == step::LayerPart::kKeyValues) return ++ring.messages;
    if (op.part == step::LayerPart::kAttentionCore) return ++ring.blocks;
    return std::nullopt;
  }
  /// Returns the id of attention between its projections, one for each entry of a ring.
  [[nodiscard]] std::string core(std::string_view id, std::int64_t entry) const {
    return context_ == 1 ? std::string(id) : fmt::format("{}.{}", id, entry);
  }

  std::span<const StrandRole> roles_;
  std::int64_t context_;
};

Strand forward_strand(const step::OperatorTemplate& piece,
                      std::span<const cost::OperatorTime> times, const LayerIds& ids) {
  StrandWriter writer(piece, times);
  RingEntries ring;
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    writer.add(i, ids.forward(piece.operators[i], ring));
  }
  return writer.strand();
}

/// Fixes one order of the recomputed operators, as there would be too many orders.
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

Strand backward_strand(const step::OperatorTemplate& piece,
                       std::span<const cost::OperatorTime> times, const LayerIds& ids) {
  StrandWriter writer(piece, times);
  writer.open(ids.first());
  RingEntries again;
  RingEntries ring;
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const step::Operator& op = piece.operators[i];
    if (op.phase == step::Phase::kRecompute) {
      writer.add(i, std::string(kAgain) + ids.forward(op, again));
      continue;
    }
    writer.add(i, ids.backward(op, ring));
    if (op.part == step::LayerPart::kMlpNorm) writer.open("b10");
  }
  writer.put_behind("b10", ids.middle());
  writer.put_first(ids.first());
  return chained_again(writer.strand());
}

void check_listed(const plan::Job& job, const plan::Plan& plan, std::int64_t layer) {
  if (layer < 0 || layer >= job.model.layers) {
    throw Error(ErrorKind::kInput,
                fmt::format("--layer {}: must be from 0 to {}", layer, job.model.layers - 1));
  }
  if (plan.parallel.context > 1 && plan.context_kind != plan::ContextKind::kRing) {
    fail_unlisted("context parallelism that is no ring");
  }
}

/// Returns the recomputation of a layer in a plan.
plan::LayerRecompute recompute_of(const plan::Job& job, const plan::Plan& plan,
                                  std::int64_t layer) {
  std::int64_t chunk = 0;
  for (const std::int64_t layers : plan::layers_per_chunk(job, plan)) {
    if (layer < layers) break;
    layer -= layers;
    ++chunk;
  }
  const std::int64_t position =
      plan::model_chunk_placement(plan).place_of_model_chunk(chunk).position;
  return plan::recomputation_of_chunk_layer(
      plan::recompute_of_pipeline_rank(plan.recompute, position), layer);
}

constexpr double kMostSeconds = 1e6;

void set_seconds(DocumentNode node, Strand& strand) {
  std::vector<std::string_view> ids;
  for (const InterleavedOperator& op : strand) ids.push_back(op.id);
  node.allow_only_keys(ids);
  for (InterleavedOperator& op : strand) {
    op.seconds = node.get(op.id).number(0, kMostSeconds);
  }
}

}  // namespace

LayerOperatorLists layer_operator_lists(const plan::Job& job, const plan::Plan& plan,
                                        const cost::CostModel& cost, std::int64_t layer) {
  check_listed(job, plan, layer);
  const model::LayerClass which = job.model.layer_class(layer);
  LayerOperatorLists out;
  out.templates = step::build_layer_templates(step::make_setting(job, plan), which,
                                              recompute_of(job, plan, layer));
  const LayerIds ids(which.has_experts(), plan.parallel.context);
  const auto layouts = cost::rank_group_network_layouts(job.cluster, plan::RankGrid(plan));
  std::vector<cost::OperatorTime> times;
  cost.price_template_operators(out.templates.forward, layouts, plan.collectives, times);
  out.pair.forward = forward_strand(out.templates.forward, times, ids);
  cost.price_template_operators(out.templates.backward, layouts, plan.collectives, times);
  out.pair.backward = backward_strand(out.templates.backward, times, ids);
  return out;
}

void read_user_operator_times(DocumentNode node, ForwardBackwardOperators& pair) {
  node.allow_only_keys({"forward", "backward", "pair"});
  set_seconds(node.get("forward"), pair.forward);
  set_seconds(node.get("backward"), pair.backward);
  const auto takes_time = [](const InterleavedOperator& op) { return op.seconds > 0; };
  if (std::ranges::none_of(pair.forward, takes_time) &&
      std::ranges::none_of(pair.backward, takes_time)) {
    node.fail("states 0 for all operators; one time must be above 0");
  }
}

}  // namespace stepwright::interleave
