#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stepwright/cluster/catalog.h"
#include "stepwright/cost/profile_catalog.h"
#include "stepwright/fit/operators/device_profile.h"
#include "stepwright/fit/operators/fit_target.h"

namespace stepwright {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Json profile(const std::string& name) { return Json::parse(text_of("profiles/" + name + ".json")); }

/// The mean error of each operator and direction on hidden sizes left out.
std::vector<double> series_errors(const Json& profile) {
  std::vector<double> means;
  for (const Json& entry : profile["operators"]) {
    if (!entry.contains("series")) continue;
    for (const auto& [name, error] : entry["series"].items()) means.push_back(error["mean"]);
  }
  std::ranges::sort(means);
  return means;
}

TEST(PublishedSamples, AreMetOnHiddenSizesLeftOut) {
  const std::vector<double> a100 = series_errors(profile("a100_sxm4_80g_perlmutter"));
  const std::vector<double> gh200 = series_errors(profile("gh200_120g_vista"));
  ASSERT_EQ(a100.size(), 40);
  ASSERT_EQ(gh200.size(), 38);
  EXPECT_LE(a100[a100.size() / 2], 0.040);
  EXPECT_LE(gh200[gh200.size() / 2], 0.035);
}

TEST(PublishedSamples, NineOfTenProductsAreWithinTenPercent) {
  for (const std::string name : {"a100_sxm4_80g_perlmutter", "gh200_120g_vista"}) {
    const Json read = profile(name);
    for (const Json& entry : read["operators"]) {
      if (entry["class"] != "product") continue;
      EXPECT_LE(entry["held_out"][entry["chosen"].get<std::string>()]["p90"].get<double>(), 0.10)
          << name << ' ' << entry["pass"];
    }
  }
}

TEST(PublishedSamples, AProfileIsWhatItsSamplesGive) {
  const std::vector<OperatorTable> tables = {
      read_operator_samples(load_csv("data/operators/other_gpus.csv"))};
  const FitTarget target = fit_target("gb200");
  const ProfileHead head{.name = "gb200", .target = target, .sources = {"other_gpus.csv"}};
  Json fitted = profile_json(head, fit_device(tables, target));
  Json stored = profile("gb200");
  fitted.erase("collectives");
  stored.erase("collectives");
  EXPECT_EQ(profile_text(fitted), profile_text(stored));
}

TEST(PublishedSamples, NoRowOfOtherSizesIsFarOffWhatTheProfileSays) {
  // Every row of the A100 table through the public path: a row, our operator, our price.
  const OperatorTable table = read_operator_samples(load_csv("data/operators/a100_sxm4_80g.csv"));
  Job job;
  job.cluster.device = built_in_device("a100-sxm-80g");
  const ComputeCost cost(job, operator_profiles_for(job.cluster.device), Load::kIsolated);
  std::size_t far = 0;
  for (const OperatorSample& sample : table.samples) {
    const double ratio = predicted_s(cost, sample, Pass::kForward) / sample.forward_s.value();
    if (ratio > 1.5 || ratio < 0.67) ++far;
  }
  EXPECT_LT(far, table.samples.size() / 200);
}

}  // namespace
}  // namespace stepwright
