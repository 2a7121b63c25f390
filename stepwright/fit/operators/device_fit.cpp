#include "stepwright/fit/operators/device_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stepwright/cluster/generation.h"
#include "stepwright/fit/operators/hold_out.h"

namespace stepwright::fit {
namespace {

/// A row is an outlier when it differs from the fit to all other sizes by this factor, and by this
/// many median deviations.
constexpr double kOutlierFactor = 1.8;
constexpr double kOutlierDeviations = 8;
/// The simpler of two candidates is chosen when it is worse by at most this factor and this error.
constexpr double kNearlyAsGood = 1.05;
constexpr double kNegligible = 0.002;

bool is_worse(double error, double other) { return error > kNearlyAsGood * other + kNegligible; }

plan::Job job_of(const OperatorFitDevice& target) {
  plan::Job job;
  job.cluster.device = target.device;
  job.kernels.attention = target.attention;
  return job;
}

/// Fits one class and pass; for attention, the target's kernel.
class ClassFit {
 public:
  ClassFit(cost::OperatorClass what, cost::OperatorPass pass, const OperatorFitDevice& target)
      : what_(what),
        pass_(pass),
        target_(target),
        cost_(job_of(target), {}, cost::DeviceLoad::kIsolated) {
    setting_ = {what,
                pass,
                {cluster::dense_sixteen_bit_peak_flops(target.device),
                 target.device.memory_bandwidth_bytes_per_s}};
  }

  void add(const std::string& file, const OperatorSample& sample);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  FittedOperator fit();
  [[nodiscard]] const std::vector<UnusableOperatorRow>& dropped() const { return dropped_; }

 private:
  void drop(OperatorFitRow& row, const std::string& reason, const std::string& detail);
  void drop_impossible();
  void drop_other_units();
  bool drop_outliers(const HeldOutPredictions& held_out);
  void sweep();
  void choose(const HeldOutPredictions& held_out);
  void refuse_other_units();

  cost::OperatorClass what_;
  cost::OperatorPass pass_;
  OperatorFitDevice target_;
  cost::ComputationCostModel cost_;
  FitSetting setting_;
  std::vector<OperatorFitRow> rows_;
  std::vector<UnusableOperatorRow> dropped_;
  /// True if rows include copies, which a law can subtract and trees cannot.
  bool copies_ = false;
  FittedOperator out_;
};

void ClassFit::add(const std::string& file, const OperatorSample& sample) {
  const std::optional<double>& measured =
      pass_ == cost::OperatorPass::kForward ? sample.forward_s : sample.backward_s;
  if (sample.what != what_ || !measured) return;
  if (what_ == cost::OperatorClass::kAttention && sample.kernel != target_.attention) return;
  OperatorFitRow row{.file = &file, .sample = &sample, .seconds = *measured};
  row.floor_s = cost_.min_operator_pass_seconds(what_, pass_, sample.op);
  row.unfitted_s = cost_.operator_pass_seconds(what_, pass_, sample.op);
  row.work = cost::operator_pass_work_for_law(what_, pass_, sample.op, target_.multiprocessors);
  if (pass_ == cost::OperatorPass::kForward && sample.copied_bytes > 0) {
    row.work.kernels[1] = {.bytes = sample.copied_bytes};
    row.work.count = 2;
    row.work.starts = 2;
    copies_ = true;
  }
  row.inputs = cost::features(what_, pass_, sample.op, target_.multiprocessors);
  rows_.push_back(row);
}

void ClassFit::drop(OperatorFitRow& row, const std::string& reason, const std::string& detail) {
  row.kept = false;
  ++out_.dropped[reason];
  dropped_.push_back(
      {*row.file, row.sample->line, reason,
       fmt::format("{} {}: {}", row.sample->name, name_of(cost::kPassNames, pass_), detail)});
}

void ClassFit::sweep() {
  std::erase_if(rows_, [](const OperatorFitRow& row) { return !row.kept; });
}

void ClassFit::drop_impossible() {
  // number of impossible rows, and of all rows
  std::map<std::string, std::pair<std::size_t, std::size_t>> series;
  for (const OperatorFitRow& row : rows_) {
    auto& [impossible, all] = series[row.sample->name];
    ++all;
    if (row.seconds < kImpossibleOperatorTimeShare * row.floor_s) ++impossible;
  }
  for (OperatorFitRow& row : rows_) {
    const auto [impossible, all] = series[row.sample->name];
    if (row.seconds < kImpossibleOperatorTimeShare * row.floor_s) {
      drop(row, "above peak",
           fmt::format("{:.6g} us where the peaks allow {:.6g}", 1e6 * row.seconds,
                       1e6 * row.floor_s));
    } else if (2 * impossible > all) {
      drop(row, "series above peak",
           fmt::format("{} of {} rows of the series are impossible", impossible, all));
    }
  }
  sweep();
}

void ClassFit::drop_other_units() {
  const cost::OperatorTimeLawConstants law =
      fit_operator_law(what_, law_rows(rows_), setting_.peaks);
  for (OperatorFitRow& row : rows_) {
    const double factor = row.seconds / seconds_by_fitted_law(law, row, setting_);
    if (factor < kSuspectedUnitErrorFactor && factor > 1 / kSuspectedUnitErrorFactor) continue;
    drop(row, "other units", fmt::format("{:.3g} times the value of other rows", factor));
  }
  sweep();
}

bool ClassFit::drop_outliers(const HeldOutPredictions& held_out) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    logs.push_back(std::abs(std::log(rows_[i].seconds / held_out.law_times_trees[i])));
  }
  std::vector<double> sorted = logs;
  std::ranges::nth_element(sorted, sorted.begin() + std::ssize(sorted) / 2);
  const double limit =
      std::max(std::log(kOutlierFactor), kOutlierDeviations * sorted[sorted.size() / 2]);
  bool any = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (logs[i] <= limit) continue;
    any = true;
    drop(rows_[i], "outlier",
         fmt::format("{:.3g} times the value of other sizes",
                     rows_[i].seconds / held_out.law_times_trees[i]));
  }
  sweep();
  return any;
}

