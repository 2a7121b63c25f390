#include "stepwright/runtime/measure/metrics_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "tests/folder.h"

namespace stepwright::runtime {
namespace {

constexpr std::size_t kMost = 1 << 20;

std::string line_of(std::int64_t step) { return "{\"step\":" + std::to_string(step) + "}"; }

void add_steps(const std::filesystem::path& path, bool resumed, std::int64_t first,
               std::int64_t last) {
  MetricsFile file(path, resumed);
  for (std::int64_t step = first; step <= last; ++step) file.add(step, line_of(step));
  file.close();
}

TEST(LinesBefore, DropsLaterStepsAndALineThatIsCut) {
  EXPECT_EQ(metrics_file_lines_before_step(
                "{\"step\":1}\n# of mine\n{\"step\":2}\n{\"step\":3}\n{\"st", 3),
            "{\"step\":1}\n# of mine\n{\"step\":2}\n");
  EXPECT_EQ(metrics_file_lines_before_step("", 1), "");
}

TEST(MetricsFile, AResumedRunGoesOnBehindTheStepThatItResumesFrom) {
  const Folder folder;
  const auto path = folder / "m.jsonl";
  add_steps(path, false, 1, 7);
  add_steps(path, true, 6, 8);  // from a checkpoint of step 5
  std::string all;
  for (std::int64_t step = 1; step <= 8; ++step) all += line_of(step) + "\n";
  EXPECT_EQ(read_file_or_standard_input(path, kMost), all);
}

TEST(MetricsFile, AnotherRunBeginsAnewWithItsFirstStep) {
  const Folder folder;
  const auto path = folder / "m.jsonl";
  add_steps(path, false, 1, 7);
  MetricsFile file(path, false);
  EXPECT_NE(read_file_or_standard_input(path, kMost), "");
  file.add(1, line_of(1));
  EXPECT_EQ(read_file_or_standard_input(path, kMost), line_of(1) + "\n");
}

TEST(MetricsFile, ALineThatCannotBeWrittenIsAFailure) {
  MetricsFile file("/dev/full", false);
  try {
    file.add(1, line_of(1));
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    EXPECT_STREQ(error.what(), "/dev/full: cannot be written: No space left on device");
  }
}

}  // namespace
}  // namespace stepwright::runtime
