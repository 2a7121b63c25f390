#include "stepwright/fit/own_cluster/step_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/fit/middle.h"
#include "stepwright/fit/own_cluster/computation_law_fit.h"
#include "stepwright/fit/own_cluster/host_overhead_fit.h"
#include "stepwright/fit/own_cluster/message_law_fit.h"
#include "stepwright/fit/own_cluster/planned_work.h"
#include "stepwright/fit/own_cluster/step_messages.h"
#include "stepwright/fit/own_cluster/traced_job.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/step/work.h"

namespace stepwright::fit {
namespace {

using KindAndPhase = std::pair<step::OperatorKind, step::Phase>;

/// Runs of a computation, both alone and beside messages, that are needed to compare the two.
constexpr std::size_t kFewest = 3;

class StepFitter {
 public:
  StepFitter(const plan::PlannedJob& planned, const std::vector<RankHostTrace>& ranks,
             const logs::CommunicationLog& log)
      : planned_(planned), ranks_(ranks), log_(log) {
    program_ = step::build_step_program(planned.job, planned.plan);
    if (program_.stages.size() > 1) {
      fail_unsupported("fit --plan: traces of pipelines are not covered; nearest: pipeline 1");
    }
    check_traces_match_job(program_, plan::RankGrid(planned.plan), ranks, log);
    work_ = planned_computations(program_, program_.stages.front());
  }

  MeasuredStepFit fit() {
    read_steps();
    fit_products();
    for (const auto& [key, work] : work_) fit_kind(key, work);
    fit_messages();
    spread_the_rest();
    return std::move(out_);
  }

 private:
  /// Chooses the steps that are in neither the shortest nor the longest quarter: the same for every
  /// kind and for messages, so that all parts sum up to a step.
  void choose_steps() {
    std::vector<std::pair<double, std::pair<std::size_t, const HostThreadStep*>>> steps;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (const HostThreadStep& step : ranks_[rank].steps) {
        steps.push_back({step.seconds, {rank, &step}});
      }
    }
    std::ranges::sort(steps, {}, [](const auto& step) { return step.first; });
    const std::size_t quarter = steps.size() / 4;
    for (std::size_t i = quarter; i < steps.size() - quarter; ++i)
      chosen_.push_back(steps[i].second);
  }

  void read_steps() {
    choose_steps();
    const double share = 1 / static_cast<double>(chosen_.size());
    for (const auto& [rank, step] : chosen_) {
      out_.step_s += share * step->seconds;
      out_.waiting_s += share * step->waiting;
      out_.unknown_s += share * step->unknown;
      dispatch_s_ += share * step->dispatch;
      for (const auto& [key, seconds] : step->kinds) {
        seconds_[key].busy += share * seconds.busy;
        seconds_[key].host += share * seconds.host;
      }
    }
  }

  /// True if a call was made in one of the chosen steps.
  [[nodiscard]] bool is_chosen(const logs::LoggedCall& record) const {
    return std::ranges::any_of(chosen_, [&](const auto& chosen) {
      const auto& [rank, step] = chosen;
      return static_cast<std::size_t>(record.source) == rank &&
             record.enqueued_s >= step->start_s &&
             record.enqueued_s < step->start_s + step->seconds;
    });
  }

  [[nodiscard]] static step::Operator operator_of(const HostMatrixProduct& product, DType dtype) {
    return {.kind = step::OperatorKind::kLinear,
            .phase = product.phase,
            .dtype = dtype,
            .shape = product.shape};
  }

  /// Fits matrix products. They run in many shapes, each of them often: one sample for each run,
  /// with the median time of its shape.
  void fit_products() {
    std::map<std::pair<step::Phase, step::OperatorShape>,
             std::pair<std::vector<double>, std::vector<double>>>
        times;
    std::size_t steps = 0;
    for (const RankHostTrace& rank : ranks_) {
      steps += rank.steps.size();
      for (const HostMatrixProduct& product : rank.products) {
        auto& [alone, beside] = times[{product.phase, product.shape}];
        (product.beside ? beside : alone).push_back(product.seconds);
      }
    }
    const DType dtype = work_.at({step::OperatorKind::kLinear, step::Phase::kForward}).dtype;
    std::map<step::Phase, std::vector<OwnComputationSample>> samples;
    std::set<step::Phase> timeless;
    std::vector<double> factors;
    for (const auto& [key, lists] : times) {
      const auto& [alone, beside] = lists;
      const auto& [phase, shape] = key;
      const step::Operator op = operator_of({.phase = phase, .shape = shape}, dtype);
      const OwnComputationSample sample{.kind = op.kind,
                                        .phase = phase,
                                        .dtype = dtype,
                                        .flops = step::operator_flops(op),
                                        .bytes = step::device_memory_traffic_bytes(op),
                                        .seconds = upper_median(alone.empty() ? beside : alone)};
      if (!(sample.seconds > 0)) {
        timeless.insert(phase);
        continue;
      }
      const std::size_t runs = alone.size() + beside.size();
      samples[phase].insert(samples[phase].end(), (runs + steps - 1) / steps, sample);
      if (std::min(alone.size(), beside.size()) >= kFewest) {
        factors.push_back(upper_median(beside) / upper_median(alone));
      }
    }
    for (const step::Phase phase : timeless) {
      if (!samples.contains(phase)) fail_timeless(phase);
    }
    for (const auto& [phase, rows] : samples) fit_products_of(phase, rows);
    if (!factors.empty()) {
      out_.fit.overlap.beside_inside =
          std::clamp(upper_median(factors), 1.0, cost::kMaxMeasuredSlowdownFactor);
    }
  }