void ClassFit::choose(const HeldOutPredictions& held_out) {
  out_.errors = {.law = prediction_error_summary(rows_, held_out.law),
                 .trees = prediction_error_summary(rows_, held_out.trees),
                 .law_times_trees = prediction_error_summary(rows_, held_out.law_times_trees),
                 .unfitted = unfitted_error(rows_)};
  const FitCandidateErrors& errors = out_.errors;
  const std::vector<double>* chosen = &held_out.law;
  double best = errors.law.mean;
  out_.entry.kind = cost::FitModelKind::kLaw;
  if (is_worse(best, errors.law_times_trees.mean)) {
    best = errors.law_times_trees.mean;
    chosen = &held_out.law_times_trees;
    out_.entry.kind = cost::FitModelKind::kLawTimesTrees;
  }
  if (!copies_ && is_worse(best, errors.trees.mean)) {
    best = errors.trees.mean;
    chosen = &held_out.trees;
    out_.entry.kind = cost::FitModelKind::kTrees;
  }
  out_.by_series = errors_by_series(rows_, *chosen);
  if (best > errors.unfitted.mean) {
    out_.refused = fmt::format("held-out error {:.1f}% is worse than the default's {:.1f}%",
                               100 * best, 100 * errors.unfitted.mean);
  }
}

/// Refuses a law that no profile may have, since its rows are in other units.
void ClassFit::refuse_other_units() {
  for (const cost::LawConstant& constant : cost::kOperatorLawConstants) {
    if (!cost::uses(what_, constant) || !cost::is_peak_share(constant)) continue;
    const double share = out_.entry.law.*constant.value;
    if (share >= cost::kMinDevicePeakShare) continue;
    out_.refused = fmt::format("{} {:.3g} is below {:g}: the times are probably in another unit",
                               constant.name, share, cost::kMinDevicePeakShare);
  }
}

FittedOperator ClassFit::fit() {
  out_.entry.what = what_;
  out_.entry.pass = pass_;
  if (what_ == cost::OperatorClass::kAttention) out_.entry.kernel = target_.attention;
  drop_impossible();
  if (rows_.size() >= kFewestFitRows) drop_other_units();
  if (rows_.size() < kFewestFitRows) {
    out_.refused =
        fmt::format("{} usable rows; a fit needs at least {}", rows_.size(), kFewestFitRows);
    return std::move(out_);
  }
  HeldOutPredictions held_out = predict_rows_by_cross_validation(rows_, setting_);
  if (drop_outliers(held_out)) held_out = predict_rows_by_cross_validation(rows_, setting_);
  choose(held_out);
  out_.rows = rows_.size();
  for (const auto& [name, error] : out_.by_series) out_.series.push_back(name);
  cost::OperatorClassFit& entry = out_.entry;
  entry.law = fit_operator_law(what_, law_rows(rows_), setting_.peaks);
  refuse_other_units();
  if (entry.kind != cost::FitModelKind::kLaw) fit_operator_boosted_trees(entry, rows_, setting_);
  entry.range = fitted_quantity_ranges(rows_, what_);
  return std::move(out_);
}

