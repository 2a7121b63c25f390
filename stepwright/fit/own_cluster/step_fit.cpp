#include "stepwright/fit/own_cluster/step_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "stepwright/core/error.h"
#include "stepwright/core/format.h"
#include "stepwright/cost/cost_model.h"
#include "stepwright/fit/middle.h"
#include "stepwright/fit/own_cluster/computation_law_fit.h"
#include "stepwright/fit/own_cluster/message_law_fit.h"
#include "stepwright/fit/own_cluster/planned_work.h"
#include "stepwright/step/work.h"

namespace stepwright {
namespace {

using KindAndPhase = std::pair<OperatorKind, Phase>;

/// How far the products of a trace may be from those of the plan.
constexpr double kOtherModel = 0.05;
/// A computation beside messages is compared with the same alone where both ran so often.
constexpr std::size_t kFewest = 3;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class StepFitter {
 public:
  StepFitter(const PlannedJob& planned, const std::vector<HostTrace>& ranks, const Log& log)
      : planned_(planned), ranks_(ranks), log_(log), grid_(planned.plan) {
    program_ = build_program(planned.job, planned.plan);
    if (program_.stages.size() > 1) {
      fail_unsupported("fit --plan: traces of pipelines are not covered; nearest: pipeline 1");
    }
    for (const LogSource& source : log.sources) {
      if (source.world == 0 || source.world == program_.ranks) continue;
      fail_input(fmt::format("{}: is of a job of {} ranks, the plan of {}", source.file,
                             source.world, program_.ranks));
    }
    work_ = planned_work(program_, program_.stages.front());
  }

  StepFit fit() {
    read_steps();
    fit_products();
    for (const auto& [key, work] : work_) fit_kind(key, work);
    spread_the_rest();
    fit_messages();
    return std::move(out_);
  }

 private:
  /// The steps that are neither among the shortest nor the longest quarter: the same ones for every
  /// kind and for messages, so that all sum up to a step.
  void choose_steps() {
    std::vector<std::pair<double, std::pair<std::size_t, const HostStep*>>> steps;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (const HostStep& step : ranks_[rank].steps) {
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
      for (const auto& [key, seconds] : step->kinds) {
        seconds_[key].busy += share * seconds.busy;
        seconds_[key].host += share * seconds.host;
      }
    }
  }

  /// Whether a call was made in one of those steps.
  [[nodiscard]] bool is_chosen(const LogRecord& record) const {
    return std::ranges::any_of(chosen_, [&](const auto& chosen) {
      const auto& [rank, step] = chosen;
      return static_cast<std::size_t>(record.source) == rank &&
             record.enqueued_s >= step->start_s &&
             record.enqueued_s < step->start_s + step->seconds;
    });
  }

  [[nodiscard]] static Operator operator_of(const HostProduct& product, DType dtype) {
    return {.kind = OperatorKind::kLinear,
            .phase = product.phase,
            .dtype = dtype,
            .shape = product.shape};
  }

  /// Products run in many shapes, each of them often: a sample for each run, of the middle time of
  /// its shape.
  void fit_products() {
    std::map<std::pair<Phase, Shape>, std::pair<std::vector<double>, std::vector<double>>> times;
    std::size_t steps = 0;
    for (const HostTrace& rank : ranks_) {
      steps += rank.steps.size();
      for (const HostProduct& product : rank.products) {
        auto& [alone, beside] = times[{product.phase, product.shape}];
        (product.beside ? beside : alone).push_back(product.seconds);
      }
    }
    const DType dtype = work_.at({OperatorKind::kLinear, Phase::kForward}).dtype;
    std::map<Phase, std::vector<ComputationSample>> samples;
    std::map<Phase, double> sum_flops;
    std::vector<double> factors;
    for (const auto& [key, lists] : times) {
      const auto& [alone, beside] = lists;
      const auto& [phase, shape] = key;
      const Operator op = operator_of({.phase = phase, .shape = shape}, dtype);
      const ComputationSample sample{.kind = op.kind,
                                     .phase = phase,
                                     .dtype = dtype,
                                     .flops = flops(op),
                                     .bytes = memory_bytes(op),
                                     .seconds = middle_of(alone.empty() ? beside : alone)};
      const std::size_t runs = alone.size() + beside.size();
      sum_flops[phase] += static_cast<double>(runs) * sample.flops / static_cast<double>(steps);
      samples[phase].insert(samples[phase].end(), (runs + steps - 1) / steps, sample);
      if (std::min(alone.size(), beside.size()) >= kFewest) {
        factors.push_back(middle_of(beside) / middle_of(alone));
      }
    }
    check_model(sum_flops);
    for (const auto& [phase, rows] : samples) {
      const auto planned = work_.find({OperatorKind::kLinear, phase});
      if (planned == work_.end()) continue;
      ComputationLaw law = fit_computation_law(rows);
      scale_to_step(law, rows, seconds_[{OperatorKind::kLinear, phase}].busy);
      // What a framework runs in several products is one of the plan's.
      law.start_s *= static_cast<double>(rows.size()) / planned->second.operators;
      const KindAndPhase key{OperatorKind::kLinear, phase};
      law.start_s += seconds_[key].host / planned->second.operators;
      out_.fit.computations.push_back({.law = law, .rows = rows.size()});
      used_.insert(key);
    }
    if (!factors.empty()) out_.fit.overlap.beside_inside = std::max(1.0, middle_of(factors));
  }

  /// Makes a law sum up to what its kind takes in a step: single runs that were disturbed are in no
  /// median, and yet in every step.
  static void scale_to_step(ComputationLaw& law, const std::vector<ComputationSample>& rows,
                            double busy_s) {
    double sum_s = 0;
    for (const ComputationSample& row : rows) sum_s += predicted_s(law, row);
    if (!(sum_s > 0 && busy_s > 0)) return;
    for (double* part : {&law.start_s, &law.s_per_flop, &law.s_per_byte}) *part *= busy_s / sum_s;
  }

  void check_model(const std::map<Phase, double>& traced) const {
    double planned = 0;
    double found = 0;
    for (const auto& [key, work] : work_) {
      if (key.first == OperatorKind::kLinear) planned += work.flops;
    }
    for (const auto& [phase, sum] : traced) found += sum;
    if (std::fabs(found - planned) <= kOtherModel * planned) return;
    fail_input(fmt::format(
        "the traces are of another model or batch than the plan: their products make {:.4g} FLOPs "
        "in a step of a rank, those of the plan {:.4g}",
        found, planned));
  }

  /// A kind that runs in few shapes: its time in a step over what the plan computes of it.
  void fit_kind(const KindAndPhase& key, const PlannedWork& work) {
    if (key.first == OperatorKind::kLinear) return;
    // A trace does not tell the gradient of an input from that of a weight in one kernel.
    double share = 1;
    KindAndPhase logged = key;
    if (!seconds_.contains(key) && is_backward(key.second)) {
      logged.second = Phase::kDataGradient;
      const auto both = work_.find(logged);
      if (both != work_.end()) share = work.bytes / (work.bytes + both->second.bytes);
    }
    const auto seconds = seconds_.find(logged);
    if (seconds == seconds_.end()) return;
    const HostSeconds found{.busy = share * seconds->second.busy,
                            .host = share * seconds->second.host};
    const bool products = work.flops > 0 && key.first == OperatorKind::kAttention;
    ComputationLaw law{.kind = key.first,
                       .phase = key.second,
                       .dtype = work.dtype,
                       .start_s = found.host / work.operators};
    (products ? law.s_per_flop : law.s_per_byte) =
        found.busy / (products ? work.flops : work.bytes);
    out_.fit.computations.push_back({.law = law, .rows = 1});
    used_.insert(logged);
  }

  /// Time of no kind that the plan has is the host's, and goes to the start of all operators.
  void spread_the_rest() {
    double rest = out_.unknown_s;
    for (const auto& [key, seconds] : seconds_) {
      if (used_.contains(key)) continue;
      rest += seconds.host + seconds.busy;
      out_.notes.push_back(fmt::format(
          "{} of a step is {} {}, which the plan has not: counted as time between operators",
          format_time(seconds.host + seconds.busy), name_of(kOperatorNames, key.first),
          name_of(kPhaseNames, key.second)));
    }
    double operators = 0;
    for (const auto& fitted : out_.fit.computations) {
      operators += work_.at({fitted.law.kind, fitted.law.phase}).operators;
    }
    for (auto& fitted : out_.fit.computations) {
      fitted.law.start_s += rest / std::max(1.0, operators);
    }
  }

  /// The group of the plan that a call is made in: the first of its size.
  [[nodiscard]] std::optional<SocketGroup> group_of(const LogRecord& record) const {
    const std::int64_t size = log_.group_size(record);
    for (const auto& [kind, name] : kGroupNames) {
      const std::int64_t ours = program_.group_sizes[static_cast<std::size_t>(kind)];
      if (ours < 2 || (size > 0 && size != ours)) continue;
      const Cluster& cluster = planned_.job.cluster;
      return socket_group(group_layout(cluster, grid_.shape(kind)), levels_in_node(cluster),
                          std::min(cluster.devices_per_node, cluster.devices()));
    }
    return std::nullopt;
  }

  static std::optional<Collective> collective_of(LogOperation operation) {
    switch (operation) {
      case LogOperation::kAllReduce: return Collective::kAllReduce;
      case LogOperation::kAllGather: return Collective::kAllGather;
      case LogOperation::kReduceScatter: return Collective::kReduceScatter;
      case LogOperation::kAllToAll: return Collective::kAllToAll;
      case LogOperation::kSend: return Collective::kPointToPoint;
      default: return std::nullopt;
    }
  }

  /// One law for all operations, which the same sockets carry. A message costs a step what its
  /// ranks spend in it on average, with what they wait for the last one: by so much the slowest
  /// rank is behind the average one, whose computations the other laws have.
  void fit_messages() {
    std::map<std::pair<Collective, std::int64_t>, std::pair<SocketGroup, std::vector<double>>>
        calls;
    for (const LogRecord& record : log_.records) {
      const auto collective = collective_of(record.operation);
      if (!collective || !(record.duration_s > 0) || record.payload_bytes <= 0) continue;
      if (!is_chosen(record)) continue;
      const auto group = group_of(record);
      if (!group) continue;
      auto& [where, seconds] = calls[{*collective, record.payload_bytes}];
      where = *group;
      seconds.push_back(record.duration_s);
    }
    std::vector<MessageSample> samples;
    std::map<Collective, std::size_t> rows;
    for (const auto& [key, call] : calls) {
      const auto& [collective, payload] = key;
      samples.push_back({.operation = collective,
                         .group = call.first,
                         .payload_bytes = static_cast<double>(payload),
                         .seconds = mean_of(call.second)});
      ++rows[collective];
    }
    if (samples.empty()) return;
    for (auto& [collective, law] : fit_gloo_operations(samples)) {
      out_.fit.messages[collective] = {.law = std::move(law), .rows = rows[collective]};
    }
  }

  const PlannedJob& planned_;
  const std::vector<HostTrace>& ranks_;
  const Log& log_;
  Grid grid_;
  StepProgram program_;
  WorkByKind work_;
  std::vector<std::pair<std::size_t, const HostStep*>> chosen_;  ///< With their place in `ranks_`.
  std::map<KindAndPhase, HostSeconds> seconds_;
  std::set<KindAndPhase> used_;
  StepFit out_;
};

}  // namespace

StepFit fit_steps(const PlannedJob& planned, const std::vector<HostTrace>& ranks, const Log& log) {
  return StepFitter(planned, ranks, log).fit();
}

}  // namespace stepwright
