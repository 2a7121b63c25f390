#include "stepwright/launch_scripts/shell/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepwright/core/error.h"

namespace stepwright::launch_scripts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ShellScriptResult script_of(std::string_view text, const ShellAssumptions& given = {}) {
  const ShellSource source{"script", text};
  return read_shell_scripts({&source, 1}, given);
}

/// Returns the words of the last command named `run`.
std::vector<std::string> words(const ShellScriptResult& script) {
  std::vector<std::string> texts;
  for (const ShellCommand& command : script.commands) {
    if (command.words.front().text != "run") continue;
    texts.clear();
    for (const ShellWord& word : command.words) texts.push_back(word.text);
  }
  return texts;
}

std::vector<std::string> words(std::string_view text) { return words(script_of(text)); }

/// Returns the argument of `run` in a script that ends with `run "$X"`.
std::string x_of(const std::string& text) {
  const std::vector<std::string> all = words(text + "\nrun \"$X\"\n");
  return all.size() == 2 ? all[1] : "none";
}

TEST(ShellScriptResult, ReadsQuotesAndContinuedLines) {
  EXPECT_THAT(words("run a 'b c' \"d  e\" \\\n  f\\ g $'h\\ti' # not this\n"),
              ElementsAre("run", "a", "b c", "d  e", "f g", "h\ti"));
}

TEST(ShellScriptResult, WhatIsToBeFilledInIsAWord) {
  EXPECT_THAT(words("run --vocab <PATH TO vocab.json> --fp16\n"),
              ElementsAre("run", "--vocab", "<PATH TO vocab.json>", "--fp16"));
  EXPECT_THAT(words("A=\" --load <FOLDER> \\\n --save <FOLDER>  --fp16\"\nsh -c \"run $A\"\n"),
              ElementsAre("run", "--load", "<FOLDER>", "--save", "<FOLDER>", "--fp16"));
  EXPECT_EQ(x_of("X=<Specify path>"), "<Specify path>");
  EXPECT_THAT(words("run a <in >out\nrun b < in.txt > out.txt\nrun c <in 2>&1\n"),
              ElementsAre("run", "c"));
}

// bash(1), PARAMETERS: name references.
TEST(ShellScriptResult, NameReferencesStandForTheirVariables) {
  EXPECT_THAT(words("declare -A M=([lr]=1) T=([bs]=2)\nA=()\nfor c in M T; do declare -n r=$c\n"
                    "for k in ${!r[@]}; do A+=(--$k ${r[$k]}); done; done\nrun ${A[@]}\n"),
              ElementsAre("run", "--lr", "1", "--bs", "2"));
  EXPECT_THAT(words("f() { local -n to=$1; to+=(x); }\nL=(a)\nf L\nrun ${L[@]}\n"),
              ElementsAre("run", "a", "x"));
  EXPECT_THAT(words("X=1\ndeclare -n r=X\nf() { local r=7; run $r $X; }\nf\n"),
              ElementsAre("run", "7", "1"));
  EXPECT_EQ(x_of("declare -n a=b\ndeclare -n b=a\na=1\nX=$a"), "1");
}

TEST(ShellScriptResult, FillsInVariablesArraysAndArithmetic) {
  EXPECT_THAT(words("T=8\nN=$((T * (2 + 1)))\nrun --t $T --n ${N} --w ${W:-4} $MISSING\n"),
              ElementsAre("run", "--t", "8", "--n", "24", "--w", "4", "$MISSING"));
  EXPECT_THAT(
      words("A=(\n  --x 1 # one\n  --y '2 3'\n)\nA+=(--z)\nrun ${A[@]} \"${A[@]}\"\n"),
      ElementsAre("run", "--x", "1", "--y", "2", "3", "--z", "--x", "1", "--y", "2 3", "--z"));
  EXPECT_THAT(words("ARGS=\" --a 1\n --b\"\nrun $ARGS \"$ARGS\"\n"),
              ElementsAre("run", "--a", "1", "--b", " --a 1\n --b"));
  EXPECT_THAT(words("A=(a b c)\nrun ${#A[@]} ${A[1]} ${A[-1]} ${!A[@]} $A\n"),
              ElementsAre("run", "3", "b", "c", "0", "1", "2", "a"));
  EXPECT_THAT(words("declare -A L=([7b]=32 [13b]=40)\nL[70b]=80\nS=13b\nrun ${L[$S]} ${L[70b]}\n"),
              ElementsAre("run", "40", "80"));
}

