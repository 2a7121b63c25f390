#include "stepwright/cost/profiles/operator_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cluster/generation.h"
#include "stepwright/cluster/profile_files.h"
#include "stepwright/core/name.h"

namespace stepwright::cost {
namespace {

constexpr double kHighest = 1e30;

OperatorTimeLawConstants read_law(DocumentNode node, OperatorClass what) {
  OperatorTimeLawConstants law;
  std::vector<std::string_view> known;
  for (const LawConstant& constant : kOperatorLawConstants) {
    if (!uses(what, constant)) continue;
    known.push_back(constant.name);
    const double least = is_peak_share(constant) ? kMinDevicePeakShare : 0;
    law.*constant.value = node.get(constant.name).number(least, kHighest);
  }
  node.allow_only_keys(known);
  return law;
}

BoostedTrees read_trees(DocumentNode node, std::size_t feature_count) {
  node.allow_only_keys({"range", "base", "trees"});
  const std::vector<std::string> texts = node.get("trees").as_text_list();
  return {static_cast<float>(node.get("base").number()), texts, feature_count,
          node.file_position_text()};
}

const cluster::DeviceGeneration& generation_of_profile(const OperatorProfile& profile) {
  const EmbeddedFile* file = find_embedded_file(cluster::embedded_devices(), profile.device);
  return file != nullptr ? cluster::device_generation_of(cluster::built_in_device(profile.device))
                         : cluster::generation_of_peak(profile.peaks.flops);
}

/// Returns the start of a pass on the device in microseconds. A sampled backward of a product also
/// waits for the host (tables of arXiv 2509.22832: 36 and 41 us, forward 7 and 6): when issued
/// ahead, its two kernels start as fast as two kernels of a forward.
double start_us(const OperatorProfile& profile, const OperatorClassFit& entry,
                const FittedTimeConditions& use) {
  const double sampled = entry.law.start_us;
  if (!use.issued_ahead) return sampled;
  if (entry.what != OperatorClass::kProduct || entry.pass != OperatorPass::kBackward)
    return sampled;
  const Later<OperatorClassFit>* forward = profile.find(entry.what, OperatorPass::kForward);
  return forward == nullptr ? sampled : std::min(sampled, 2 * forward->get().law.start_us);
}

}  // namespace

const Later<OperatorClassFit>* OperatorProfile::find(OperatorClass what, OperatorPass pass,
                                                     cluster::AttentionKernel kernel) const {
  const auto& fits = entries[static_cast<std::size_t>(what)][static_cast<std::size_t>(pass)];
  if (fits.empty()) return nullptr;
  if (fits.size() == 1) return fits.front().entry.get();
  const auto share = [&](cluster::AttentionKernel of) {
    return generation->attention_peak_share[static_cast<std::size_t>(of)];
  };
  const auto apart = [&](const FittedKernel& fit) {
    return std::abs(std::log(share(fit.kernel) / share(kernel)));
  };
  return std::ranges::min_element(fits, {}, apart)->entry.get();
}

bool OperatorProfile::add(OperatorClass what, OperatorPass pass, FittedKernel fitted) {
  auto& fits = entries[static_cast<std::size_t>(what)][static_cast<std::size_t>(pass)];
  if (std::ranges::find(fits, fitted.kernel, &FittedKernel::kernel) != fits.end()) return false;
  fits.push_back(std::move(fitted));
  return true;
}

OperatorClassFit read_operator_entry(DocumentNode node) {
  OperatorClassFit entry;
  entry.what = node.get("class").choice(kOperatorClassNames);
  entry.pass = node.get("pass").choice(kPassNames);
  entry.kind = node.get("chosen").choice(kFitKindNames);
  entry.law = read_law(node.get("law"), entry.what);
  if (const auto trees = node.find("trees")) {
    entry.trees = read_trees(*trees, boosted_tree_feature_names(entry.what, entry.pass).size());
    const DocumentNode ends = trees->get("range");
    entry.lowest_log = ends.at(0).number();
    entry.highest_log = ends.at(1).number(entry.lowest_log, kHighest);
  } else if (entry.kind != FitModelKind::kLaw) {
    node.fail("has no `trees`, which were chosen");
  }
  entry.range = read_fitted_ranges(node.get("range"));
  if (const auto kernel = node.find("kernel"))
    entry.kernel = kernel->choice(cluster::kAttentionKernelNames);
  return entry;
}

OperatorProfile read_operator_profile(const YamlJsonDocument& document) {
  const DocumentNode root = document.root();
  const DocumentNode version = root.get("stepwright");
  if (version.text() != "profile/1") version.fail("is not a profile; allowed: profile/1");
  OperatorProfile profile;
  profile.name = read_name(root.get("name"));
  const DocumentNode device = root.get("device");
  profile.device = read_name(device.get("name"));
  profile.peaks.flops = device.get("peak_flops").number(1, kHighest);
  profile.peaks.bandwidth_bytes_per_s =
      device.get("memory_bandwidth_bytes_per_s").number(1, kHighest);
  profile.generation = &generation_of_profile(profile);
  profile.multiprocessors = static_cast<int>(device.get("multiprocessors").integer(1, 100000));
  const auto operators = root.find("operators");
  for (std::size_t i = 0; operators && i < operators->size(); ++i) {
    const DocumentNode node = operators->at(i);
    OperatorClassFit entry = read_operator_entry(node);
    const auto [what, pass, kernel] = std::tuple(entry.what, entry.pass, entry.kernel);
    auto later = std::make_unique<const Later<OperatorClassFit>>(std::move(entry));
    if (!profile.add(what, pass, {kernel, std::move(later)})) {
      node.fail("is a class, pass and kernel that came before");
    }
  }
  return profile;
}

std::array<double, 2> fitted_kernel_seconds(const OperatorProfile& profile,
                                            const OperatorClassFit& entry, const step::Operator& op,
                                            const FittedTimeConditions& use) {
  const OperatorPassWork work =
      operator_pass_work_for_law(entry.what, entry.pass, op, profile.multiprocessors);
  OperatorTimeLawConstants law = entry.law;
  law.start_us = start_us(profile, entry, use);
  std::array<double, 2> seconds = fitted_law_seconds(law, work, use.peaks, use.arithmetic_speedup);
  if (entry.kind == FitModelKind::kLaw || !use.trees) return seconds;
  const Features inputs = features(entry.what, entry.pass, op, profile.multiprocessors);
  const double log = entry.trees.predict_from_features(inputs.all());
  double factor = std::exp(std::clamp(log, entry.lowest_log, entry.highest_log));
  if (entry.kind == FitModelKind::kTrees) {
    const std::array<double, 2> there = fitted_law_seconds(entry.law, work, profile.peaks);
    factor /= there[0] + there[1];
  }
  for (double& kernel_s : seconds) kernel_s *= factor;
  return seconds;
}

double min_seconds_by_fitted_model(const OperatorClassFit& entry, double flops,
                                   const FittedTimeConditions& use) {
  if (entry.kind == FitModelKind::kTrees) return 0;
  const bool corrected = entry.kind == FitModelKind::kLawTimesTrees && use.trees;
  return (corrected ? std::exp(entry.lowest_log) : 1) * flops /
         (entry.law.arithmetic_share * use.peaks.flops * use.arithmetic_speedup);
}

std::string outside_fitted_range_text(const OperatorClassFit& entry, const step::Operator& op) {
  return outside_fitted_range_text(entry.range, quantities(entry.what, op).all());
}

}  // namespace stepwright::cost
