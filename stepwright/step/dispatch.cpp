#include "stepwright/step/dispatch.h"

#include <cmath>
#include <numeric>

#include "stepwright/step/work.h"

namespace stepwright::step {
namespace {

/// True if the exchange itself sends each row only once to a rank, however many of its experts are
/// there, and sums the results that come back (DeepEP, HybridEP).
bool sends_once(const StepBuildSettings& s) {
  return s.expert > 1 && s.dispatcher == plan::TokenDispatcher::kOncePerNode;
}
bool exchanges(const StepBuildSettings& s) {
  return s.expert > 1 && s.dispatcher != plan::TokenDispatcher::kAllGather;
}
bool gathers(const StepBuildSettings& s) {
  return s.dispatcher == plan::TokenDispatcher::kAllGather && sends_tokens_to_other_ranks(s);
}

/// Ranks over which routed rows are exchanged.
std::int64_t members(const StepBuildSettings& s) { return s.expert * s.expert_tensor; }

TensorId routed_rows_tensor(ModelBlockBuildContext& e, std::string_view name, std::int64_t rows,
                            TensorPurpose kind = TensorPurpose::kActivation) {
  return e.out.tensor({.name = name,
                       .kind = kind,
                       .dtype = e.s.storage,
                       .routed = true,
                       .extents = {rows, e.s.model->expert_input_width(), 1}});
}

/// Creates a tensor of one gate weight for each of `rows` rows that are exchanged.
TensorId routed_weights_tensor(ModelBlockBuildContext& e, std::int64_t rows) {
  return e.out.tensor(
      {.name = "weights", .dtype = e.s.exact, .routed = true, .extents = {rows, 1, 1}});
}

/// Creates a tensor of the top k choices of `rows` rows.
TensorId choice_tensor(ModelBlockBuildContext& e, std::string_view name, DType type,
                       std::int64_t rows) {
  return create_activation_tensor(e, name, type, rows, e.s.model->experts->top_k);
}

struct ExpertMessage {
  OperatorKind kind{};
  Phase phase{};
  plan::CommunicatorKind group{};
  std::int64_t elements = 0;
  LayerPart part{};
  DType dtype = DType::kBf16;
  OperatorPurpose purpose = OperatorPurpose::kPlain;  ///< Direction in which routed rows are sent.
};

/// Writes an exchange of routed rows. `counts`: tensor of the rows that go to each rank; -1: all
/// ranks send equally many.
void send(ModelBlockBuildContext& e, const ExpertMessage& m, std::initializer_list<TensorId> from,
          TensorId to) {
  e.out.add({.kind = m.kind,
             .phase = m.phase,
             .stream = stream_of_messages(e.s, ParallelismScheme::kExpert),
             .scheme = ParallelismScheme::kExpert,
             .group = m.group,
             .dtype = m.dtype,
             .routed = m.purpose != OperatorPurpose::kPlain,
             .in_pieces = e.s.overlap.expert,
             .payload_elements = m.elements,
             .part = m.part,
             .purpose = m.purpose},
            from, {to});
}

/// A copy of rows in another order (kPermute), or their sums (kUnpermute). `from.weights` multiply
/// the rows; if there are `to.weights`, they are only put into the same order.
struct Reorder {
  OperatorKind kind{};
  Phase phase{};
  std::int64_t rows = 0;
  LayerPart part{};
  OperatorPurpose purpose{};
  TensorId where = -1;  ///< Tensor that gives the order: the top k of each row, or the counts.
  ExpertExchangeTensors from;
  ExpertExchangeTensors to;
};

ExpertExchangeTensors reorder(ModelBlockBuildContext& e, const Reorder& r) {
  e.out.add({.kind = r.kind,
             .phase = r.phase,
             .dtype = e.s.storage,
             .routed = true,
             .shape = {.rows = r.rows, .columns = e.s.model->expert_input_width()},
             .part = r.part,
             .purpose = r.purpose},
            {r.from.rows, r.where, r.from.weights}, {r.to.rows, r.to.weights});
  return r.to;
}

TensorId token_counts(ModelBlockBuildContext& e) {
  return tensor_kept_by_forward(e, KeptTensorRole::kTokenCounts);
}
TensorId indices(ModelBlockBuildContext& e) {
  return tensor_kept_by_forward(e, KeptTensorRole::kRouterIndices);
}
TensorId gathered_indices(ModelBlockBuildContext& e) {
  return tensor_kept_by_forward(e, KeptTensorRole::kGatheredIndices);
}

/// An exchange of rows, or of one number for each copy of a row, between the rank that owns a token
/// and the ranks of its experts. `outwards`: true if rows go to the experts.
struct ExpertExchange {
  Phase phase{};
  LayerPart part{};
  bool outwards = true;
  bool weights = false;
};

std::int64_t columns_of(const ModelBlockBuildContext& e, const ExpertExchange& j) {
  return j.weights ? 1 : e.s.model->expert_input_width();
}
DType type_of(const ModelBlockBuildContext& e, const ExpertExchange& j) {
  return j.weights ? e.s.exact : e.s.storage;
}
OperatorPurpose purpose_of(const ExpertExchange& j) {
  return j.outwards ? OperatorPurpose::kToExperts : OperatorPurpose::kFromExperts;
}

TensorId exchanged_tensor(ModelBlockBuildContext& e, const ExpertExchange& j, std::int64_t rows) {
  if (j.weights) return routed_weights_tensor(e, rows);
  return routed_rows_tensor(e, "dispatched", rows, TensorPurpose::kCommunication);
}

TensorId exchange_with_experts(ModelBlockBuildContext& e, TensorId here, const ExpertExchange& j) {
  const StepBuildSettings& s = e.s;
  if (!exchanges(s)) return here;
  const RoutedRowCounts count = routed_rows(s);
  const std::int64_t rows = j.weights ? count.copies : count.sent;
  const bool summed = sends_once(s) && !j.outwards;
  TensorId there = -1;
  if (!summed) there = exchanged_tensor(e, j, rows);
  if (summed && j.weights) there = choice_tensor(e, "weights", s.exact, s.rows);
  if (summed && !j.weights)
    there = create_activation_tensor(e, "combined", s.rows, s.model->expert_input_width());
  send(e,
       {OperatorKind::kAllToAll, j.phase, plan::CommunicatorKind::kExpert, rows * columns_of(e, j),
        j.part, type_of(e, j), purpose_of(j)},
       {here, token_counts(e), sends_once(s) ? indices(e) : TensorId{-1}}, there);
  return there;
}

/// Writes a message among the expert-tensor ranks, which share each expert.
TensorId across_tensor(ModelBlockBuildContext& e, TensorId here, const ExpertExchange& j) {
  const StepBuildSettings& s = e.s;
  if (s.expert_tensor == 1) return here;
  const RoutedRowCounts count = routed_rows(s);
  const std::int64_t rows = j.weights ? count.copies : count.sent;
  const std::int64_t all = rows * s.expert_tensor;
  const TensorId there = exchanged_tensor(e, j, j.outwards ? all : rows);
  send(e,
       {j.outwards ? OperatorKind::kAllGather : OperatorKind::kReduceScatter, j.phase,
        plan::CommunicatorKind::kExpertTensor, all * columns_of(e, j), j.part, type_of(e, j),
        purpose_of(j)},
       {here, token_counts(e)}, there);
  return there;
}

TensorId exchange(ModelBlockBuildContext& e, TensorId here, const ExpertExchange& j) {
  if (j.outwards) return across_tensor(e, exchange_with_experts(e, here, j), j);
  return exchange_with_experts(e, across_tensor(e, here, j), j);
}

ExpertExchange of_rows(const ExpertExchangeLabels& m, bool outwards) {
  return {m.phase, m.part, outwards};
}
ExpertExchange of_weights(Phase phase, bool outwards) {
  return {phase, LayerPart::kGateWeights, outwards, true};
}

/// A message of the all-gather dispatcher, in which every rank contributes equally many rows.
struct Whole {
  OperatorKind kind{};
  std::int64_t elements = 0;  ///< Elements that all ranks contribute together.
  LayerPart part{};
  TensorId from = -1;
  TensorId to = -1;
};

TensorId send_whole(ModelBlockBuildContext& e, Phase phase, const Whole& w) {
  send(e,
       {w.kind, phase, plan::CommunicatorKind::kExpertModel, w.elements, w.part,
        e.out.at(w.from).dtype},
       {w.from}, w.to);
  return w.to;
}

TensorId gathered(ModelBlockBuildContext& e, std::int64_t rows) {
  return create_message_buffer(e, "dispatched", rows, e.s.model->expert_input_width());
}

/// Writes the dispatch of the all-gather dispatcher: every expert rank gets all rows and selects
/// its own.
TensorId gather_rows(ModelBlockBuildContext& e, TensorId own, const ExpertExchangeLabels& m) {
  const std::int64_t all = e.s.rows * members(e.s);
  return send_whole(e, m.phase,
                    {OperatorKind::kAllGather, all * e.s.model->expert_input_width(), m.part, own,
                     gathered(e, all)});
}

ExpertExchangeTensors pick_gathered(ModelBlockBuildContext& e, TensorId rows,
                                    const ExpertExchangeTensors& own,
                                    const ExpertExchangeLabels& m) {
  const StepBuildSettings& s = e.s;
  const std::int64_t all = s.rows * members(s);
  const std::int64_t computed = routed_rows(s).computed;
  const TensorId sorted = routed_rows_tensor(e, "expert.rows", computed);
  reorder(e, {OperatorKind::kPermute,
              m.phase,
              computed,
              LayerPart::kSort,
              OperatorPurpose::kSortArrived,
              gathered_indices(e),
              {.rows = rows},
              {.rows = sorted}});
  if (own.weights < 0) return {.rows = sorted};
  return {sorted, send_whole(e, m.phase,
                             {OperatorKind::kAllGather, all * s.model->experts->top_k,
                              LayerPart::kGateWeights, own.weights,
                              choice_tensor(e, "gathered_weights", s.exact, all)})};
}

/// Writes the combine of the all-gather dispatcher: partial sums for all rows are reduce-scattered
/// back.
TensorId gather_combine(ModelBlockBuildContext& e, TensorId computed,
                        const ExpertExchangeLabels& m) {
  const StepBuildSettings& s = e.s;
  const std::int64_t all = s.rows * members(s);
  const TensorId sums =
      create_activation_tensor(e, "partial_sums", all, s.model->expert_input_width());
  reorder(e, {OperatorKind::kUnpermute,
              m.phase,
              routed_rows(s).computed,
              LayerPart::kUnsort,
              OperatorPurpose::kUnsortArrived,
              gathered_indices(e),
              {computed, m.weigh},
              {.rows = sums}});
  return send_whole(e, m.phase,
                    {OperatorKind::kReduceScatter, all * s.model->expert_input_width(), m.part,
                     sums, gathered(e, s.rows)});
}

/// Sorts the experts' rows back into their order of arrival; for an exchange that sends each row
/// once, sums the copies of a row.
TensorId unsort(ModelBlockBuildContext& e, TensorId computed, const ExpertExchangeLabels& m) {
  const RoutedRowCounts count = routed_rows(e.s);
  const bool once = sends_once(e.s);
  const TensorId unsorted =
      once ? routed_rows_tensor(e, "partial_sums", count.sent * e.s.expert_tensor)
           : routed_rows_tensor(e, "unsorted", count.computed);
  reorder(e, {once ? OperatorKind::kUnpermute : OperatorKind::kPermute,
              m.phase,
              count.computed,
              LayerPart::kUnsort,
              OperatorPurpose::kUnsortArrived,
              token_counts(e),
              {computed, m.weigh},
              {.rows = unsorted}});
  return unsorted;
}

}  // namespace

RoutedRowCounts routed_rows(const StepBuildSettings& s) {
  const std::int64_t top_k = s.model->experts->top_k;
  const auto copies = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(s.rows * top_k) * s.capacity_row_share));
  if (!sends_once(s)) return {copies, copies, copies * s.expert_tensor};
  const double met = expected_distinct_count(s.expert, top_k) * s.capacity_row_share;
  const auto sent = static_cast<std::int64_t>(std::ceil(static_cast<double>(s.rows) * met));
  return {copies, sent, copies * s.expert_tensor};
}

