#include "stepwright/fit/own_cluster/traced_job.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/step/work.h"

namespace stepwright {
namespace {

/// How far the products of a trace may be from those of the plan.
constexpr double kOtherModel = 0.05;

void check_ranks(const StepProgram& program, const Log& log) {
  for (const LogSource& source : log.sources) {
    if (source.world == 0 || source.world == program.ranks) continue;
    fail_input(fmt::format("{}: is of a job of {} ranks, the plan of {}", source.file, source.world,
                           program.ranks));
  }
  std::set<std::int64_t> ranks;
  for (const EqualCalls& calls : log.records.distinct()) {
    if (calls.first.rank != kUnknown) ranks.insert(calls.first.rank);
  }
  if (ranks.empty() || std::ssize(ranks) == program.ranks) return;
  fail_input(
      fmt::format("fit --plan: the traces are of {} of {} ranks; give those of all, or the "
                  "wait for the others counts as their messages",
                  ranks.size(), program.ranks));
}

/// FLOPs of forward products in a step, by inner width.
std::map<std::int64_t, double> planned_products(const StepProgram& program) {
  std::map<std::int64_t, double> products;
  const Stage& stage = program.stages.front();
  for (const Slot& slot : stage.schedule) {
    for (const Item& item : stage.sequences[static_cast<std::size_t>(slot.sequence)].items) {
      for (const Operator& op : program.templates[static_cast<std::size_t>(item.which)].operators) {
        if (op.kind != OperatorKind::kLinear || is_backward(op.phase)) continue;
        products[op.shape.inner] += op.repeats * flops(op);
      }
    }
  }
  return products;
}

std::map<std::int64_t, double> traced_products(const HostTrace& trace) {
  std::map<std::int64_t, double> products;
  for (const HostProduct& product : trace.products) {
    if (is_backward(product.phase)) continue;
    const Operator op{
        .kind = OperatorKind::kLinear, .phase = product.phase, .shape = product.shape};
    products[product.shape.inner] += flops(op) / static_cast<double>(trace.steps.size());
  }
  return products;
}

double sum_of(const std::map<std::int64_t, double>& products) {
  double sum = 0;
  for (const auto& [inner, flops] : products) sum += flops;
  return sum;
}

}  // namespace

void check_traces(const StepProgram& program, const std::vector<HostTrace>& ranks, const Log& log) {
  check_ranks(program, log);
  // Products may be cut and joined otherwise than in the plan, but not along their inner width.
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

}  // namespace stepwright
