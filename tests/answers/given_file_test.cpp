#include "stepwright/answers/given_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/core/refusal.h"
#include "tests/folder.h"

namespace stepwright::answers {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kGivenJob = R"(stepwright: job/2
model: llama-2-7b
cluster: {profile: dgx-a100-80g, nodes: 1}
batch: {sequences: 64, length: 2048}
framework: {name: megatron-core, version: "0.12"}
)";

UserFile in_memory(const std::string& text) { return {.name = "<job>", .text = text}; }

TEST(GivenFile, ATextStandsForTheFileOfItsName) {
  const Folder folder;
  const std::string path = (folder / "job.yaml").string();
  std::ofstream(path) << kGivenJob;
  const plan::Job read = read_job({.name = path});
  EXPECT_EQ(read.sequences, 64);
  EXPECT_EQ(read_job({.name = path, .text = kGivenJob}).sequences, read.sequences);
  EXPECT_THAT(refusal([&] { read_job({.name = (folder / "none.yaml").string()}); }),
              HasSubstr("none.yaml"));
}

TEST(GivenFile, AnotherFrameworkReplacesTheJobsWithItsRelease) {
  EXPECT_EQ(read_job(in_memory(kGivenJob)).framework.version, "0.12");
  const plan::Job other = read_job(in_memory(kGivenJob), "torchtitan");
  EXPECT_EQ(other.framework.name, "torchtitan");
  EXPECT_EQ(other.framework.version, "");
}

TEST(GivenFile, AFileOfAnotherKindIsCalledWhatItIs) {
  const Folder folder;
  const auto refused = [&](const std::string& name, const std::string& text) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return refusal([&] { read_job({.name = path}); });
  };
  EXPECT_THAT(refused("run.sh", "#!/bin/bash\ntorchrun train.py\n"),
              AllOf(HasSubstr("run.sh: is a launch script"), HasSubstr("stepwright check")));
  EXPECT_THAT(refused("a b;c.sh", "#!/bin/bash\n"), HasSubstr("a b;c.sh'` tells whether"));
  EXPECT_THAT(refused("plot.yaml", "\x89PNG\r\n\x1A\n"), HasSubstr("is a picture"));
  EXPECT_THAT(refused("paper.yaml", "%PDF-1.7\n"), HasSubstr("is a PDF"));
  EXPECT_THAT(refused("job.yaml", "a: [1\n"), HasSubstr("malformed YAML"));
}

TEST(GivenFile, AJobIsNoPlanAndSaysWhatToDo) {
  EXPECT_TRUE(declares_job(in_memory(kGivenJob)));
  EXPECT_FALSE(declares_plan(in_memory(kGivenJob)) || file_contains_plan(in_memory(kGivenJob)));
  EXPECT_THAT(refusal([] { read_plan(in_memory(kGivenJob)); }),
              StartsWith("<job>: is a job, but a plan is needed"));
}

}  // namespace
}  // namespace stepwright::answers