  void fit_products_of(step::Phase phase, const std::vector<OwnComputationSample>& rows) {
    const KindAndPhase key{step::OperatorKind::kLinear, phase};
    const auto planned = work_.find(key);
    if (planned == work_.end()) return;
    cost::ComputationTimeLaw law = fit_computation_time_law(rows);
    scale_to_step(law, rows, seconds_[key].busy);
    // Several products of a framework may be one product of the plan.
    law.start_s *= static_cast<double>(rows.size()) / planned->second.operators;
    law.start_s += seconds_[key].host / planned->second.operators;
    out_.fit.computations.push_back({.law = law, .rows = rows.size()});
    used_.insert(key);
  }

  /// Fails with `kInput`, since the products of a phase have no duration.
  [[noreturn]] void fail_timeless(step::Phase phase) const {
    std::vector<std::string> files;
    for (const logs::LogFileReadResult& source : log_.sources) files.push_back(source.file);
    fail_input(fmt::format(
        "{}: dur: no product of the {} lasts longer than 0 us; the durations are missing, or the "
        "timer is too coarse for products of this size",
        files.empty() ? "a trace" : fmt::format("{}", fmt::join(files, ", ")),
        name_of(step::kPhaseNames, phase)));
  }

  /// Scales a law so that it sums up to its kind's time in a step: disturbed runs are in no median,
  /// but in every step.
  static void scale_to_step(cost::ComputationTimeLaw& law,
                            const std::vector<OwnComputationSample>& rows, double busy_s) {
    double sum_s = 0;
    for (const OwnComputationSample& row : rows) sum_s += predicted_s(law, row);
    if (!(sum_s > 0 && busy_s > 0)) return;
    for (double* part : {&law.start_s, &law.s_per_flop, &law.s_per_byte}) *part *= busy_s / sum_s;
  }

  /// Fits a kind that runs in few shapes: its time in a step over the plan's amount of it.
  void fit_kind(const KindAndPhase& key, const PlannedComputations& work) {
    if (key.first == step::OperatorKind::kLinear) return;
    // A trace does not tell an input's gradient from a weight's if one kernel computes both.
    double share = 1;
    KindAndPhase logged = key;
    if (!seconds_.contains(key) && step::is_backward_phase(key.second)) {
      logged.second = step::Phase::kDataGradient;
      const auto both = work_.find(logged);
      if (both != work_.end()) share = work.bytes / (work.bytes + both->second.bytes);
    }
    const auto seconds = seconds_.find(logged);
    if (seconds == seconds_.end()) return;
    // Where the trace shows no time, the device's own price is kept.
    if (!(seconds->second.busy + seconds->second.host > 0)) return;
    const HostComputationSeconds found{.busy = share * seconds->second.busy,
                                       .host = share * seconds->second.host};
    const bool products = work.flops > 0 && key.first == step::OperatorKind::kAttention;
    cost::ComputationTimeLaw law{.kind = key.first,
                                 .phase = key.second,
                                 .dtype = work.dtype,
                                 .start_s = found.host / work.operators};
    (products ? law.s_per_flop : law.s_per_byte) =
        found.busy / (products ? work.flops : work.bytes);
    out_.fit.computations.push_back({.law = law, .rows = 1});
    used_.insert(logged);
  }

  /// Adds time of kinds that the plan does not have, which is the host's, to the start of all
  /// operators.
  void spread_the_rest() {
    double rest = out_.unknown_s;
    for (const auto& [key, seconds] : seconds_) {
      if (used_.contains(key)) continue;
      rest += seconds.host + seconds.busy;
      out_.notes.push_back(fmt::format(
          "{} of a step is {} {}, which the plan has not: counted as time between operators",
          format_time(seconds.host + seconds.busy), name_of(step::kOperatorNames, key.first),
          name_of(step::kPhaseNames, key.second)));
    }
    double operators = 0;
    for (const auto& fitted : out_.fit.computations) {
      operators += work_.at({fitted.law.kind, fitted.law.phase}).operators;
    }
    for (auto& fitted : out_.fit.computations) {
      fitted.law.start_s += rest / std::max(1.0, operators);
    }
  }

