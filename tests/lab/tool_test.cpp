#include "stepwright/lab/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/refusal.h"

namespace stepwright::lab {
namespace {

using ::testing::HasSubstr;

TEST(Tool, DoesNotComplainWhenAllIsWell) { EXPECT_FALSE(run_program_for_error_text({"true"})); }

TEST(Tool, PassesOnWhatTheProgramSaid) {
  EXPECT_EQ(run_program_for_error_text({"sh", "-c", "echo no room >&2; echo none >&2; exit 1"}),
            "no room; none");
  EXPECT_EQ(run_program_for_error_text({"false"}), "false failed");
}

TEST(Tool, SaysThatAProgramIsNotThere) {
  EXPECT_EQ(run_program_for_error_text({"no-such-program"}),
            "no-such-program: No such file or directory");
}

TEST(Tool, HasNoShell) { EXPECT_FALSE(run_program_for_error_text({"test", "a; b", "=", "a; b"})); }

TEST(Tool, StopsAtTheFirstThatFails) {
  const std::vector<CommandLine> commands{{"true"}, {"cat", "/no/file"}, {"false"}};
  EXPECT_THAT(plan::refusal_of(ErrorKind::kRuntime, [&] { run_system_programs(commands); }),
              HasSubstr("cat /no/file: cat: /no/file: No such file"));
}

}  // namespace
}  // namespace stepwright::lab
