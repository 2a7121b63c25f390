// The report of a run that did not finish: what ended it, what it saved, and how to continue.
#include <gmock/gmock.h>
#include <signal.h>

#include <string>
#include <vector>

#include "tests/folder.h"
#include "tests/runtime/launch/running.h"
#include "tests/runtime/training.h"

namespace stepwright::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string plan_of_two() {
  return plan_text_of({.model = "{layers: 2, hidden: 32, heads: 4, kv_heads: 2, ffn: 48, "
                                "vocab: 250}",
                       .choices = "parallel: {data: 2}\nmicro_batch: 1\n",
                       .ranks = 2});
}

std::vector<std::string> endless(std::vector<std::string> options = {}) {
  options.insert(options.end(), {"--steps", "1000000"});
  return options;
}

std::vector<std::string> saving(const Folder& folder, std::vector<std::string> options = {}) {
  options.insert(options.end(),
                 {"--checkpoint", (folder / "run").string(), "--checkpoint-every", "2"});
  return endless(options);
}

TEST(Endings, AKilledRankIsNamedWithItsSignal) {
  const Folder folder;
  Running run(folder, plan_of_two(), endless());
  run.await("step      2");
  ::kill(run.rank(1), SIGKILL);
  EXPECT_EQ(run.wait(), 1);
  EXPECT_THAT(run.errors(), HasSubstr("training failed: rank 1 was ended by signal 9 (Killed)"));
  EXPECT_THAT(run.errors(), HasSubstr("no checkpoint was saved (use --checkpoint DIR)"));
}

TEST(Endings, AnInterruptedRunSaysWhatIsSavedAndGoesOnFromThere) {
  const Folder folder;
  Running run(folder, plan_of_two(), saving(folder));
  run.await("step      9");
  ::kill(-run.process(), SIGINT);  // As a terminal does: to all processes of the run.
  EXPECT_EQ(run.wait(), -1) << "a shell that waits sees the signal";
  EXPECT_THAT(run.errors(), HasSubstr("interrupted; "));
  EXPECT_THAT(run.errors(), HasSubstr("is saved: the same command with --resume continues from"));
  EXPECT_THAT(run.errors(), Not(HasSubstr("training failed")));

  Running rest(folder, plan_of_two(), saving(folder, {"--resume"}));
  rest.await(" with step ");
  ::kill(rest.process(), SIGTERM);  // As a scheduler does: to the one that it started.
  EXPECT_EQ(rest.wait(), -1);
  EXPECT_THAT(rest.errors(), HasSubstr("continues from " + (folder / "run/step-").string()));
  EXPECT_THAT(rest.errors(), HasSubstr("is saved: the same command continues from it"));
  EXPECT_EQ(rest.rank(0), 0) << "no rank is left behind";
}

TEST(Endings, ARunThatSavedNothingSaysSo) {
  const Folder folder;
  Running run(folder, plan_of_two(),
              endless({"--checkpoint", (folder / "run").string(), "--resume"}));
  run.await("contains no checkpoint yet: training begins with step 1");
  run.await("step      2");
  ::kill(run.process(), SIGINT);
  EXPECT_EQ(run.wait(), -1);
  EXPECT_THAT(run.errors(),
              HasSubstr("interrupted; " + (folder / "run").string() + " holds no checkpoint yet"));
}

TEST(Endings, AnIgnoredHangUpEndsNothing) {
  const Folder folder;
  struct sigaction ignoring{}, before{};
  ignoring.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignoring, &before);
  Running run(folder, plan_of_two(), {"--steps", "40"});
  ::sigaction(SIGHUP, &before, nullptr);
  run.await("step      2");
  ::kill(run.process(), SIGHUP);
  EXPECT_EQ(run.wait(), 0) << run.errors();
}

TEST(Endings, AModelWithoutRoomIsRefusedAtOnce) {
  const std::string plan = plan_text_of(
      {.model = "{layers: 512, hidden: 16384, heads: 128, ffn: 65536, vocab: 250}", .ranks = 1});
  const Trained run = train({.plan = plan});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.errors, HasSubstr("training needs "));
  EXPECT_THAT(run.errors, HasSubstr(" GiB for the tensors of all ranks, this machine has "));
  EXPECT_THAT(run.errors, Not(HasSubstr("stepwright-rank")));
}

}  // namespace
}  // namespace stepwright::testing