bool sends_tokens_to_other_ranks(const StepBuildSettings& s) { return members(s) > 1; }

bool routes_equal_rows_to_ranks(const StepBuildSettings& s) {
  if (!s.model->experts) return true;
  if (sends_once(s)) return false;
  const std::int64_t run = s.context > 1 ? s.length / (2 * s.context) : s.rows;
  return std::gcd(run, s.rows) * s.model->experts->top_k % s.model->experts->count == 0;
}

void append_router_choice_messages(ModelBlockBuildContext& e, TensorId own_counts) {
  const StepBuildSettings& s = e.s;
  e.kept.set(KeptTensorRole::kTokenCounts, own_counts);
  if (!sends_tokens_to_other_ranks(s)) return;
  const std::int64_t experts = s.model->experts->count;
  const TensorId counts =
      create_activation_tensor(e, "token_counts", DType::kInt64, members(s), experts);
  e.kept.set(KeptTensorRole::kTokenCounts,
             send_whole(e, e.forward,
                        {OperatorKind::kAllGather, experts * members(s), LayerPart::kExpertCounts,
                         own_counts, counts}));
  if (!gathers(s)) return;
  const std::int64_t all = s.rows * members(s);
  e.kept.set(KeptTensorRole::kGatheredIndices,
             send_whole(e, e.forward,
                        {OperatorKind::kAllGather, all * s.model->experts->top_k,
                         LayerPart::kExpertIndices, indices(e),
                         choice_tensor(e, "gathered_indices", DType::kInt32, all)}));
}