TEST(ShellScriptResult, ChangesValuesAsBashDoes) {
  EXPECT_EQ(x_of("P=/a/b.tar.gz\nX=\"${P##*/} ${P%.*} ${P%%.*} ${P#/}\""),
            "b.tar.gz /a/b.tar /a/b a/b.tar.gz");
  EXPECT_EQ(x_of("P=aXbX\nX=\"${P/X/-} ${P//X/-} ${P,,} ${P^^} ${#P} ${P:1:2}\""),
            "a-bX a-b- axbx AXBX 4 Xb");
  EXPECT_EQ(x_of("X=${U:=8}-$U-${U:+yes}-${V:+yes}-${V-none}"), "8-8-yes--none");
  EXPECT_EQ(x_of("N=T; T=4; X=${!N}"), "4");
}

TEST(ShellScriptResult, PrintsIntoVariablesAsBashDoes) {
  EXPECT_EQ(x_of("N=7\nprintf -v X \"%d\" $N"), "7");
  EXPECT_EQ(x_of("printf -v X 'job-%s-%03d at 50%%' a 42"), "job-a-042 at 50%");
  EXPECT_EQ(x_of("printf -v X 'a%sb%d'  "), "ab0");
  EXPECT_EQ(x_of("X=1\nprintf -v X '%x' 255"), "$X");
  EXPECT_EQ(x_of("X=1\nprintf -v X '%d' many"), "$X");
  EXPECT_EQ(x_of("printf -v X '%s,' a b"), "a,b,");
  EXPECT_EQ(x_of("X=1\nprintf -v X 'plain' a b"), "$X");
  EXPECT_EQ(x_of("set -a\nX=3\nset +a"), "3");
}

TEST(ShellScriptResult, TakesWhatPrintfAndEchoPrint) {
  EXPECT_EQ(x_of("A=(a.json 'b c')\nT=alpaca\n"
                 "X=$(printf $\"- path: %s\\n  type: ${T}\\n\" \"${A[@]}\")"),
            "- path: a.json\n  type: alpaca\n- path: b c\n  type: alpaca");
  EXPECT_EQ(x_of("X=$(printf '%s:%d' host 29500)"), "host:29500");
  EXPECT_EQ(x_of("X=$(printf '%(%F)T')"), "$(printf '%(%F)T')");
  EXPECT_EQ(x_of("X=$(echo -e 'a\\nb')"), "a\nb");
  EXPECT_EQ(x_of("X=$(echo -n '- a')"), "- a");
  const auto written = [](const std::string& text) {
    return std::string(script_of(text + "\nrun\n").written.at("c.yaml").text);
  };
  EXPECT_EQ(written("echo \"- a: 1\" > c.yaml\necho -e \"b: 2\\nc: 3\" >> c.yaml"),
            "- a: 1\nb: 2\nc: 3\n");
  EXPECT_EQ(written("printf 'a: %s\\n' 1 > c.yaml"), "a: 1\n");
}

TEST(ShellScriptResult, CalculatesAsBashDoes) {
  EXPECT_EQ(x_of("A=6 B=4\nX=$(( A / B * 10 + A % B - 2 ** 3 ))"), "4");
  EXPECT_EQ(x_of("let X=3*4"), "12");
  EXPECT_EQ(x_of("X=1; (( X += 4 )); (( X++ ))"), "6");
  EXPECT_EQ(x_of("T=2; X=$(( T > 1 ? 1 : 0 ))"), "1");
  EXPECT_EQ(x_of("X=`expr 4 \\* 8`"), "32");
  EXPECT_EQ(x_of("X=$(echo \"8*4\" | bc)"), "32");
  EXPECT_EQ(x_of("X=$((1 / 0))"), "$((1 / 0))");
  EXPECT_EQ(x_of("X=$((9223372036854775807 + 1))"), "$((9223372036854775807 + 1))");
}

TEST(ShellScriptResult, DecidesConditions) {
  const auto decided = [](const std::string& condition) {
    return x_of("A=2; B=b; E=''\nif " + condition + "; then X=yes; else X=no; fi");
  };
  for (const char* yes :
       {"[ $A = 2 ]", "[ \"$A\" == 2 -a $B != c ]", "[[ $A -ge 2 && $B == b* ]]", "[ -z \"$E\" ]",
        "[[ -n $B ]]", "test $A -lt 3", "(( A > 1 ))", "! [ $A -eq 3 ]", "[[ ! ($A == 3) ]]",
        "[ $A = 3 ] || [ $B = b ]", "[[ $A =~ ^[0-9]+$ ]]", "[ -v A ]", "true", "[[ a < b ]]"}) {
    EXPECT_EQ(decided(yes), "yes") << yes;
  }
  for (const char* no : {"[ $A = 3 ]", "[ -n \"$E\" ]", "[[ $B == \"b*\" ]]", "(( A % 2 ))",
                         "false", "[ $A = 2 ] && [ $B = c ]", "[[ $A != 2 ]]"}) {
    EXPECT_EQ(decided(no), "no") << no;
  }
  EXPECT_EQ(x_of("T=7b\ncase $T in 1b|3b) X=1 ;; 7?) X=2 ;; *) X=3 ;; esac"), "2");
  EXPECT_EQ(x_of("T=x\nif [ $T = a ]; then X=1; elif [ $T = x ]; then X=2; else X=3; fi"), "2");
  EXPECT_TRUE(script_of("A=1\nif [ $A = 1 ]; then B=2; fi\n").choices.empty());
}