  /// Fits the calls of operations that the plan may send: one law for all, since the same sockets
  /// carry them.
  void fit_messages() {
    const std::vector<StepMessageCalls> messages = logged_calls_of_plan_messages(
        planned_, program_, log_, static_cast<double>(chosen_.size()),
        [this](const logs::LoggedCall& record) { return is_chosen(record); });
    fit_host_of_messages();
    if (messages.empty()) return;
    double waiting_s = 0;
    std::vector<OwnCollectiveSample> samples;
    std::map<collective::CollectiveOperation, std::size_t> rows;
    for (const StepMessageCalls& message : messages) {
      waiting_s += message.calls * message.waiting_s;
      samples.push_back(message.sample);
      ++rows[message.sample.operation];
    }
    for (auto& [collective, law] : fit_gloo_operation_laws(samples)) {
      out_.fit.messages[collective] = {.law = std::move(law), .rows = rows[collective]};
    }
    slow_down(std::min(waiting_s, out_.waiting_s));
  }

  /// Fits the host's work for messages: copies such as FSDP's into and out of them, and DTensor's
  /// time for operators between tensor-parallel messages.
  void fit_host_of_messages() {
    constexpr std::pair<step::OperatorKind, collective::CollectiveOperation> kKinds[] = {
        {step::OperatorKind::kAllReduce, collective::CollectiveOperation::kAllReduce},
        {step::OperatorKind::kAllGather, collective::CollectiveOperation::kAllGather},
        {step::OperatorKind::kReduceScatter, collective::CollectiveOperation::kReduceScatter}};
    const MessagesByScheme planned = planned_messages(program_, program_.stages.front());
    const auto sends = [&](auto&& holds) {
      return std::ranges::any_of(planned, [&](const auto& one) { return holds(one.first); });
    };
    HostMessageWork host;
    for (const auto& [kind, collective] : kKinds) {
      if (!sends([which = collective](const auto& key) { return key.second == which; })) continue;
      for (const auto& [key, seconds] : seconds_) {
        if (key.first != kind) continue;
        host.copies[collective].busy += seconds.busy;
        host.copies[collective].host += seconds.host;
        used_.insert(key);
      }
    }
    const bool splits =
        sends([](const auto& key) { return key.first == step::ParallelismScheme::kTensor; });
    (splits ? host.dispatch_s : out_.unknown_s) += dispatch_s_;
    out_.fit.host_overhead = fit_host_overhead(planned, host);
    const plan::MessageHostOverhead host_overhead =
        plan::framework_defaults(planned_.job.framework).host_overhead;
    if (host_overhead.tensor_s == 0 && host_overhead.data_s == 0) return;
    // A sum only reads and writes, once each, unlike other kinds.
    const auto sum = std::ranges::find_if(out_.fit.computations, [](const auto& fitted) {
      return fitted.law.kind == step::OperatorKind::kAdd;
    });
    const double memory_s_per_byte = sum == out_.fit.computations.end() ? 0 : sum->law.s_per_byte;
    std::ranges::copy(
        assumed_host_overhead(planned, host_overhead, out_.fit.host_overhead, memory_s_per_byte),
        std::back_inserter(out_.fit.host_overhead));
  }

  /// Slows computations down by the time that ranks wait for the last one, which computes longer
  /// than the average rank whose computations the laws describe so far.
  void slow_down(double waiting_s) {
    double computed_s = 0;
    for (const auto& fitted : out_.fit.computations) {
      const PlannedComputations& work = work_.at({fitted.law.kind, fitted.law.phase});
      computed_s += work.operators * fitted.law.start_s + work.flops * fitted.law.s_per_flop +
                    work.bytes * fitted.law.s_per_byte;
    }
    if (!(computed_s > 0)) return;
    const double factor = 1 + waiting_s / computed_s;
    for (auto& fitted : out_.fit.computations) {
      fitted.law.start_s *= factor;
      fitted.law.s_per_flop *= factor;
      fitted.law.s_per_byte *= factor;
    }
  }

  const plan::PlannedJob& planned_;
  const std::vector<RankHostTrace>& ranks_;
  const logs::CommunicationLog& log_;
  step::StepProgram program_;
  WorkByKind work_;
  /// The chosen steps, each with its rank's index in `ranks_`.
  std::vector<std::pair<std::size_t, const HostThreadStep*>> chosen_;
  std::map<KindAndPhase, HostComputationSeconds> seconds_;
  std::set<KindAndPhase> used_;
  double dispatch_s_ = 0;
  MeasuredStepFit out_;
};

}  // namespace

MeasuredStepFit fit_measured_steps(const plan::PlannedJob& planned,
                                   const std::vector<RankHostTrace>& ranks,
                                   const logs::CommunicationLog& log) {
  return StepFitter(planned, ranks, log).fit();
}

}  // namespace stepwright::fit
