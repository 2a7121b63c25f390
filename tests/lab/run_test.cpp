#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>

#include "own_lab.h"
#include "stepwright/core/descriptor.h"
#include "stepwright/core/error.h"

namespace stepwright::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LabRun : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_LAB(); }
  void TearDown() override { EXPECT_THAT(namespaces_made_by(::getpid()), IsEmpty()); }
};

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

std::string content_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the network interfaces of this process.
std::vector<std::string> own_interfaces() {
  std::vector<std::string> names;
  for (const std::string& line : sorted_lines(content_of("/proc/self/net/dev"))) {
    names.push_back(line.substr(0, line.find(':')));
  }
  return names;
}

TEST_F(LabRun, EveryRankIsInItsPlace) {
  const EmulatedCluster lab(small_lab(2, 2));
  const Ran ran = run_shell(lab, "echo $RANK of $WORLD_SIZE in $GROUP_RANK; echo err >&2");
  EXPECT_EQ(ran.result.failure, "");
  EXPECT_THAT(sorted_lines(ran.out), ::testing::ElementsAre("[0] 0 of 4 in 0", "[1] 1 of 4 in 0",
                                                            "[2] 2 of 4 in 1", "[3] 3 of 4 in 1"));
  EXPECT_THAT(sorted_lines(ran.err),
              ::testing::ElementsAre("[0] err", "[1] err", "[2] err", "[3] err"));
}

TEST_F(LabRun, RanksMayRunDifferentPrograms) {
  const EmulatedCluster lab(small_lab(2, 1));
  std::ostringstream out;
  const std::vector<CommandLine> commands{{"echo", "a b"}, {"printf", "no newline"}};
  EXPECT_EQ(lab.run_programs_on_ranks(commands, {.out = out, .err = out}).failure, "");
  EXPECT_THAT(sorted_lines(out.str()), ::testing::ElementsAre("[0] a b", "[1] no newline"));
  EXPECT_THROW(static_cast<void>(lab.run_programs_on_ranks({}, {.out = out, .err = out})), Error);
}

TEST_F(LabRun, AddressesAreThoseOfTheNode) {
  const EmulatedCluster lab(small_lab(2, 2, NicOwner::kRank));
  const Ran ran =
      run_shell(lab,
                "ip -o addr show dev $GLOO_SOCKET_IFNAME | "
                "grep -q \" $STEPWRIGHT_LAB_ADDRESS/24 \" && ls -d /proc/$$ >/dev/null");
  EXPECT_EQ(ran.result.failure, "") << ran.err;
}

TEST_F(LabRun, TouchesNothingOfTheHost) {
  const auto before = own_interfaces();
  const EmulatedCluster lab(small_lab(2, 1));
  EXPECT_EQ(own_interfaces(), before);
  EXPECT_EQ(namespaces_made_by(::getpid()).size(), 3);
}

TEST_F(LabRun, LinesAreNotMixed) {
  const EmulatedCluster lab(small_lab(2, 2));
  const Ran ran = run_shell(
      lab, "i=0; while [ $i -lt 500 ]; do printf $RANK-; printf \"line-$i\\n\"; i=$((i+1)); done");
  EXPECT_EQ(ran.result.failure, "");
  std::vector<std::string> expected;
  for (int rank = 0; rank < 4; ++rank) {
    for (int i = 0; i < 500; ++i) expected.push_back(fmt::format("[{0}] {0}-line-{1}", rank, i));
  }
  std::ranges::sort(expected);
  EXPECT_EQ(sorted_lines(ran.out), expected);
}

TEST_F(LabRun, ARankThatFailsStopsTheOthers) {
  const EmulatedCluster lab(small_lab(2, 2));
  const Ran ran = run_shell(lab, "[ $RANK = 3 ] && exit 7; exec sleep 60");
  EXPECT_EQ(ran.result.failure, "rank 3 on node 1 ended with exit code 7");
  EXPECT_EQ(ran.result.ranks[3].exit_code, 7);
  EXPECT_EQ(ran.result.ranks[0].signal, SIGTERM);
}

