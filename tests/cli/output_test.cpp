#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"

namespace stepwright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the names of files in the workplace after a run.
std::set<std::string> files(const Workplace& place) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(place.path())) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

void expect_refused(const std::string& arguments, int code, const std::string& message) {
  const Workplace place;
  place.write("job.yaml", content_of("examples/inline-model.yaml"));
  const Outcome outcome = place.run(arguments);
  EXPECT_EQ(outcome.code, code) << arguments;
  EXPECT_THAT(outcome.err, HasSubstr(message));
  EXPECT_EQ(outcome.out, "") << arguments;
  EXPECT_EQ(files(place), (std::set<std::string>{".err", ".out", "examples", "job.yaml"}));
}

TEST(Output, ThatCannotBeWrittenIsAFailureThatLeavesNothing) {
  const std::string plan(kExamplePlan);
  expect_refused("predict " + plan + " --trace nowhere/t.json", 1,
                 "nowhere/t.json: cannot be written");
  expect_refused("predict " + plan + " --program examples", 1,
                 "examples: cannot be written: it is");
  expect_refused("traffic " + plan + " --matrix nowhere/m.csv", 1,
                 "cannot be written: No such file");
  expect_refused("tune job.yaml --top 1 -o nowhere/plan.yaml", 1, "cannot be written");
  expect_refused("traffic " + plan + " --matrix /dev/full", 1, "/dev/full: cannot be written");
  expect_refused("predict " + plan + kSmallBatch + " --trace /dev/full", 1,
                 "/dev/full: cannot be written");
}

/// The work would fail for another reason, but is never started.
TEST(Output, ThatCannotBeWrittenIsSaidBeforeTheWork) {
  const Workplace place;
  place.write("job.yaml",
              "stepwright: job/2\nmodel: llama-3-8b\ncluster: {profile: dgx-h100, nodes: 1}\n"
              "batch: {sequences: 8, length: 4096}\nparallel: {tensor: 3}\n");
  place.write("samples.csv", "no,table,of,samples\n");
  for (const char* arguments :
       {"tune job.yaml -o nowhere/plan.yaml",
        "study utilization job.yaml --report nowhere/page.html",
        "study collectives mi300x-8gpu --report nowhere/page.html",
        "fit samples.csv -o nowhere/profile.json", "fit --runs samples.csv -o nowhere/conditions",
        "export --to nccl-tuner --cluster dgx-h1000 -o nowhere/tuner.conf",
        "export --to mscclpp --collective reduce --algorithm tree --tiers 8 -o nowhere/plan.json",
        "lab profile none.yaml -o nowhere/lab.json", "predict none.yaml --trace nowhere/trace.json",
        "traffic none.yaml --matrix nowhere/m.csv",
        "checkpoint convert none -o nowhere/weights.safetensors"}) {
    const Outcome outcome = place.run(arguments);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr("cannot be written: No such file")) << arguments;
  }
}

TEST(Output, NoPlanIsWrittenWhereNoneFits) {
  const Workplace place;
  place.write("job.yaml",
              "stepwright: job/2\nmodel: llama-3-70b\ncluster: {profile: dgx-h100, nodes: 1}\n"
              "batch: {sequences: 8, length: 4096}\nsearch: {tensor: 1, pipeline: 1}\n");
  for (const char* form : {"", " --json"}) {
    const Outcome outcome = place.run(std::string("tune job.yaml -o plan.yaml") + form);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("job.yaml: no plan of the search space fits in memory: "));
    EXPECT_EQ(files(place), (std::set<std::string>{".err", ".out", "examples", "job.yaml"}));
    EXPECT_THAT(outcome.out, HasSubstr(*form == 0 ? "NO PLAN FITS" : "\"fits\": false"));
    EXPECT_THAT(outcome.out, HasSubstr(*form == 0 ? "It fits with " : "\"remedies\""));
  }
  EXPECT_EQ(place.run("study utilization job.yaml").code, 1);
}

