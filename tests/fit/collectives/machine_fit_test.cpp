#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "stepwright/fit/collectives/machine_profile.h"

namespace stepwright::fit {
namespace {

constexpr const char* kVista = "data/collectives/gh200_120g_vista.csv";

const FittedMachineList& fitted_vista() {
  static const FittedMachineList kFitted =
      fit_collectives_of_machines({read_collective_samples(load_csv(kVista), "gh200_120g_vista")});
  return kFitted;
}

TEST(MachineCollectiveFit, MeetsItsBarsOnRowsAndLayoutsLeftOut) {
  const FittedMachineList& fitted = fitted_vista();
  ASSERT_EQ(fitted.machines.size(), 1U);
  const MachineStudy& study = fitted.machines[0].libraries.at(0).study;
  EXPECT_LT(study.rows_left_out.all.median, 0.05);
  EXPECT_LT(study.rows_left_out.all.mean, 0.10);
  EXPECT_LT(study.layouts_left_out.all.median, 0.10);
  EXPECT_LT(study.layouts_left_out.all.mean, 0.20);
  EXPECT_EQ(study.layouts.size(), 3U);
  EXPECT_EQ(fitted.machines[0].libraries[0].refused, "");
}

TEST(MachineCollectiveFit, TheBrokenGathersOfVistaAreDropped) {
  const FittedMachineList& fitted = fitted_vista();
  std::size_t faster = 0;
  for (const DroppedSampleRow& row : fitted.dropped.at(0).second) {
    faster += row.reason.starts_with("faster than the line rate") ? 1 : 0;
  }
  EXPECT_GT(faster, 300U);
}

TEST(MachineCollectiveFit, ALayoutWhoseRowsContradictEachOtherIsDropped) {
  std::string rows = "op,nodes,gpus_per_node,elements_fp16,time_us\n";
  for (int i = 0; i < 60; ++i) {
    const int elements = 200000000 + i * 1000000;
    // Every other row runs at a third of the rate.
    rows += "all_reduce,2,1," + std::to_string(elements) + "," +
            std::to_string(elements * (i % 2 == 0 ? 0.00006 : 0.00018)) + "\n";
  }
  const auto samples = read_collective_samples(parse_csv(rows, "rows.csv"), "gh200_120g_vista");
  std::vector<DroppedSampleRow> dropped;
  EXPECT_TRUE(collective_samples_by_machine(samples.samples, dropped).empty());
  EXPECT_EQ(dropped.size(), 60U);
}

/// Returns all-reduces of two nodes of Vista with times by the documented constants; in each fifth
/// of the rows except the first, `off` times as long.
CollectiveSampleTable invented(double off) {
  SampledClusterCache clusters;
  CollectiveSampleTable table{.file = "rows.csv", .samples = {}, .dropped = {}};
  CollectiveSample sample{.machine = find_sampled_machine("gh200_120g_vista"),
                          .library = std::string(cost::kDefaultCollectiveLibrary),
                          .operation = collective::CollectiveOperation::kAllReduce,
                          .nodes = 2};
  const cluster::Cluster& cluster = clusters.of(sample);
  const cost::MachineCollectiveConstants defaults = cost::collective_constants_without_fit(cluster);
  for (int i = 0; i < 60; ++i) {
    sample.payload_bytes = 1e6 * (i + 1);
    sample.id = "row" + std::to_string(i);
    sample.routes = cost::ClusterLineRates(cluster).message_times_by_route(
        {sample.operation, sample.payload_bytes, rank_placement_of_sample(sample, cluster),
         collective::CollectiveAlgorithm::kLibrary});
    sample.seconds =
        cost::message_seconds_by_algorithm(sample.routes, defaults.of(sample.operation)) *
        (cross_validation_fold_of_sample(sample) == 0 ? 1 : off);
    table.samples.push_back(sample);
  }
  return table;
}

TEST(MachineCollectiveFit, AFitThatIsWorseThanTheDefaultsIsRefused) {
  // A slow fifth pulls the others away from the documented constants, which are right for them.
  CollectiveSampleTable table = invented(1);
  for (CollectiveSample& sample : table.samples) {
    if (cross_validation_fold_of_sample(sample) < 2)
      sample.seconds *= cross_validation_fold_of_sample(sample) == 0 ? 1.6 : 1 / 1.6;
  }
  const FittedMachineList fitted = fit_collectives_of_machines({table});
  const CrossValidationErrors& errors = fitted.machines.at(0).libraries.at(0).study.rows_left_out;
  ASSERT_GT(errors.all.mean, errors.unfitted.mean);
  EXPECT_FALSE(fitted.machines[0].uses_fit_of_any_library());
  EXPECT_NE(fitted.machines[0].libraries[0].refused, "");
  // Where four fifths agree on another rate, the fit is better.
  EXPECT_TRUE(
      fit_collectives_of_machines({invented(1.6)}).machines.at(0).uses_fit_of_any_library());
}

TEST(MachineCollectiveFit, TheProfilesOfTheRepositoryFollowFromItsData) {
  const std::vector<std::string> files = {"gh200_120g_vista.csv", "a100_sxm4_80g_perlmutter.csv",
                                          "other_clusters.csv"};
  std::vector<CollectiveSampleTable> tables;
  for (const std::string& file : files) {
    if (file.starts_with("a100")) continue;  // three times the rows of all others
    const std::string stem = std::filesystem::path(file).stem().string();
    tables.push_back(read_collective_samples(load_csv("data/collectives/" + file),
                                             find_sampled_machine(stem) == nullptr ? "" : stem));
  }
  std::size_t profiles = 0;
  for (const FittedMachineCollectives& machine : fit_collectives_of_machines(tables).machines) {
    if (!machine.uses_fit_of_any_library()) continue;
    ++profiles;
    std::ifstream file("profiles/collectives/" + std::string(machine.machine->name) + ".json");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_EQ(machine_profile_text(machine_profile_document(machine, files)), text)
        << machine.machine->name;
  }
  EXPECT_EQ(profiles, 17U);
}

}  // namespace
}  // namespace stepwright::fit
