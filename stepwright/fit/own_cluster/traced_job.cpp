#include "stepwright/fit/own_cluster/traced_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/logs/planned_step.h"
#include "stepwright/step/work.h"

namespace stepwright::fit {
namespace {

/// How far, as a share, the products of a trace may differ from those of the plan.
constexpr double kOtherModel = 0.05;

void check_ranks(const step::StepProgram& program, const logs::CommunicationLog& log) {
  for (const logs::LogFileReadResult& source : log.sources) {
    if (source.world == 0 || source.world == program.ranks) continue;
    fail_input(fmt::format("{}: is from a job of {} ranks, but the plan has {}", source.file,
                           source.world, program.ranks));
  }
  std::set<std::int64_t> ranks;
  for (const logs::EqualLoggedCalls& calls : log.records.distinct_calls()) {
    if (calls.first.rank != logs::kUnknown) ranks.insert(calls.first.rank);
  }
  if (ranks.empty() || std::ssize(ranks) == program.ranks) return;
  fail_input(
      fmt::format("fit --plan: the traces are from {} of {} ranks; give traces of all ranks, or "
                  "waiting for the other ranks counts as messages",
                  ranks.size(), program.ranks));
}

/// Returns the FLOPs of forward products in a step, by inner width.
std::map<std::int64_t, double> planned_products(const step::StepProgram& program) {
  std::map<std::int64_t, double> products;
  const step::PipelineStageProgram& stage = program.stages.front();
  for (const step::PipelineScheduleSlot& slot : stage.schedule) {
    for (const step::TemplateSequenceItem& item :
         stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      for (const step::Operator& op :
           program.templates[static_cast<std::size_t>(item.which)].operators) {
        if (op.kind != step::OperatorKind::kLinear || step::is_backward_phase(op.phase)) continue;
        products[op.shape.inner] += op.repeats * step::operator_flops(op);
      }
    }
  }
  return products;
}

std::map<std::int64_t, double> traced_products(const RankHostTrace& trace) {
  std::map<std::int64_t, double> products;
  for (const HostMatrixProduct& product : trace.products) {
    if (step::is_backward_phase(product.phase)) continue;
    const step::Operator op{
        .kind = step::OperatorKind::kLinear, .phase = product.phase, .shape = product.shape};
    products[product.shape.inner] +=
        step::operator_flops(op) / static_cast<double>(trace.steps.size());
  }
  return products;
}

double sum_of(const std::map<std::int64_t, double>& products) {
  double sum = 0;
  for (const auto& [inner, flops] : products) sum += flops;
  return sum;
}

using BytesByOperation = std::map<logs::LoggedOperation, double>;

/// Returns the first operation that has bytes in `of` and none in `in`; nullopt: there is none.
std::optional<logs::LoggedOperation> lacking(const BytesByOperation& of,
                                             const BytesByOperation& in) {
  double all = 0;
  for (const auto& [operation, bytes] : of) all += bytes;
  for (const auto& [operation, bytes] : of) {
    if (bytes > kOtherModel * all && !in.contains(operation)) return operation;
  }
  return std::nullopt;
}

/// Checks the kinds of messages: another sharding computes the same, but sends by other operations.
void check_messages(const step::StepProgram& program, const plan::RankGrid& grid,
                    const logs::CommunicationLog& log) {
  BytesByOperation planned;
  for (const auto& [kind, sizes] : logs::planned_step(program, grid, 0).calls) {
    for (const auto& [payload, size] : sizes) {
      planned[kind.operation] += static_cast<double>(payload * size.count);
    }
  }
  BytesByOperation logged;
  for (const logs::EqualLoggedCalls& calls : log.records.distinct_calls()) {
    const std::int64_t bytes = std::max(calls.first.payload_bytes, calls.first.logged_bytes);
    const bool of_step = calls.first.operation != logs::LoggedOperation::kBroadcast &&
                         calls.first.operation != logs::LoggedOperation::kBarrier;
    if (of_step && bytes > 0) {
      logged[calls.first.operation] += static_cast<double>(bytes * calls.calls);
    }
  }
  if (logged.empty()) return;
  const auto fail = [](logs::LoggedOperation operation, std::string_view holds,
                       std::string_view lacks) {
    fail_input(
        fmt::format("fit --plan: the traces are of another sharding or layout than the "
                    "plan: {} has {}, {} none",
                    holds, name_of(logs::kLogOperationNames, operation), lacks));
  };
  if (const auto more = lacking(logged, planned)) fail(*more, "the run", "the plan");
  if (const auto less = lacking(planned, logged)) fail(*less, "the plan", "the run");
}

}  // namespace

void check_traces_match_job(const step::StepProgram& program, const plan::RankGrid& grid,
                            const std::vector<RankHostTrace>& ranks,
                            const logs::CommunicationLog& log) {
  check_ranks(program, log);
  check_messages(program, grid, log);
  // Products may be cut and joined differently than in the plan, but not along their inner width.
  const std::map<std::int64_t, double> planned = planned_products(program);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::map<std::int64_t, double> traced = traced_products(ranks[i]);
    std::map<std::int64_t, double> left = planned;
    for (const auto& [inner, flops] : traced) left[inner] -= flops;
    double apart = 0;
    for (const auto& [inner, flops] : left) apart += std::fabs(flops);
    if (apart <= kOtherModel * sum_of(planned)) continue;
    fail_input(fmt::format(
        "{}: is of another model, batch or layout than the plan: its forward makes {:.4g} FLOPs of "
        "products in a step of a rank, that of the plan {:.4g}, and {:.4g} are of other widths",
        i < log.sources.size() ? log.sources[i].file : "a trace", sum_of(traced), sum_of(planned),
        apart));
  }
}

}  // namespace stepwright::fit