ExpertExchangeTensors append_expert_dispatch_messages(ModelBlockBuildContext& e,
                                                      const ExpertExchangeTensors& own,
                                                      const ExpertExchangeLabels& m) {
  if (gathers(e.s)) return {.rows = gather_rows(e, own.rows, m)};
  const RoutedRowCounts count = routed_rows(e.s);
  ExpertExchangeTensors here = own;
  if (!sends_once(e.s)) {
    ExpertExchangeTensors permuted{.rows = routed_rows_tensor(e, "permuted", count.copies)};
    if (own.weights >= 0) permuted.weights = routed_weights_tensor(e, count.copies);
    const TensorId beside = m.weigh >= 0 ? m.weigh : own.weights;
    here = reorder(e, {OperatorKind::kPermute,
                       m.phase,
                       count.copies,
                       LayerPart::kPermute,
                       OperatorPurpose::kOwnCopies,
                       indices(e),
                       {own.rows, beside},
                       permuted});
  }
  if (!sends_tokens_to_other_ranks(e.s)) return here;
  ExpertExchangeTensors arrived{.rows = exchange(e, here.rows, of_rows(m, true))};
  if (here.weights >= 0) arrived.weights = exchange(e, here.weights, of_weights(m.phase, true));
  return arrived;
}

ExpertExchangeTensors append_expert_dispatch_wait(ModelBlockBuildContext& e,
                                                  const ExpertExchangeTensors& arrived,
                                                  const ExpertExchangeTensors& own,
                                                  const ExpertExchangeLabels& m) {
  if (!sends_tokens_to_other_ranks(e.s)) return arrived;
  if (gathers(e.s)) return pick_gathered(e, arrived.rows, own, m);
  const RoutedRowCounts count = routed_rows(e.s);
  const TensorId sorted = routed_rows_tensor(e, "expert.rows", count.computed);
  reorder(e, {OperatorKind::kPermute,
              m.phase,
              count.computed,
              LayerPart::kSort,
              OperatorPurpose::kSortArrived,
              token_counts(e),
              {.rows = arrived.rows},
              {.rows = sorted}});
  return {sorted, arrived.weights};
}