TEST_F(LabRun, ARankThatCrashesIsNamed) {
  const EmulatedCluster lab(small_lab(1, 2));
  const Ran ran = run_shell(lab, "[ $RANK = 1 ] && kill -SEGV $$; exec sleep 60");
  EXPECT_EQ(ran.result.failure, "rank 1 on node 0 was ended by SIGSEGV");
}

TEST_F(LabRun, RanksThatDoNotHeedAreKilled) {
  const EmulatedCluster lab(small_lab(1, 2));
  std::ostringstream out;
  const std::string own = own_seconds(61);
  const std::vector<CommandLine> commands(
      2, {"sh", "-c", fmt::format("trap '' TERM; sleep {0}; sleep {0}", own)});
  const RankRunResult result =
      lab.run_programs_on_ranks(commands, {.out = out, .err = out, .timeout_s = 2, .grace_s = 0.3});
  EXPECT_EQ(result.failure, "2 of 2 ranks had not ended after 2 s, rank 0 on node 0 among them");
  EXPECT_EQ(result.ranks[1].signal, SIGKILL);
  EXPECT_EQ(processes_with(own), 0);
}

TEST_F(LabRun, StopsWhenAsked) {
  const EmulatedCluster lab(small_lab(1, 1));
  Pipe ask;
  ASSERT_EQ(::write(ask.write.get(), "!", 1), 1);
  std::ostringstream out;
  const std::vector<CommandLine> commands(1, {"sleep", "60"});
  const RankRunResult result = lab.run_programs_on_ranks(
      commands, {.out = out, .err = out, .timeout_s = 30, .stop_fd = ask.read.get()});
  EXPECT_EQ(result.failure, "interrupted");
}

TEST_F(LabRun, NothingThatRanksStartedStaysBehind) {
  const EmulatedCluster lab(small_lab(1, 2));
  const std::string own = own_seconds(62);
  const Ran ran = run_shell(lab, fmt::format("setsid sleep {0} & sleep {0} & exit 0", own));
  EXPECT_EQ(ran.result.failure, "");
  EXPECT_EQ(processes_with(own), 0);
}

TEST_F(LabRun, AProgramThatIsNotThereIsNamed) {
  const EmulatedCluster lab(small_lab(1, 1));
  const Ran ran = run_everywhere(lab, {"no-such-program"});
  EXPECT_THAT(ran.err, HasSubstr("[0] stepwright lab: cannot run no-such-program: No such file"));
  EXPECT_EQ(ran.result.failure, "rank 0 on node 0 ended with exit code 127");
}

TEST_F(LabRun, StopsWhenNobodyReadsTheOutput) {
  const EmulatedCluster lab(small_lab(1, 1));
  std::ofstream full("/dev/full");
  const std::vector<CommandLine> commands(1, {"yes"});
  const RankRunResult result =
      lab.run_programs_on_ranks(commands, {.out = full, .err = full, .timeout_s = 30});
  EXPECT_EQ(result.failure, "the output of the ranks cannot be written");
}

/// Returns a command in which rank 0 listens at its address and sends a word to rank 1.
CommandLine telling(const std::string& word) {
  const std::string program =
      "import os, socket, time\n"
      "address = (os.environ['MASTER_ADDR'], 99)\n"
      "if os.environ['RANK'] == '0':\n"
      "  server = socket.create_server(address)\n"
      "  server.settimeout(20)\n"
      "  server.accept()[0].sendall(b'" +
      word +
      "')\n"
      "else:\n"
      "  while True:\n"
      "    try:\n"
      "      print(socket.create_connection(address).recv(9))\n"
      "      break\n"
      "    except ConnectionRefusedError:\n"
      "      time.sleep(0.1)\n";
  return {"python3", "-c", program};
}

TEST_F(LabRun, LabsDoNotMeet) {
  const EmulatedCluster one(small_lab(2, 1));
  const EmulatedCluster two(small_lab(2, 1));
  EXPECT_NE(one.namespace_of_node(0), two.namespace_of_node(0));
  std::future<Ran> beside =
      std::async(std::launch::async, [&] { return run_everywhere(one, telling("one")); });
  const Ran ran = run_everywhere(two, telling("two"));
  EXPECT_EQ(ran.out, "[1] b'two'\n") << ran.err;
  EXPECT_EQ(beside.get().out, "[1] b'one'\n");
}

}  // namespace
}  // namespace stepwright::lab