/// Returns the backward of an attention whose backward rows cannot be used: the forward law, at the
/// documented ratio of rates.
FittedOperator derived_backward(const FittedOperator& forward, const FittedOperator* measured) {
  FittedOperator out;
  if (measured != nullptr) out.dropped = measured->dropped;
  out.entry = forward.entry;
  out.entry.pass = cost::OperatorPass::kBackward;
  out.entry.kind = cost::FitModelKind::kLaw;
  out.entry.trees = {};
  cost::OperatorTimeLawConstants& law = out.entry.law;
  law.arithmetic_share = std::max(
      cost::kMinDevicePeakShare,
      round_to_profile_digits(law.arithmetic_share * cost::constants::kAttentionBackward.value));
  law.start_us =
      round_to_profile_digits(law.start_us * cost::constants::kAttentionBackwardStarts.value);
  law.ramp = round_to_profile_digits(law.ramp + cost::constants::kAttentionBackwardKeys.value);
  law.masked_keys =
      round_to_profile_digits(law.masked_keys * cost::constants::kAttentionBackwardMasked.value);
  out.derived = fmt::format(
      "no usable rows: the forward law at {} of its rate with 2.5 times the FLOPs, {} times its "
      "start, {} more keys per query and {} times those of cut tiles",
      cost::constants::kAttentionBackward.value, cost::constants::kAttentionBackwardStarts.value,
      cost::constants::kAttentionBackwardKeys.value,
      cost::constants::kAttentionBackwardMasked.value);
  return out;
}

/// Derives the law of one attention kernel's backward from its forward.
void derive_attention_backward(std::vector<FittedOperator>& operators,
                               cluster::AttentionKernel kernel) {
  FittedOperator *forward = nullptr, *backward = nullptr;
  for (FittedOperator& fitted : operators) {
    const cost::OperatorClassFit& entry = fitted.entry;
    if (entry.what != cost::OperatorClass::kAttention || entry.kernel != kernel) continue;
    (entry.pass == cost::OperatorPass::kForward ? forward : backward) = &fitted;
  }
  if (forward == nullptr || !forward->refused.empty()) return;
  if (backward == nullptr) {
    operators.push_back(derived_backward(*forward, nullptr));
  } else if (!backward->refused.empty()) {
    *backward = derived_backward(*forward, backward);
  }
}

bool is_of(const OperatorSample& sample, const OperatorFitDevice& target) {
  return sample.device.empty() || sample.device == target.device.name;
}

/// Returns the attention kernels that were sampled on a device; the target's own where none was.
std::set<cluster::AttentionKernel> sampled_kernels(std::span<const OperatorSampleTable> tables,
                                                   const OperatorFitDevice& target) {
  std::set<cluster::AttentionKernel> kernels;
  for (const OperatorSampleTable& table : tables) {
    for (const OperatorSample& sample : table.samples) {
      const bool attention = sample.what == cost::OperatorClass::kAttention;
      if (attention && is_of(sample, target)) kernels.insert(sample.kernel);
    }
  }
  if (kernels.empty()) kernels.insert(target.attention);
  return kernels;
}

void fit_class(std::span<const OperatorSampleTable> tables, const OperatorFitDevice& target,
               ClassFit fit, DeviceFit& out) {
  for (const OperatorSampleTable& table : tables) {
    for (const OperatorSample& sample : table.samples) {
      if (is_of(sample, target)) fit.add(table.file, sample);
    }
  }
  if (fit.empty()) return;
  out.operators.push_back(fit.fit());
  out.dropped.insert(out.dropped.end(), fit.dropped().begin(), fit.dropped().end());
}

}  // namespace

DeviceFit fit_device_operators(std::span<const OperatorSampleTable> tables,
                               const OperatorFitDevice& device) {
  DeviceFit out;
  for (const OperatorSampleTable& table : tables) {
    out.dropped.insert(out.dropped.end(), table.bad.begin(), table.bad.end());
  }
  const std::set<cluster::AttentionKernel> kernels = sampled_kernels(tables, device);
  for (const Named<cost::OperatorClass>& what : cost::kOperatorClassNames) {
    for (const cluster::AttentionKernel kernel : kernels) {
      OperatorFitDevice target = device;
      target.attention = kernel;
      for (const Named<cost::OperatorPass>& pass : cost::kPassNames) {
        fit_class(tables, target, ClassFit(what.value, pass.value, target), out);
      }
      if (what.value != cost::OperatorClass::kAttention) break;
    }
  }
  for (const cluster::AttentionKernel kernel : kernels)
    derive_attention_backward(out.operators, kernel);
  std::ranges::stable_sort(out.dropped, {}, [](const UnusableOperatorRow& row) {
    return std::pair(row.file, row.line);
  });
  return out;
}

}  // namespace stepwright::fit