TensorId create_gate_weights_at_experts(ModelBlockBuildContext& e) {
  const std::int64_t computed = routed_rows(e.s).computed;
  if (!gathers(e.s)) return routed_weights_tensor(e, computed);
  return choice_tensor(e, "gathered_weights", e.s.exact, e.s.rows * members(e.s));
}

TensorId places_at_experts(ModelBlockBuildContext& e) {
  return gathers(e.s) ? gathered_indices(e) : token_counts(e);
}

TensorId append_gate_gradient_return_messages(ModelBlockBuildContext& e, TensorId weights,
                                              Phase phase) {
  const StepBuildSettings& s = e.s;
  if (!gathers(s)) return exchange(e, weights, of_weights(phase, false));
  return send_whole(
      e, phase,
      {OperatorKind::kReduceScatter, s.rows * members(s) * s.model->experts->top_k,
       LayerPart::kGateWeights, weights, choice_tensor(e, "weights", s.exact, s.rows)});
}

ExpertExchangeTensors append_expert_combine_messages(ModelBlockBuildContext& e,
                                                     const ExpertExchangeTensors& computed,
                                                     const ExpertExchangeLabels& m) {
  if (gathers(e.s)) return {gather_combine(e, computed.rows, m), computed.weights};
  if (!sends_tokens_to_other_ranks(e.s)) return computed;
  return {exchange(e, unsort(e, computed.rows, m), of_rows(m, false)), computed.weights};
}

ExpertExchangeTensors append_expert_combine_wait(ModelBlockBuildContext& e,
                                                 const ExpertExchangeTensors& arrived,
                                                 const ExpertExchangeLabels& m) {
  if (gathers(e.s) || sends_once(e.s)) return arrived;
  const ExpertExchangeTensors back{arrived.rows,
                                   sends_tokens_to_other_ranks(e.s) ? arrived.weights : m.weigh};
  ExpertExchangeTensors own{
      .rows = create_activation_tensor(e, "combined", e.s.rows, e.s.model->expert_input_width())};
  if (arrived.weights >= 0) own.weights = choice_tensor(e, "weights", e.s.exact, e.s.rows);
  return reorder(e, {OperatorKind::kUnpermute, m.phase, routed_rows(e.s).copies,
                     LayerPart::kUnpermute, OperatorPurpose::kOwnCopies, indices(e), back, own});
}

}  // namespace stepwright::step