TEST(ShellScriptResult, SaysWhatItCannotDecide) {
  const ShellScriptResult script =
      script_of("if [ \"$FSDP\" = 1 ]; then\n  T=1\nelse\n  T=2\nfi\nrun $T\n");
  EXPECT_THAT(words(script), ElementsAre("run", "2"));
  ASSERT_EQ(script.choices.size(), 1);
  const auto& [place, choice] = *script.choices.begin();
  EXPECT_EQ(choice.condition, "[ \"$FSDP\" = 1 ]");
  EXPECT_THAT(choice.open, ElementsAre("$FSDP"));
  EXPECT_EQ(choice.line, 1U);
  EXPECT_EQ(choice.ways.at(choice.taken), "false");
  EXPECT_THAT(words(script_of("if [ \"$FSDP\" = 1 ]; then\n  T=1\nelse\n  T=2\nfi\nrun $T\n",
                              {.ways = {{place, 0}}})),
              ElementsAre("run", "1"));
  for (const char* open : {"[ -f x ] && T=1", "[ -z $U ] || T=1", "if nvidia-smi; then T=1; fi",
                           "case $1 in a) T=1 ;; esac", "while [ $U ]; do T=1; done"}) {
    EXPECT_EQ(script_of(open).choices.size(), 1) << open;
  }
}

TEST(ShellScriptResult, WorksOffChainsFromLeftToRight) {
  EXPECT_EQ(x_of("true && false || X=1"), "1");
  EXPECT_EQ(x_of("X=0; false && X=1 || true && X=2"), "2");
  EXPECT_EQ(x_of("X=0; true || X=1 && X=2"), "2");
  EXPECT_EQ(x_of("X=0; false || false && X=1"), "0");
  const ShellScriptResult script = script_of("ask one && ask two  ||\\\n  ask three\n");
  std::vector<std::string> conditions;
  for (const auto& [place, choice] : script.choices) conditions.push_back(choice.condition);
  EXPECT_THAT(conditions, ElementsAre("ask one", "ask one && ask two"));
}

TEST(ShellScriptResult, SubshellsLeaveVariablesAsTheyWere) {
  EXPECT_EQ(x_of("X=1; (X=2; unset X; X+=3)"), "1");
  EXPECT_EQ(x_of("(Y=2); X=${Y:-unset}"), "unset");
  EXPECT_EQ(x_of("X=1; (X=2; (X=3); A=$X; export B=$X) ; X=$X${A-no}${B-no}"), "1nono");
  EXPECT_EQ(x_of("A=(a b); (A+=(c); A[0]=d; A=e); X=\"${A[@]}\""), "a b");
  EXPECT_EQ(x_of("set -- a b c; shift; (shift; set -- d); X=\"$# $1\""), "2 b");
  EXPECT_EQ(x_of("f() { (local X; X=2); X=${X}1; }; X=1; f"), "11");
  EXPECT_EQ(x_of("f() { local X=2; (X=3); Y=$X; }; X=1; f; X=$X$Y"), "12");
  EXPECT_EQ(x_of("X=1; { X=2; } | { X=3; }"), "1");
  const ShellScriptResult script =
      script_of("(export A=1); run\n export B=2; (unset B); run --x\n");
  EXPECT_EQ(script.commands.back().environment.size(), 1);
}

TEST(ShellScriptResult, DoesNotTakeABranchThatOnlyEndsIt) {
  EXPECT_THAT(words("usage() { echo x; exit 1; }\nif [ -z $1 ]; then usage; fi\n"
                    "[ -f data ] || { echo no; exit 1; }\ncd there || exit\nrun a\n"),
              ElementsAre("run", "a"));
  EXPECT_THAT(words("run a\nexit 0\nrun b\n"), ElementsAre("run", "a"));
}

