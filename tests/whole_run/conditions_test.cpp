#include "stepwright/whole_run/conditions.h"

#include <gtest/gtest.h>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/plan/files/run_keys.h"

namespace stepwright::whole_run {
namespace {

plan::TrainingRunSettings read(const std::string& text) {
  const YamlJsonDocument document = YamlJsonDocument::parse(text, "job.yaml");
  return plan::read_training_run_settings(document.root());
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(TrainingRunSettings, AreReadWithUnits) {
  const plan::TrainingRunSettings settings = read(
      "tokens: 15e12\ndevice_mttf: 50000 h\nrestart: 10 min\nrepair: 2d\nspare_nodes: 3\n"
      "checkpoints: asynchronous\nstorage: 100 GB/s\nhost_copy: 20e9\nevaluation: 0.02\n");
  EXPECT_EQ(settings.tokens, 15e12);
  EXPECT_EQ(settings.device_mttf_s, 50000 * 3600.0);
  EXPECT_EQ(settings.restart_s, 600);
  EXPECT_EQ(settings.repair_s, 172800);
  EXPECT_EQ(settings.spare_nodes, 3);
  EXPECT_EQ(settings.storage_bytes_per_s, 100e9);
  EXPECT_EQ(settings.checkpoints, plan::CheckpointWriting::kAsynchronous);
}

TEST(TrainingRunSettings, RefuseWhatNoRunHas) {
  EXPECT_EQ(refusal("tokens: 0"),
            "job.yaml:1:9: tokens: must be a number from 1 to 1e+18; it is 0");
  EXPECT_EQ(refusal("evaluation: 1.5"),
            "job.yaml:1:13: evaluation: must be a number from 0 to 1; it is 1.5");
  EXPECT_EQ(refusal("evaluation: 1"),
            "job.yaml:1:13: evaluation: must be below 1: it would leave no time for steps");
  EXPECT_EQ(refusal("straggler_spread: -0.1"),
            "job.yaml:1:19: straggler_spread: must be a number from 0 to 1; it is -0.1");
  EXPECT_EQ(refusal("storage: 0"),
            "job.yaml:1:10: storage: must be a number from 1 to 1e+18; it is 0");
  EXPECT_EQ(refusal("storage: 0 GB/s"),
            "job.yaml:1:10: storage: must be from 1 to 1e+18 bytes/s; 0 GB/s is 0");
  EXPECT_EQ(refusal("device_mttf: 0"),
            "job.yaml:1:14: device_mttf: must be a number from 1 to 1e+18; it is 0");
  EXPECT_EQ(
      refusal("failures_per_device_hour: -1"),
      "job.yaml:1:27: failures_per_device_hour: must be a number from 0 to 1000000000; it is -1");
  EXPECT_EQ(refusal("spare_nodes: 1.5"),
            "job.yaml:1:14: spare_nodes: must be an integer from 0 to 1000000; it is 1.5");
  EXPECT_EQ(refusal("repiar: 1d").substr(0, 55),
            "job.yaml:1:1: unknown key 'repiar'; did you mean 'repai");
}

TEST(TrainingRunSettings, RefuseContradictions) {
  EXPECT_NE(refusal("device_mttf: 1e6\nfailures_per_device_hour: 1e-5").find("give only one"),
            std::string::npos);
  EXPECT_NE(refusal("evaluation: 0.1\nevaluation_tokens: 1e6\nevaluation_every: 10")
                .find("give only one"),
            std::string::npos);
  EXPECT_NE(refusal("evaluation_tokens: 1e6").find("give both"), std::string::npos);
  EXPECT_NE(refusal("host_copy: 1e9").find("checkpoints: asynchronous"), std::string::npos);
}

TEST(TrainingRunSettings, OneWayOfSayingAThingReplacesTheOther) {
  const plan::TrainingRunSettings stated =
      read("device_mttf: 1e6\nevaluation: 0.1\ncheckpoints: asynchronous\nhost_copy: 1e9");
  const plan::TrainingRunSettings all =
      plan::override_run_settings(stated, {.failures_per_device_hour = 0,
                                           .checkpoints = plan::CheckpointWriting::kExposed,
                                           .evaluation_tokens = 1e6,
                                           .evaluation_every = 10});
  EXPECT_EQ(plan::contradiction_in_run_settings(all), "");
  EXPECT_FALSE(all.device_mttf_s);
  EXPECT_FALSE(all.evaluation);
  EXPECT_FALSE(all.host_copy_bytes_per_s);
  EXPECT_EQ(all.failures_per_device_hour, 0);
}

TEST(TrainingRunSettings, AreWrittenAsTheyAreRead) {
  const plan::TrainingRunSettings stated =
      read("tokens: 1e12\nrepair: 1d\nspare_nodes: 2\ncheckpoints: exposed");
  const std::string text = plan::run_settings_json(stated).dump();
  EXPECT_EQ(
      text,
      R"({"tokens":1000000000000.0,"repair":86400.0,"spare_nodes":2,"checkpoints":"exposed"})");
  EXPECT_EQ(read(text), stated);
  EXPECT_EQ(plan::run_settings_json({}), nlohmann::ordered_json::object());
}

cluster::Cluster devices(std::int64_t nodes, double host_link_bytes_per_s = 0) {
  cluster::Cluster cluster{.nodes = nodes, .devices_per_node = 8};
  cluster.device.host_link_bytes_per_s = host_link_bytes_per_s;
  return cluster;
}

TEST(TrainingRunConditions, SayWhatIsAssumed) {
  const TrainingRunConditions usual = run_conditions({}, devices(2048));
  EXPECT_EQ(usual.assumed.size(), 7);
  // One failure in 3.09 hours of 16,384 devices: Llama 3.
  EXPECT_NEAR(1 / (usual.failures_per_device_s.value * 16384 * 3600), 3.09, 0.005);
  EXPECT_LT(usual.failures_per_device_s.low, usual.failures_per_device_s.value);
  EXPECT_GT(usual.failures_per_device_s.high, usual.failures_per_device_s.value);
  EXPECT_EQ(usual.storage_bytes_per_s, 2e12);
}

TEST(TrainingRunConditions, AssumeNothingThatIsStated) {
  const TrainingRunConditions all =
      run_conditions({.failures_per_device_hour = 0,
                      .restart_s = 60,
                      .repair_s = 0,
                      .checkpoints = plan::CheckpointWriting::kAsynchronous,
                      .storage_bytes_per_s = 1e9,
                      .host_copy_bytes_per_s = 1e9,
                      .evaluation = 0,
                      .straggler_spread = 0},
                     devices(1));
  EXPECT_TRUE(all.assumed.empty());
  EXPECT_EQ(all.failures_per_device_s.value, 0);
  EXPECT_EQ(all.restart_s.low, all.restart_s.high);
}

TEST(TrainingRunConditions, CopiesToTheHostAreAsFastAsTheDevicesLink) {
  const plan::TrainingRunSettings settings{.checkpoints = plan::CheckpointWriting::kAsynchronous};
  // PCIe 3.0 of a V100 has no 20 GB/s, NVLink-C2C of a GB200 ten times that.
  EXPECT_NEAR(run_conditions(settings, devices(1, 15.75e9)).host_copy_bytes_per_s, 13.7e9, 5e7);
  EXPECT_NEAR(run_conditions(settings, devices(1, 225e9)).host_copy_bytes_per_s, 195.8e9, 1e8);
  EXPECT_EQ(run_conditions(settings, devices(1)).host_copy_bytes_per_s, 20e9);
}

}  // namespace
}  // namespace stepwright::whole_run