TEST(Output, AFileOfAPlanThatDoesNotFitIsWrittenOnDemandAlone) {
  const Workplace place;
  place.write("job.yaml",
              "stepwright: job/2\nmodel: llama-3-8b\ncluster: {profile: dgx-h100, nodes: 1}\n"
              "batch: {sequences: 128, length: 8192}\nsearch: {tensor: 1, pipeline: 2}\n");
  ASSERT_EQ(place.run("tune job.yaml -o plan.yaml").code, 0);
  const Outcome fits = place.run("export --to megatron --plan plan.yaml --nearest -o train.sh");
  EXPECT_EQ(fits.code, 0) << fits.err;
  EXPECT_THAT(fits.err, Not(HasSubstr("DOES NOT FIT")));
  const std::string accelerate = "export --to accelerate --plan plan.yaml -o train.yaml ";
  place.write("plan.yaml",
              "stepwright: plan/2\njob:\n  model: llama-3-8b\n  cluster: dgx-h100\n"
              "  batch: {sequences: 128, length: 8192}\nparallel: {data: 8}\nsharding: NNN\n");
  const Outcome misfit = place.run(accelerate);
  EXPECT_EQ(misfit.code, 1) << misfit.err;
  EXPECT_THAT(misfit.err,
              HasSubstr("error: plan.yaml: The job that the file starts DOES NOT FIT: "));
  EXPECT_THAT(misfit.err, HasSubstr("--nearest writes the nearest plan that fits"));
  EXPECT_EQ(files(place).count("train.yaml"), 0);
  const Outcome nearest = place.run(accelerate + "--nearest");
  EXPECT_EQ(nearest.code, 0) << nearest.err;
  EXPECT_THAT(nearest.err, HasSubstr("The nearest plan that fits was written; it has "));
  EXPECT_THAT(nearest.err, Not(HasSubstr("DOES NOT FIT")));
  const Outcome demanded = place.run(accelerate + "--even-if-it-does-not-fit");
  EXPECT_EQ(demanded.code, 0) << demanded.err;
  EXPECT_THAT(demanded.err, HasSubstr("warning: The job that the file starts DOES NOT FIT: "));
}

TEST(Output, DoesNotReplaceTheInput) {
  expect_refused("tune job.yaml -o ./job.yaml", 2, "name the same file");
}

TEST(Output, OfAnswersThatCannotBeWrittenIsAFailure) {
  const Workplace place;
  const Outcome outcome = place.run("list shardings --json >/dev/full && true");
  EXPECT_EQ(outcome.code, 1);
}

TEST(Output, FilesAreWhatTheySay) {
  const Workplace place;
  const std::string plan(kExamplePlan);
  const Outcome predicted =
      place.run("predict " + plan + kSmallBatch + " --trace t.json --program p.json");
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_THAT(predicted.err, HasSubstr("wrote the timeline to t.json"));
  EXPECT_FALSE(nlohmann::json::parse(place.read("t.json")).at("traceEvents").empty());
  EXPECT_EQ(nlohmann::json::parse(place.read("p.json")).at("stages").size(), 4);
  const Outcome traffic = place.run("traffic " + plan + " --matrix m.csv --rank 3");
  ASSERT_EQ(traffic.code, 0) << traffic.err;
  EXPECT_THAT(place.read("m.csv"), HasSubstr("from,to,bytes\n3,"));
}

TEST(Output, AReplacedFileKeepsItsMode) {
  namespace fs = std::filesystem;
  const Workplace place;
  const std::string command = std::string("traffic ") + kExamplePlan + " --rank 3 --matrix ";
  const auto mode = [&](const char* name) { return fs::status(place.path() / name).permissions(); };
  const fs::perms own = fs::perms::owner_read | fs::perms::owner_write;
  place.write("m.csv", "old");
  fs::permissions(place.path() / "m.csv", own);
  ASSERT_EQ(place.run(command + "m.csv").code, 0);
  EXPECT_THAT(place.read("m.csv"), HasSubstr("from,to,bytes"));
  EXPECT_EQ(mode("m.csv"), own);

  place.write("target.csv", "old");
  fs::permissions(place.path() / "target.csv", own | fs::perms::others_read);
  fs::create_symlink("target.csv", place.path() / "link.csv");
  ASSERT_EQ(place.run(command + "link.csv").code, 0);
  EXPECT_TRUE(fs::is_symlink(place.path() / "link.csv"));
  EXPECT_THAT(place.read("target.csv"), HasSubstr("from,to,bytes"));
  EXPECT_EQ(mode("target.csv"), own | fs::perms::others_read);
}

TEST(Output, MessagesStayOutOfTheDocument) {
  const Workplace place;
  const Outcome outcome =
      place.run(std::string("predict --json --trace t.json ") + kExamplePlan + kSmallBatch);
  EXPECT_TRUE(nlohmann::json::accept(outcome.out));
}

}  // namespace
}  // namespace stepwright::cli