TEST(ShellScriptResult, GoesThroughLoopsAndFunctions) {
  EXPECT_EQ(x_of("for T in 1 2 4; do X=$X$T; done"), "$X124");
  EXPECT_EQ(x_of("X=\nfor ((i = 0; i < 3; i++)); do X+=$i; done"), "012");
  EXPECT_EQ(x_of("X=0\nwhile [ $X -lt 5 ]; do X=$((X + 1)); done"), "5");
  EXPECT_EQ(x_of("X=0\nuntil (( X >= 3 )); do let X++; [ $X = 2 ] && break; done"), "2");
  EXPECT_EQ(x_of("f() { local Y=$1; X=$2-$Y-$#; }\nf a b c"), "b-a-3");
  EXPECT_EQ(x_of("X=0\nfor i in {1..3}; do [ $i = 2 ] && continue; X=$X$i; done"), "013");
  const std::string parse =
      "X=8\nwhile [[ $# -gt 0 ]]; do case $1 in --tp) X=$2; shift 2 ;; *) shift ;; esac; done\n"
      "run $X\n";
  EXPECT_THAT(words(parse), ElementsAre("run", "8"));
  EXPECT_THAT(words(script_of(parse, {.variables = {{"1", "--tp"}, {"2", "4"}}})),
              ElementsAre("run", "4"));
}

TEST(ShellScriptResult, ExecutesNothing) {
  EXPECT_THAT(words("run $(touch /tmp/never) `date`\n"),
              ElementsAre("run", "$(touch /tmp/never)", "$(date)"));
  const ShellScriptResult script =
      script_of("A=$(nvidia-smi -L | wc -l)\nrun --n $A --m $((A * 2))\n");
  EXPECT_THAT(words(script),
              ElementsAre("run", "--n", "$(nvidia-smi -L | wc -l)", "--m", "$((A * 2))"));
  EXPECT_THAT(script.commands.back().words[2].open, ElementsAre("$(nvidia-smi -L | wc -l)"));
}

TEST(ShellScriptResult, WhatIsGivenStandsInThePlaceOfAssignments) {
  const ShellAssumptions given{.variables = {{"T", "8"}}};
  EXPECT_THAT(words(script_of("T=2\nexport T=4\nlet T=6\nrun $T ${T:-1}\n", given)),
              ElementsAre("run", "8", "8"));
}

TEST(ShellScriptResult, SeesThroughWrappers) {
  for (const char* text :
       {"C=\"run --a 1\"\neval $C\n", "C='run --a $T'\nT=1\neval \"$C\"\n",
        "srun -N 2 bash -c \"run --a 1\"\n", "bash -lc 'run --a $0' 1\n",
        "C=\"run --a 1\"\nsrun -l $C\nrun --a 1\n",
        "cat > go.sh <<EOF\nrun --a 1\nEOF\nbash go.sh\n",
        "cat > go.sh <<'E'\nT=1\nE\ncat >> go.sh <<'E'\nrun --a $T\nE\nsbatch go.sh\n",
        "echo 'T=1' > go.sh\necho 'run --a $T' >> go.sh\nbash go.sh\n",
        "T=1 sbatch -N 4 <<'EOF'\n#!/bin/bash\nrun --a $T\nEOF\n", "exec run --a 1\n",
        "run --a 1 2>&1 | tee log > /dev/null\n", "( cd x && run --a 1 ) &\n",
        "export T=1\nbash <<EOF\nrun --a \\$T\nEOF\n"}) {
    EXPECT_THAT(words(text), ElementsAre("run", "--a", "1")) << text;
  }
  const ShellScriptResult script = script_of("srun -N 2 bash -c 'run --a 1'\n");
  ASSERT_EQ(script.commands.size(), 1);
  EXPECT_EQ(script.commands[0].launchers.at(2).text, "2");
}

TEST(ShellScriptResult, GoesOnWithFilesThatAreGivenAndNamesOthers) {
  const ShellSource sources[] = {
      {"a/main.sh", "source \"$DIR/conf.sh\"\nT=2 bash ./inner.sh x\n. missing.conf\n"},
      {"b/conf.sh", "export H=64\nL=3\n"},
      {"b/inner.sh", "run --t $T --h $H --l $L --one $1\n"}};
  const ShellScriptResult script = read_shell_scripts(sources);
  EXPECT_THAT(words(script),
              ElementsAre("run", "--t", "2", "--h", "64", "--l", "$L", "--one", "x"));
  EXPECT_EQ(script.files.at(script.commands.back().file), "b/inner.sh");
  ASSERT_EQ(script.missing.size(), 1);
  EXPECT_EQ(script.missing[0].path, "missing.conf");
  EXPECT_EQ(script.missing[0].line, 3U);
}

