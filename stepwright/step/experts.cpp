#include <cmath>

#include "stepwright/step/blocks.h"
#include "stepwright/step/work.h"

namespace stepwright {
namespace {

/// Row counts of the routed path on one rank (means).
struct RoutedRows {
  std::int64_t copies = 0;    ///< One for each row of the residual stream and expert of its top k.
  std::int64_t sent = 0;      ///< What this rank sends out, and gets.
  std::int64_t computed = 0;  ///< Rows that its local experts work on.
};

/// Whether the exchange itself gathers the rows it sends, each once for a rank however many of its
/// experts are there, and adds up what comes back (DeepEP, HybridEP).
bool sends_once(const Setting& s) {
  return s.expert > 1 && s.dispatcher == Dispatcher::kOncePerNode;
}

RoutedRows routed_rows(const Setting& s) {
  const std::int64_t top_k = s.model->experts->top_k;
  const std::int64_t copies = s.rows * top_k;
  if (!sends_once(s)) return {copies, copies, copies * s.expert_tensor};
  const double met = distinct_of(s.expert, top_k);
  const auto sent = static_cast<std::int64_t>(std::ceil(static_cast<double>(s.rows) * met));
  return {copies, sent, copies * s.expert_tensor};
}

Product router(const Setting& s) {
  return {.rows = s.rows,
          .inner = s.model->hidden,
          .columns = s.model->experts->count,
          .name = "router.weight",
          .wide = true};
}

Product expert_fc1(const Setting& s) {
  const std::int64_t wide = s.model->experts->ffn / s.expert_tensor * (s.model->gated ? 2 : 1);
  return {routed_rows(s).computed, s.model->hidden, wide, "experts.fc1",
          s.model->experts->count / s.expert};
}

Product expert_fc2(const Setting& s) {
  return {routed_rows(s).computed, s.model->experts->ffn / s.expert_tensor, s.model->hidden,
          "experts.fc2", s.model->experts->count / s.expert};
}

TensorId routed_tensor(Emit& e, std::string_view name, std::int64_t rows, std::int64_t columns,
                       TensorKind kind = TensorKind::kActivation) {
  return e.out.tensor({.name = name,
                       .kind = kind,
                       .dtype = e.s.storage,
                       .routed = true,
                       .extents = {rows, columns, 1}});
}

struct ExpertMessage {
  OperatorKind kind{};
  Phase phase{};
  GroupKind group{};
  std::int64_t elements = 0;
  std::string_view name;
  DType dtype = DType::kBf16;
  bool routed = true;
};

void send_routed(Emit& e, const ExpertMessage& m, TensorId from, TensorId to) {
  e.out.add({.kind = m.kind,
             .phase = m.phase,
             .stream = message_stream(e.s, Scheme::kExpert),
             .scheme = Scheme::kExpert,
             .group = m.group,
             .dtype = m.dtype,
             .routed = m.routed,
             .payload_elements = m.elements,
             .name = m.name},
            {from}, {to});
}

/// A copy of rows in another order: into expert order (kPermute) or weighted and summed back.
struct Reorder {
  OperatorKind kind{};
  Phase phase{};
  std::int64_t rows = 0;
  std::string_view name;
  TensorId from = -1;
  TensorId weights = -1;
  TensorId to = -1;
};

void reorder(Emit& e, const Reorder& r) {
  e.out.add({.kind = r.kind,
             .phase = r.phase,
             .dtype = e.s.storage,
             .routed = true,
             .shape = {.rows = r.rows, .columns = e.s.model->hidden},
             .name = r.name},
            {r.from, r.weights}, {r.to});
}

bool exchanges(const Setting& s) { return s.expert > 1 && s.dispatcher != Dispatcher::kAllGather; }
bool gathers(const Setting& s) {
  return s.dispatcher == Dispatcher::kAllGather && s.expert * s.expert_tensor > 1;
}

/// Token counts per expert, so that buffers can be sized: integers over all expert ranks.
void share_counts(Emit& e) {
  if (e.s.expert * e.s.expert_tensor == 1) return;
  const std::int64_t experts = e.s.model->experts->count;
  const TensorId counts =
      e.out.tensor({.name = "token_counts", .dtype = DType::kInt64, .extents = {experts, 1, 1}});
  send_routed(e,
              {OperatorKind::kAllGather, e.forward, GroupKind::kExpertModel,
               experts * e.s.expert * e.s.expert_tensor, "experts.counts", DType::kInt64, false},
              -1, counts);
}

/// Rows on their way between the rank that owns a token and the one that holds its expert.
/// `outwards`: dispatch (and the backward of combine); else combine (and the backward of dispatch).
TensorId move_rows(Emit& e, TensorId rows, Phase phase, bool outwards, std::string_view name) {
  const Setting& s = e.s;
  const std::int64_t h = s.model->hidden;
  const RoutedRows count = routed_rows(s);
  TensorId here = rows;
  const auto buffer = [&](std::int64_t n) {
    return routed_tensor(e, "dispatched", n, h, TensorKind::kCommunication);
  };
  const auto exchange = [&] {
    if (!exchanges(s)) return;
    const TensorId to =
        !outwards && sends_once(s) ? activation(e, "combined", s.rows, h) : buffer(count.sent);
    send_routed(
        e, {OperatorKind::kAllToAll, phase, GroupKind::kExpert, count.sent * h, name, s.storage},
        here, to);
    here = to;
  };
  const auto across_tensor = [&](OperatorKind kind, std::int64_t result) {
    if (s.expert_tensor == 1 || gathers(s)) return;
    const TensorId to = buffer(result);
    send_routed(
        e,
        {kind, phase, GroupKind::kExpertTensor, count.sent * s.expert_tensor * h, name, s.storage},
        here, to);
    here = to;
  };
  if (outwards) {
    exchange();
    across_tensor(OperatorKind::kAllGather, count.sent * s.expert_tensor);
  } else {
    across_tensor(OperatorKind::kReduceScatter, count.sent);
    exchange();
  }
  return here;
}

/// The all-gather dispatcher: all rows to all expert ranks, or partial sums back.
TensorId gather_rows(Emit& e, TensorId rows, Phase phase, bool outwards, std::string_view name) {
  const Setting& s = e.s;
  const std::int64_t all = s.rows * s.expert * s.expert_tensor;
  const TensorId to = e.out.tensor({.name = "dispatched",
                                    .kind = TensorKind::kCommunication,
                                    .dtype = s.storage,
                                    .extents = {outwards ? all : s.rows, s.model->hidden, 1}});
  send_routed(e,
              {outwards ? OperatorKind::kAllGather : OperatorKind::kReduceScatter, phase,
               GroupKind::kExpertModel, all * s.model->hidden, name, s.storage, false},
              rows, to);
  return to;
}

/// Gate probabilities travel with the rows, and their gradients back.
void move_probabilities(Emit& e, Phase phase, TensorId probabilities) {
  if (!exchanges(e.s)) return;
  send_routed(e,
              {OperatorKind::kAllToAll, phase, GroupKind::kExpert, routed_rows(e.s).copies,
               "experts.probabilities", e.s.exact},
              probabilities, -1);
}

TensorId route(Emit& e, TensorId normed) {
  const Setting& s = e.s;
  const TensorId logits = linear(e, normed, router(s));
  const TensorId probabilities = e.out.tensor({.name = "router.probabilities",
                                               .dtype = e.s.exact,
                                               .extents = {s.rows, s.model->experts->count, 1}});
  e.out.add({.kind = OperatorKind::kTopK,
             .phase = e.forward,
             .dtype = e.s.exact,
             .shape = {.rows = s.rows,
                       .columns = s.model->experts->count,
                       .inner = s.model->experts->top_k},
             .name = "router.top_k"},
            {logits}, {probabilities});
  e.kept.set(Keep::kRouterProbabilities, probabilities);
  return probabilities;
}

/// Rows in the order of this rank's experts, ready for the grouped products.
TensorId dispatch(Emit& e, TensorId rows, Phase phase, TensorId weights, std::string_view name) {
  const RoutedRows count = routed_rows(e.s);
  if (gathers(e.s)) {
    const TensorId all = gather_rows(e, rows, phase, true, name);
    const TensorId sorted = routed_tensor(e, "expert.rows", count.computed, e.s.model->hidden);
    reorder(e,
            {OperatorKind::kPermute, phase, count.computed, "experts.sort", all, weights, sorted});
    return sorted;
  }
  TensorId permuted = rows;
  if (!sends_once(e.s)) {
    permuted = routed_tensor(e, "permuted", count.copies, e.s.model->hidden);
    reorder(e, {OperatorKind::kPermute, phase, count.copies, "experts.permute", rows, weights,
                permuted});
  }
  const TensorId arrived = move_rows(e, permuted, phase, true, name);
  if (arrived == permuted) return permuted;
  const TensorId sorted = routed_tensor(e, "expert.rows", count.computed, e.s.model->hidden);
  reorder(e, {OperatorKind::kPermute, phase, count.computed, "experts.sort", arrived,
              sends_once(e.s) ? weights : TensorId{-1}, sorted});
  return sorted;
}

/// The reverse of `dispatch`: weighted sums in the order of this rank's tokens.
TensorId combine(Emit& e, TensorId rows, Phase phase, TensorId weights, std::string_view name) {
  const RoutedRows count = routed_rows(e.s);
  const std::int64_t h = e.s.model->hidden;
  if (gathers(e.s)) {
    const std::int64_t all = e.s.rows * e.s.expert * e.s.expert_tensor;
    const TensorId sums = activation(e, "partial_sums", all, h);
    reorder(e, {OperatorKind::kUnpermute, phase, count.computed, "experts.unsort", rows, weights,
                sums});
    return gather_rows(e, sums, phase, false, name);
  }
  if (sends_once(e.s)) {
    if (phase == e.forward) e.kept.set(Keep::kCombined, rows);
    const TensorId partial = routed_tensor(e, "partial_sums", count.sent * e.s.expert_tensor, h);
    reorder(e, {OperatorKind::kUnpermute, phase, count.computed, "experts.unsort", rows, weights,
                partial});
    return move_rows(e, partial, phase, false, name);
  }
  TensorId back = rows;
  if (e.s.expert * e.s.expert_tensor > 1) {
    const TensorId unsorted = routed_tensor(e, "unsorted", count.computed, h);
    reorder(e,
            {OperatorKind::kPermute, phase, count.computed, "experts.unsort", rows, -1, unsorted});
    back = move_rows(e, unsorted, phase, false, name);
  }
  if (phase == e.forward) e.kept.set(Keep::kCombined, back);
  const TensorId own = activation(e, "combined", e.s.rows, h);
  reorder(e,
          {OperatorKind::kUnpermute, phase, count.copies, "experts.unpermute", back, weights, own});
  return own;
}

TensorId add_rows(Emit& e, TensorId x, TensorId y, Phase phase) {
  const TensorId z = activation(e, "sum", e.s.rows, e.s.model->hidden);
  e.out.add({.kind = OperatorKind::kAdd,
             .phase = phase,
             .dtype = e.s.storage,
             .shape = {.rows = e.s.rows, .columns = e.s.model->hidden},
             .name = "experts.sum"},
            {x, y}, {z});
  return z;
}

bool has_shared(const Setting& s) { return s.model->experts->shared_ffn > 0; }

/// Backward of the grouped products: gradient of the dispatched rows.
TensorId grouped_backward(Emit& e, TensorId dy) {
  const Setting& s = e.s;
  const Product first = expert_fc1(s);
  const Product second = expert_fc2(s);
  const TensorId d_active = linear_data_gradient(e, dy, second);
  linear_weight_gradient(e, dy, e.kept.get(Keep::kExpertActivationOut), second);
  const TensorId d_wide = activate_backward(e, d_active, e.kept.get(Keep::kExpertFc1Out),
                                            {second.rows, second.inner, true});
  const TensorId d_rows = linear_data_gradient(e, d_wide, first);
  linear_weight_gradient(e, d_wide, e.kept.get(Keep::kExpertInput), first);
  return d_rows;
}

/// Gradient of the normed rows through the gate.
TensorId route_backward(Emit& e, TensorId probabilities) {
  const Setting& s = e.s;
  const Product gate = router(s);
  const TensorId d_logits = activation(e, "gradient", s.rows, s.model->experts->count);
  e.out.add({.kind = OperatorKind::kTopK,
             .phase = Phase::kDataGradient,
             .dtype = e.s.exact,
             .shape = {.rows = s.rows,
                       .columns = s.model->experts->count,
                       .inner = s.model->experts->top_k},
             .name = "router.top_k"},
            {probabilities}, {d_logits});
  const TensorId dx = linear_data_gradient(e, d_logits, gate);
  linear_weight_gradient(e, d_logits, e.kept.get(Keep::kMlpLinearInput), gate);
  return dx;
}

}  // namespace

TensorId experts_block(Emit& e, TensorId normed) {
  const Setting& s = e.s;
  e.kept.set(Keep::kMlpLinearInput, normed);
  const TensorId probabilities = route(e, normed);
  share_counts(e);
  const TensorId rows = dispatch(e, normed, e.forward, probabilities, "experts.dispatch");
  move_probabilities(e, e.forward, probabilities);
  e.kept.set(Keep::kExpertInput, rows);
  const TensorId wide = linear(e, rows, expert_fc1(s));
  e.kept.set(Keep::kExpertFc1Out, wide);
  const TensorId active = activate(e, wide, {expert_fc2(s).rows, expert_fc2(s).inner, true});
  e.kept.set(Keep::kExpertActivationOut, active);
  const TensorId result = linear(e, active, expert_fc2(s));
  TensorId out = combine(e, result, e.forward, probabilities, "experts.combine");
  if (!has_shared(s)) return out;
  const TensorId partial = mlp_block(e, normed, shared_mlp(*s.model));
  const TensorId shared = leave_tensor(e, partial, {s.model->hidden, "shared.fc2", e.forward});
  return add_rows(e, out, shared, e.forward);
}

TensorId experts_block_backward(Emit& e, TensorId dy) {
  const Setting& s = e.s;
  const Phase phase = Phase::kDataGradient;
  const TensorId probabilities = e.kept.get(Keep::kRouterProbabilities);
  const TensorId d_probabilities = e.out.tensor(
      {.name = "gradient", .dtype = e.s.exact, .extents = {s.rows, s.model->experts->count, 1}});
  e.out.add({.kind = OperatorKind::kUnpermute,
             .phase = phase,
             .dtype = s.storage,
             .shape = {.rows = routed_rows(s).copies, .columns = s.model->hidden},
             .name = "experts.probabilities_gradient"},
            {dy, e.kept.get(Keep::kCombined), probabilities}, {d_probabilities});
  const TensorId d_result = dispatch(e, dy, phase, probabilities, "experts.combine");
  const TensorId d_rows = grouped_backward(e, d_result);
  move_probabilities(e, phase, d_probabilities);
  TensorId dx = combine(e, d_rows, phase, -1, "experts.dispatch");
  dx = add_rows(e, dx, route_backward(e, d_probabilities), phase);
  if (!has_shared(s)) return dx;
  const TensorId gathered = enter_tensor(e, dy, {s.model->hidden, "shared.fc2", phase});
  const TensorId d_shared = mlp_block_backward(e, gathered, shared_mlp(*s.model));
  return add_rows(e, dx, d_shared, phase);
}

}  // namespace stepwright
