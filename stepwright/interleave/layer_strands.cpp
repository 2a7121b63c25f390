#include "stepwright/interleave/layer_strands.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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
  if (op.kind == OperatorKind::kReduceScatter) return Use::kLeave;
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

/// Collects operators of a template under their ids.
class StrandWriter {
 public:
  StrandWriter(const Template& piece, std::span<const OperatorTime> times)
      : piece_(piece), times_(times), ids_(piece.operators.size()) {}

  /// An operator that the program need not have.
  void open(std::string_view id) { place(std::string(id)); }
  void add(std::size_t op, std::string_view id) {
    const std::size_t at = place(std::string(id));
    StrandOperator& out = strand_[at];
    ids_[op] = at;
    out.seconds += times_[op].seconds;
    if (is_communication(piece_.operators[op].kind)) out.link = times_[op].link;
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
  /// Everything that depends on nothing comes after it.
  void put_first(std::string_view id) {
    const std::size_t first = place(std::string(id));
    for (std::size_t i = 0; i < strand_.size(); ++i) {
      if (i != first && needed_[i].empty()) needed_[i].insert(first);
    }
  }

  Strand strand() {
    for (auto& [id, needed] : needed_) strand_[id].after.assign(needed.begin(), needed.end());
    return strand_;
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
  std::map<std::string, std::size_t> places_;
  std::map<std::size_t, std::set<std::size_t>> needed_;
};

[[noreturn]] void fail_unlisted(std::string_view what) {
  throw Error(ErrorKind::kUnsupported,
              fmt::format("interleave: layers with {} have no list of operators yet", what));
}

std::string_view id_of(const Operator& op, std::span<const StrandRole> roles,
                       std::string_view core) {
  for (const StrandRole& role : roles) {
    if (role.name == op.name && role.use == use_of(op)) return role.id;
  }
  if (!op.name.starts_with("attention.")) fail_unlisted(fmt::format("the operator '{}'", op.name));
  return core;
}

bool is_residual(const Operator& op) { return op.name == "residual" || op.name == "dropout"; }

Strand forward_strand(const Template& piece, std::span<const OperatorTime> times) {
  StrandWriter writer(piece, times);
  bool mlp = false;
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const Operator& op = piece.operators[i];
    mlp = mlp || op.name == "norm.mlp";
    writer.add(i, is_residual(op) ? (mlp ? "f14" : "f7") : id_of(op, kForwardRoles, "f4"));
  }
  return writer.strand();
}

Strand backward_strand(const Template& piece, std::span<const OperatorTime> times) {
  StrandWriter writer(piece, times);
  writer.open("b1");
  bool attention = false;
  bool opened = false;
  for (std::size_t i = 0; i < piece.operators.size(); ++i) {
    const Operator& op = piece.operators[i];
    if (attention && !opened) writer.open("b10");
    opened = attention;
    attention = attention || op.name == "norm.mlp";
    writer.add(i, is_residual(op) ? (attention ? "b10" : "b1") : id_of(op, kBackwardRoles, "b14"));
  }
  writer.put_behind("b10", "b9");
  writer.put_first("b1");
  return writer.strand();
}

void check_listed(const Job& job, const Plan& plan, std::int64_t layer) {
  if (layer < 0 || layer >= job.model.layers) {
    throw Error(ErrorKind::kInput,
                fmt::format("--layer {}: must be from 0 to {}", layer, job.model.layers - 1));
  }
  if (job.model.layer_class(layer).experts) fail_unlisted("experts");
  if (plan.parallel.context > 1) fail_unlisted("context parallelism");
  if (plan.recompute.kind != RecomputeKind::kNone) fail_unlisted("recomputation");
  if (plan.parallel.tensor > 1 && !plan.sequence_parallel) {
    fail_unlisted("tensor parallelism without sequence parallelism");
  }
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

StrandPair layer_strands(const Job& job, const Plan& plan, const CostModel& cost,
                         std::int64_t layer) {
  check_listed(job, plan, layer);
  const BlockPair pair =
      build_layer(make_setting(job, plan), job.model.layer_class(layer), RecomputeKind::kNone);
  const auto layouts = group_layouts(job.cluster, Grid(plan));
  std::vector<OperatorTime> times;
  cost.price(pair.forward, layouts, plan.collectives, times);
  StrandPair out;
  out.forward = forward_strand(pair.forward, times);
  cost.price(pair.backward, layouts, plan.collectives, times);
  out.backward = backward_strand(pair.backward, times);
  return out;
}

void read_times(Node node, StrandPair& pair) {
  node.allow_only({"forward", "backward", "pair"});
  set_seconds(node.get("forward"), pair.forward);
  set_seconds(node.get("backward"), pair.backward);
}

}  // namespace stepwright