TEST(ShellScriptResult, KeepsWhatProgramsSee) {
  const ShellScriptResult script = script_of(
      "#SBATCH --nodes=4 --gres=gpu:8\nexport A=1 B=2\nC=3\n"
      "D=$SLURM_NNODES run --x > log 2>&1 | tee x\nunset B\n");
  std::vector<std::string> names;
  for (const auto& [name, word] : script.commands.at(0).environment) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("A", "B", "D", "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE",
                                 "SLURM_JOB_GPUS", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES",
                                 "SLURM_NNODES", "SLURM_NODELIST", "SLURM_TASKS_PER_NODE"));
  EXPECT_EQ(script.commands.at(0).environment.at("D").text, "4");
  EXPECT_EQ(script.commands.at(0).environment.at("A").line, 2U);
  ASSERT_NE(script.commands.at(0).job, nullptr);
  EXPECT_EQ(script.commands.at(0).job->devices_per_node, 8);
}

TEST(ShellScriptResult, SaysTheDevicesOfATask) {
  const ShellScriptResult script = script_of(
      "#SBATCH --nodes=8 --ntasks-per-node=1 --gpus-per-task=4\n"
      "srun bash -c \"run --n \\$SLURM_GPUS_PER_TASK\"\n");
  EXPECT_THAT(words(script), ElementsAre("run", "--n", "4"));
}

TEST(ShellScriptResult, CountsTheHostsAndDevicesOfAJob) {
  const std::string head = "#SBATCH --nodes=4 --gres=gpu:8\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a=($(scontrol show hostnames $SLURM_JOB_NODELIST)); run ${#a[@]}", "4"},
      {"mapfile -t a < <(scontrol show hostnames $SLURM_JOB_NODELIST); run ${#a[@]}", "4"},
      {"IFS=, read -ra a <<< \"$CUDA_VISIBLE_DEVICES\"; run ${#a[@]}", "8"},
      {"run $(nvidia-smi -L | wc -l)", "8"},
      {"run $(scontrol show hostnames | sort -u | wc -l)", "4"},
      {"run $(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)", "node001"},
      {"run $(echo $SLURM_TASKS_PER_NODE | cut -d '(' -f 1)", "1"},
      {"scontrol show hostnames > hosts; run $(wc -l < hosts)", "4"}};
  for (const auto& [text, count] : cases) {
    EXPECT_THAT(words(script_of(head + text + "\n")), ElementsAre("run", count)) << text;
  }
}

TEST(ShellScriptResult, LeavesTheCountOfAnArrayOpenThatACommandFills) {
  for (const char* fill : {"a=($(list_hosts))", "a=($HOSTS)", "mapfile -t a < <(list_hosts)",
                           "read -ra a <<< \"$HOSTS\""}) {
    const ShellScriptResult script = script_of(std::string(fill) + "\nrun ${#a[@]}\n");
    EXPECT_THAT(words(script), ElementsAre("run", "${#a[@]}")) << fill;
    EXPECT_THAT(script.commands.back().words.back().open, ElementsAre("${#a[@]}")) << fill;
  }
}

TEST(ShellScriptResult, TheLineThatSubmitsAJobStandsOverItsScript) {
  const std::vector<ShellSource> sources = {
      {"go.sh", "sbatch --nodes=16 --export=ALL,TP=2 job.sh x\n"},
      {"job.sh", "#!/bin/bash\n#SBATCH --nodes=1 --gres=gpu:4\nrun $SLURM_NNODES $TP $1\n"}};
  const ShellScriptResult script = read_shell_scripts(sources);
  EXPECT_THAT(words(script), ElementsAre("run", "16", "2", "x"));
  EXPECT_EQ(script.commands.back().job->devices_per_node, 4);
}

TEST(ShellScriptResult, OtherSchedulersSayHowLargeAJobIs) {
  EXPECT_THAT(words(script_of("#PBS -l select=8:ngpus=4:mpiprocs=4\n"
                              "run $(sort -u $PBS_NODEFILE | wc -l) $(wc -l < $PBS_NODEFILE)\n")),
              ElementsAre("run", "8", "32"));
  EXPECT_EQ(script_of("#BSUB -nnodes 12\nrun --x\n").commands.at(0).job->nodes, 12);
  EXPECT_THAT(words(script_of("#$ -l rt_F=8\nrun $NHOSTS\n")), ElementsAre("run", "8"));
}

