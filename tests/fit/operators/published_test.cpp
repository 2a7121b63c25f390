#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cost/profiles/profile_catalog.h"
#include "stepwright/fit/operators/device_profile.h"
#include "stepwright/fit/operators/fit_target.h"

namespace stepwright::fit {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Json profile(const std::string& name) { return Json::parse(text_of("profiles/" + name + ".json")); }

/// A table of arXiv 2509.22832, and the median over its operators of the errors of the paper's own
/// models, which were judged on randomly left-out rows.
struct Table {
  const char* file;
  const char* device;
  const char* profile;
  double papers_error;
};
constexpr Table kTables[] = {
    {"a100_sxm4_80g.csv", "a100-sxm-80g", "a100_sxm4_80g_perlmutter", 0.048},
    {"gh200_120g.csv", "gh200-96g", "gh200_120g_vista", 0.037},
};

/// Returns the samples of a table for which `use` is true.
template <class Use>
OperatorSampleTable some(const Table& from, Use use) {
  OperatorSampleTable table =
      read_operator_samples(load_csv(std::string("data/operators/") + from.file));
  std::erase_if(table.samples, [&](const OperatorSample& sample) { return !use(sample); });
  return table;
}

/// True for classes whose tables are short enough to be fitted in a test.
bool is_short(const OperatorSample& sample) {
  constexpr cost::OperatorClass kShort[] = {
      cost::OperatorClass::kCausalSoftmax, cost::OperatorClass::kNorm,
      cost::OperatorClass::kUnfusedNorm,   cost::OperatorClass::kActivation,
      cost::OperatorClass::kResidual,      cost::OperatorClass::kEmbedding,
      cost::OperatorClass::kLoss,          cost::OperatorClass::kUnfusedSoftmax};
  return std::ranges::find(kShort, sample.what) != std::end(kShort);
}

/// Returns the fit of a table's short classes, made once.
const DeviceFit& fit_short(const Table& table) {
  static std::map<std::string, DeviceFit> fits;
  const auto found = fits.find(table.file);
  if (found != fits.end()) return found->second;
  const std::vector<OperatorSampleTable> tables = {some(table, is_short)};
  return fits
      .emplace(table.file, fit_device_operators(tables, find_operator_fit_device(table.device)))
      .first->second;
}

TEST(PublishedSamples, AreMetOnHiddenSizesLeftOutBetterThanByThePapersModelsOnRandomRows) {
  for (const Table& table : kTables) {
    std::vector<double> means;
    for (const FittedOperator& fitted : fit_short(table).operators) {
      for (const auto& [name, error] : fitted.by_series) means.push_back(error.mean);
    }
    ASSERT_GE(means.size(), 14) << table.file;
    std::ranges::sort(means);
    EXPECT_LT(means[means.size() / 2], table.papers_error) << table.file;
  }
}

TEST(PublishedSamples, GiveTheEntriesOfTheProfile) {
  for (const Table& table : kTables) {
    const OperatorProfileHeader head{.name = table.profile,
                                     .target = find_operator_fit_device(table.device),
                                     .sources = {table.file}};
    const Json fitted = operator_profile_json(head, fit_short(table));
    const Json stored = profile(table.profile);
    ASSERT_FALSE(fitted["operators"].empty());
    for (const Json& entry : fitted["operators"]) {
      const auto same = std::ranges::find_if(stored["operators"], [&](const Json& other) {
        return other["class"] == entry["class"] && other["pass"] == entry["pass"];
      });
      ASSERT_NE(same, stored["operators"].end()) << entry["class"];
      EXPECT_EQ(entry.dump(1), same->dump(1)) << table.profile;
    }
  }
}

TEST(PublishedSamples, NineOfTenProductsOfSizesLeftOutAreWithinTenPercent) {
  for (const Table& table : kTables) {
    const std::vector<OperatorSampleTable> products = {
        some(table, [](const OperatorSample& sample) { return sample.name == "linear_mlp_up"; })};
    const DeviceFit fit = fit_device_operators(products, find_operator_fit_device(table.device));
    ASSERT_EQ(fit.operators.size(), 2) << table.file;
    for (const FittedOperator& fitted : fit.operators) {
      EXPECT_LE(fitted.by_series.at("linear_mlp_up").p90, 0.10)
          << table.file << ' ' << name_of(cost::kPassNames, fitted.entry.pass);
    }
  }
}

TEST(PublishedSamples, AProfileIsWhatItsSamplesGive) {
  const std::vector<OperatorSampleTable> tables = {
      read_operator_samples(load_csv("data/operators/other_gpus.csv"))};
  const OperatorFitDevice target = find_operator_fit_device("gb200");
  const OperatorProfileHeader head{
      .name = "gb200", .target = target, .sources = {"other_gpus.csv"}};
  Json fitted = operator_profile_json(head, fit_device_operators(tables, target));
  Json stored = profile("gb200");
  fitted.erase("collectives");
  stored.erase("collectives");
  EXPECT_EQ(operator_profile_text(fitted), operator_profile_text(stored));
}

TEST(PublishedSamples, NoRowOfOtherSizesIsFarOffWhatTheProfileSays) {
  // Every row of the A100 table through the public path: a row, our operator, our price.
  const OperatorSampleTable table =
      read_operator_samples(load_csv("data/operators/a100_sxm4_80g.csv"));
  plan::Job job;
  job.cluster.device = cluster::built_in_device("a100-sxm-80g");
  const cost::ComputationCostModel cost(job, cost::operator_profiles_for(job.cluster.device),
                                        cost::DeviceLoad::kIsolated);
  std::size_t far = 0;
  for (const OperatorSample& sample : table.samples) {
    const double ratio =
        predicted_s(cost, sample, cost::OperatorPass::kForward) / sample.forward_s.value();
    if (ratio > 1.5 || ratio < 0.67) ++far;
  }
  EXPECT_LT(far, table.samples.size() / 200);
}

}  // namespace
}  // namespace stepwright::fit
