#include "stepwright/plan/files/new_job.h"

#include <gmock/gmock.h>

#include <cctype>
#include <sstream>

#include "stepwright/cluster/catalog.h"
#include "stepwright/model/catalog.h"
#include "stepwright/plan/files.h"

namespace stepwright::plan {
namespace {

NewJobValues some_job() {
  return {.model = "llama-3-70b",
          .architecture = *model::built_in_model("llama-3-70b"),
          .cluster = DocumentTree::empty_flow_mapping().set("profile", "dgx-h100").set("nodes", 8),
          .described = *cluster::built_in_cluster("dgx-h100", 8),
          .sequences = 512,
          .length = 8192,
          .framework = ""};
}

Job read_text(const std::string& text) {
  return read_job(YamlJsonDocument::parse(text, "job.yaml"), {});
}

/// Returns the text with every commented-out key (`# `) enabled.
std::string all_said(const std::string& text) {
  std::istringstream lines(text);
  std::string said;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    const bool key = line.starts_with("# ") && std::islower(line[2]) != 0 &&
                     colon != std::string::npos && line.find(' ', 2) == colon + 1;
    said += (key ? line.substr(2) : line) + '\n';
  }
  return said;
}

TEST(NewJobValues, ReadsAsWhatItWasMadeFrom) {
  const Job job = read_text(new_job_file_text(some_job(), "job.yaml"));
  EXPECT_EQ(job.model_name, "llama-3-70b");
  EXPECT_EQ(job.cluster, *cluster::built_in_cluster("dgx-h100", 8));
  EXPECT_EQ(job.sequences, 512);
  EXPECT_EQ(job.length, 8192);
  EXPECT_EQ(job.framework.name, "");
}

TEST(NewJobValues, SaysTheFrameworkThatWasNamed) {
  NewJobValues job = some_job();
  job.framework = "megatron-core";
  EXPECT_EQ(read_text(new_job_file_text(job, "job.yaml")).framework.name, "megatron-core");
}

TEST(NewJobValues, EveryKeyInACommentCanBeSaid) {
  const std::string text = new_job_file_text(some_job(), "job.yaml");
  const std::string said = all_said(text);
  for (const char* key :
       {"\nframework: ", "\nprecision: ", "\noptimizer: ", "\nobjective: ", "\nsearch: "}) {
    EXPECT_THAT(text, testing::Not(testing::HasSubstr(key)));
    EXPECT_THAT(said, testing::HasSubstr(key));
  }
  const Job job = read_text(said);
  EXPECT_EQ(job.framework.name, "megatron-core");
  EXPECT_EQ(job.objective.memory_confidence, 0.9);
}

TEST(NewJobValues, AModelOfAnyNameStaysOneValue) {
  NewJobValues job = some_job();
  job.model = "my: model #1/config.json";
  const YamlJsonDocument document =
      YamlJsonDocument::parse(new_job_file_text(job, "job.yaml"), "job.yaml");
  EXPECT_EQ(document.root().get("model").text(), job.model);
}

}  // namespace
}  // namespace stepwright::plan