TEST(ShellScriptResult, CountsOfNoMachineAreNotRead) {
  const ShellScriptResult many =
      script_of("#SBATCH --nodes=2 --gres=gpu:4294967296\nrun $SLURM_GPUS_ON_NODE\n");
  EXPECT_EQ(many.commands.at(0).job->devices_per_node, std::nullopt);
  EXPECT_EQ(script_of("#SBATCH --nodes=9223372036854775807\nrun\n").commands.at(0).job->nodes,
            std::nullopt);
  const std::string large = "#PBS -l select=90000:ngpus=4:mpiprocs=90000\n";
  const ShellScriptResult script = script_of(large + "run $PBS_NUM_NODES $PBS_NODEFILE\n");
  EXPECT_THAT(words(script), ElementsAre("run", "90000", "$PBS_NODEFILE"));
  std::string brackets;
  for (int i = 0; i < 100'000; ++i) brackets += "[1]";
  EXPECT_THAT(words(script_of("#SBATCH --nodes=1\nrun $(scontrol show hostnames a" + brackets +
                              " | wc -l)\n")),
              ElementsAre("run", "1"));
}

TEST(ShellScriptResult, RunsWhatIsEchoedIntoAShell) {
  EXPECT_THAT(words(script_of("C='run --a 1'\necho \"$C\" | tee log | bash\n")),
              ElementsAre("run", "--a", "1"));
  EXPECT_THAT(words(script_of("J=$(cat <<E\ncd /x\nrun --b 2\nE\n)\n"
                              "echo \"$J\" | kubectl exec -i pod -- /bin/bash\n")),
              ElementsAre("run", "--b", "2"));
}

std::string script_refusal(const std::string& text) {
  try {
    script_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ShellScriptResult, RefusesWhatNeverCloses) {
  for (const char* text :
       {"run 'a", "run \"a", "A=(1 2\nrun", "run ${A", "run $(a", "if a; then b", "case a in b) c",
        "while a; do b", "f() {", "[[ a == b", "a `b", "for x"}) {
    EXPECT_THAT(script_refusal(text), HasSubstr("script:1: ")) << text;
  }
  EXPECT_THAT(script_refusal("a\nb\n)\n"),
              HasSubstr("script:3: ')' is not allowed here by a shell"));
  EXPECT_THAT(script_refusal("case a in\nb\n"),
              HasSubstr("script:2: the line ends in the middle of a command"));
}

TEST(ShellScriptResult, DoesNotGrowWithoutBound) {
  std::string text = "A=(1 2)\n";
  for (int i = 0; i < 60; ++i) text += "A+=(${A[@]} ${A[@]})\n";
  EXPECT_THAT(script_refusal(text), HasSubstr("more than 100000 words"));
  text = "A=12345678\n";
  for (int i = 0; i < 100; ++i) text += "A=$A$A\n";
  EXPECT_THAT(script_refusal(text), HasSubstr("grows beyond 16 MiB"));
  text.clear();
  for (int i = 0; i < 10'000; ++i) text += "foo && ";
  EXPECT_THAT(script_refusal(text + "A=1"),
              HasSubstr("conditions only a run decides: more than 16 MiB"));
  EXPECT_THAT(script_refusal("while [ 1 = 1 ]; do A=1; done"), HasSubstr("more than 100000 "));
  EXPECT_EQ(script_refusal("while true; do sleep 1; done"), "");
  EXPECT_THAT(script_refusal("f() { f; }\nf"), HasSubstr("deep"));
  EXPECT_THAT(script_refusal("bash script"), HasSubstr("runs itself without end"));
  EXPECT_THAT(script_refusal(". script"), HasSubstr("runs itself without end"));
  for (const std::string nested : {"( ", "if ", "! ", "{ ", "f() "}) {
    std::string deep;
    for (int i = 0; i < 10'000; ++i) deep += nested;
    EXPECT_THAT(script_refusal(deep), HasSubstr("deep")) << nested;
  }
  EXPECT_THAT(script_refusal("A=" + std::string(50'000, '"') + "$(" + std::string(50'000, '(')),
              HasSubstr("never closes"));
  text = "A0=1\n";
  for (int i = 1; i < 60; ++i) {
    text += "A" + std::to_string(i) + "=A" + std::to_string(i - 1) + "+A" + std::to_string(i - 1) +
            "\n";
  }
  EXPECT_EQ(script_refusal(text + "run $((A59))\n"), "");
  std::string letters = "A=" + std::string(500, 'a') + "\n";
  for (int i = 0; i < 1'000; ++i) letters += "B=${A//*b/}\n";
  EXPECT_THAT(script_refusal(letters), HasSubstr("too long"));
  std::string functions = "f() {\n";
  for (int i = 0; i < 400; ++i) functions += ":\n";
  functions += "}\ng() {\n";
  for (int i = 0; i < 400; ++i) functions += "f\n";
  functions += "}\nh() {\n";
  for (int i = 0; i < 400; ++i) functions += "g\n";
  EXPECT_THAT(script_refusal(functions + "}\nif $X; then h; fi\n"), HasSubstr("too long"));
  std::string shells;
  for (int i = 0; i < 1'000; ++i) shells += "export v" + std::to_string(i) + "=1\n";
  for (int i = 0; i < 1'000; ++i) shells += "bash -c :\n";
  EXPECT_THAT(script_refusal(shells), HasSubstr("more than 100000 words"));
  std::string chain;
  for (int i = 0; i < 20'000; ++i) chain += "true && ";
  EXPECT_EQ(script_refusal(chain + "true\n"), "");
  std::string many;
  for (int i = 0; i < 60'000; ++i) many += "a;";
  EXPECT_THAT(script_refusal(many), HasSubstr("more than 50000 commands"));
  EXPECT_THAT(script_refusal(std::string((1 << 20) + 1, ' ')), HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(script_refusal(std::string("a\nb\0c", 5)),
              HasSubstr("script:2: contains a control character"));
}

/// Wherever a script is cut off, it is read or refused.
TEST(ShellScriptResult, EachBeginningOfAScriptIsReadOrRefused) {
  const std::string_view all =
      "A=(1 'b c' \"$X\") B[2]+=4; declare -A M=([a]=1)\nf() { local y=${1:-2}; case $y in\n"
      "  a|b*) A+=($((y ** 2 ? 1 : 0x1F))) ;; *) return;; esac; }\nif [[ ! $A =~ ^[0-9]+$ && (1 < "
      "2)"
      " ]] || (( A++ > 3 )); then f \"${A[@]:1}\" `date` $'\\n' <(ls); elif test -f x; then\n"
      "for ((i = 0; i < 3; i++)); do eval \"run --x \\$i ${A//b/c} ${B%%*.} ${!M[@]} ${#A}\"; "
      "done\n"
      "fi\ncat <<-EOF | bash -s\n\t$A\n\tEOF\nwhile read -r l; do x=$l; done < <(ls) 2>&1 &\n"
      "C=1 srun -N 2 bash -c 'run {1..3} {a,b}' >> log\nlet x=3 y+=1; until false; do break; "
      "done\n";
  for (std::size_t size = 0; size <= all.size(); ++size) {
    for (const std::string_view part : {all.substr(0, size), all.substr(all.size() - size)}) {
      try {
        script_of(part);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("script:")) << part;
      }
    }
  }
}

TEST(ShellScriptResult, ReadsTheWordsOfAKnownLine) {
  EXPECT_THAT(words("IFS=':' read -r A B C <<< \"x:2:3:4\"\nrun $A $B $C\n"),
              ElementsAre("run", "x", "2", "3:4"));
  EXPECT_THAT(words("read -r A B <<< \"  x   y z \"\nrun $A \"$B\"\n"),
              ElementsAre("run", "x", "y z "));
  EXPECT_THAT(words("read -r -a ALL <<< \"x y z\"\nrun ${ALL[2]} ${#ALL[@]}\n"),
              ElementsAre("run", "z", "3"));
  EXPECT_THAT(words("for e in a:1 b:2; do IFS=: read -r N V <<< \"$e\"; run $N $V; done\n"),
              ElementsAre("run", "b", "2"));
}

TEST(ShellScriptResult, AWrittenFileBehindAnOptionIsNoScript) {
  EXPECT_THAT(words("H=/tmp/hosts\necho \"a slots=8\" > $H\nrun --hostfile $H --x 1\n"),
              ElementsAre("run", "--hostfile", "/tmp/hosts", "--x", "1"));
}

TEST(ShellScriptResult, StartsWithinASubstitutionAreStarted) {
  const ShellScriptResult script = script_of("job=$(sbatch --parsable --nodes=2 --wrap x)\n");
  ASSERT_EQ(script.commands.size(), 1U);
  EXPECT_EQ(script.commands.front().words.front().text, "sbatch");
}

TEST(ShellScriptResult, ACommandThatAProgramIsToldIsReadToo) {
  EXPECT_THAT(words("A=1\ngcloud ssh --zone z --command=\"cd x\nrun $A\"\n"),
              ElementsAre("run", "1"));
  EXPECT_THAT(words("docker run -e N=4 image bash -c 'run $N'\n"), ElementsAre("run", "4"));
}

TEST(ShellScriptResult, OneThatEndsForWantOfArgumentsIsStartedWithThem) {
  EXPECT_THAT(words("if [ \"$#\" -lt 2 ]; then echo usage; exit 1; fi\nN=$1\nshift 2\nrun $N\n"),
              ElementsAre("run", "$1"));
  // A loop over arguments has none to go through.
  EXPECT_THAT(words("while [[ $# -ge 1 ]]; do A=$1; shift; done\nrun ${A:-none}\n"),
              ElementsAre("run", "none"));
}

TEST(ShellScriptResult, ASubstitutionPrintsWhatAKnownTestLeadsTo) {
  EXPECT_THAT(words("A=0\nrun $([ \"$A\" != 1 ] && echo \"--x --y\") $([ $A = 1 ] && echo --z)\n"),
              ElementsAre("run", "--x", "--y"));
  EXPECT_THAT(words("A=2\nrun $([ $A = 1 ] || echo --x) $([[ $A == 2 ]] && echo b || echo c)\n"),
              ElementsAre("run", "--x", "b"));
  EXPECT_THAT(words("A=2\nrun $(if [ $A = 1 ]; then echo one; else echo more; fi)\n"),
              ElementsAre("run", "more"));
  EXPECT_THAT(words("run $([ -f /etc/hosts.x ] && hostname)\n").size(), 2);
}

TEST(ShellScriptResult, TheFoundPathOfALauncherIsItsName) {
  EXPECT_THAT(words("D=${D:-$(command -v deepspeed)}\nrun \"$D\" $(which torchrun)\n"),
              ElementsAre("run", "deepspeed", "torchrun"));
  EXPECT_THAT(words("run $(which nvcc)\n").back(), "$(which nvcc)");
  EXPECT_THAT(words("run $(echo --tensor 2) $(echo -n x)\n"),
              ElementsAre("run", "--tensor", "2", "x"));
}

TEST(ShellScriptResult, ASequenceMayHaveSteps) {
  EXPECT_THAT(words("run $(seq 16 8 40)\n"), ElementsAre("run", "16", "24", "32", "40"));
  EXPECT_THAT(words("run $(seq 1 0 40)\n").size(), 2);
}

/// Returns the words of the last command named `run` that two scripts start, of which the first one
/// is called.
std::vector<std::string> words_of_two(std::string_view first, const std::string& name,
                                      std::string_view second) {
  const std::vector<ShellSource> sources = {{"script", first}, {name, second}};
  return words(read_shell_scripts(sources, {}));
}

TEST(ShellScriptResult, ACopyOfAScriptIsTheScript) {
  EXPECT_THAT(
      words_of_two("cp train.sh /app/copy.sh\ncd /app\nA=2 bash copy.sh\n", "train.sh", "run $A\n"),
      ElementsAre("run", "2"));
  const ShellScriptResult script = script_of("sed 's/a/b/' base.yaml > \"$D/made.yaml\"\n");
  ASSERT_TRUE(script.copies.contains("made.yaml"));
  EXPECT_EQ(script.copies.at("made.yaml").source, "base.yaml");
  EXPECT_EQ(script.copies.at("made.yaml").program, "sed");
}

TEST(ShellScriptResult, AWrittenScriptMayHaveAnOpenName) {
  EXPECT_THAT(
      words("F=job_${SLURM_JOB_ID}.sh\ncat > /tmp/$F <<EOF\nrun a\nEOF\nsrun bash /tmp/$F\n"),
      ElementsAre("run", "a"));
}

TEST(ShellScriptResult, ALoopThatWaitsForAProgramEnds) {
  EXPECT_THAT(words("A=0\nwhile [ $A -lt 1 ]; do\n  if ! ps -p $P > /dev/null; then A=0; fi\ndone\n"
                    "run $A\n"),
              ElementsAre("run", "0"));
}

TEST(ShellScriptResult, SrunOutsideOfAJobMakesOne) {
  const std::vector<ShellSource> sources = {
      {"submit.sh", "srun --nodes 2 --gpus-per-node 4 bash -c \"./train.sh\" &\n"},
      {"train.sh", "run $SLURM_NNODES\n"}};
  const ShellScriptResult script = read_shell_scripts(sources, {});
  EXPECT_THAT(words(script), ElementsAre("run", "2"));
  EXPECT_EQ(script.commands.back().job->nodes, 2);
}

TEST(ShellScriptResult, AGivenJobFileIsStartedByItsName) {
  for (const char* line : {"kubectl apply -f k8s/job.yaml", "envsubst < k8s/job.yaml > /tmp/x"}) {
    EXPECT_THAT(words_of_two(std::string("export A=3\n") + line + "\n", "job.yaml",
                             "#!/bin/bash\nrun $A\n"),
                ElementsAre("run", "3"))
        << line;
  }
}

}  // namespace
}  // namespace stepwright::launch_scripts
