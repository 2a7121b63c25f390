#include "stepwright/framework_files/syntax/shell_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

std::vector<std::string> words(const ShellScript& script, std::size_t command = 0) {
  std::vector<std::string> texts;
  for (const ShellWord& word : script.commands.at(command)) texts.push_back(word.text);
  return texts;
}

std::vector<std::string> words(std::string_view text) {
  return words(read_shell_script(text, "script"));
}

using testing::ElementsAre;

TEST(ShellScript, ReadsQuotesAndContinuedLines) {
  EXPECT_THAT(words("run a 'b c' \"d  e\" \\\n  f\\ g # not this\n"),
              ElementsAre("run", "a", "b c", "d  e", "f g"));
}

TEST(ShellScript, FillsInVariablesArraysAndArithmetic) {
  EXPECT_THAT(words("T=8\nN=$((T * (2 + 1)))\nrun --t $T --n ${N} --w ${W:-4} $MISSING\n"),
              ElementsAre("run", "--t", "8", "--n", "24", "--w", "4", "$MISSING"));
  EXPECT_THAT(
      words("A=(\n  --x 1 # one\n  --y '2 3'\n)\nA+=(--z)\nrun ${A[@]} \"${A[@]}\"\n"),
      ElementsAre("run", "--x", "1", "--y", "2", "3", "--z", "--x", "1", "--y", "2 3", "--z"));
  EXPECT_THAT(words("ARGS=\" --a 1\n --b\"\nrun $ARGS \"$ARGS\"\n"),
              ElementsAre("run", "--a", "1", "--b", " --a 1\n --b"));
}

TEST(ShellScript, ExecutesNothing) {
  EXPECT_THAT(words("run $(touch /tmp/never) `date`\n"),
              ElementsAre("run", "$(touch /tmp/never)", "`date`"));
}

TEST(ShellScript, ReadsTheFirstBranchOfAConditionAndSaysSo) {
  const ShellScript script =
      read_shell_script("if [ $A = b ]; then\n  T=2\nelse\n  T=4\nfi\nrun $T\n", "script");
  EXPECT_THAT(words(script), ElementsAre("run", "2"));
  EXPECT_THAT(script.notes, ElementsAre(testing::HasSubstr("first branch")));
  EXPECT_THAT(words("if a; then\n  A=(1)\nelse\n  if b; then\n    A=(2)\n  fi\n  A+=(3)\nfi\n"
                    "case $X in\n  x) B=1 ;;\n  *) B=2 ;;\nesac\nrun ${A[@]} $B\n"),
              ElementsAre("run", "1", "1"));
}

TEST(ShellScript, KeepsWhatProgramsSee) {
  const ShellScript script = read_shell_script(
      "#SBATCH --nodes=4\nexport A=1 B=2\nC=3\nD=4 run > log 2>&1 | tee x\nunset B\n", "script");
  EXPECT_THAT(script.exported, ElementsAre(testing::Pair("A", "1"), testing::Pair("D", "4")));
  EXPECT_THAT(words(script), ElementsAre("run"));
  ASSERT_EQ(script.batch_options.size(), 1);
  EXPECT_EQ(script.batch_options.front().text, "--nodes=4");
}

TEST(ShellScript, RefusesWhatNeverCloses) {
  for (const char* text : {"run 'a", "run \"a", "A=(1 2\nrun", "run ${A", "run $(a"}) {
    EXPECT_THROW(read_shell_script(text, "script"), Error) << text;
  }
}

TEST(ShellScript, DoesNotGrowWithoutBound) {
  std::string text = "A=(1 2)\n";
  for (int i = 0; i < 60; ++i) text += "A+=(${A[@]} ${A[@]})\n";
  EXPECT_THROW(read_shell_script(text, "script"), Error);
  text = "A=12345678\n";
  for (int i = 0; i < 60; ++i) text += "A=$A$A\n";
  EXPECT_THROW(read_shell_script(text, "script"), Error);
}

}  // namespace
}  // namespace stepwright
