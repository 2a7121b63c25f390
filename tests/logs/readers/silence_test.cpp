// Impossible contents of a log are refused or listed as unexplained; nothing is dropped silently.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/logs/equal_groups.h"
#include "stepwright/logs/files/line_reader.h"
#include "tests/logs/fixtures.h"

namespace stepwright::logs {
namespace {

using ::testing::HasSubstr;

/// A text, the name of its file, and the expected refusal.
struct RefusedLog {
  std::string text;
  std::string name;
  std::string said;
};

/// A text, the name of its file, and the numbers of unexplained lines and of calls.
struct UnexplainedLog {
  std::string text;
  std::string name;
  std::int64_t unexplained = 0;
  std::int64_t calls = 0;
};

constexpr std::string_view kPickle(
    "\x80\x02}X\x07\x00\x00\x00"
    "entries]s.",
    18);
constexpr std::string_view kTwice(
    "\x80\x02}(U\x01"
    "aK\x01U\x01"
    "aK\x02u.");

std::string flight(std::string_view field) {
  return fmt::format(
      R"({{"version": "2.4", "entries": [{{"profiling_name": "nccl:all_reduce", {},
      "input_sizes": [[8]], "input_dtypes": ["Float"], "output_sizes": [[8]],
      "output_dtypes": ["Float"], "process_group": ["0", "x"]}}]}})",
      field);
}

std::string deepspeed(std::string_view time) {
  return fmt::format("[Rank 0] comm op: all_reduce | time (ms): {} | msg size: 3.91 KB | algbw\n",
                     time);
}

std::string raw(std::string_view calls) {
  return fmt::format(R"({{"all_reduce": {{"4000": {}}}}})", calls);
}

std::string plugin(int begun, int ended) {
  constexpr std::string_view kEvent =
      R"({{"name": "AllReduce", "cat": "COLL", "ph": "{}", "id": 1, "pid": 1, "ts": {},
      "args": {{"Count": 8, "Datatype": "ncclFloat32", "CommHash": "7", "Rank": 0}}}},)";
  return "[\n" + fmt::format(kEvent, "b", begun) + "\n" + fmt::format(kEvent, "e", ended) + "\n";
}

std::string trace(std::string_view times) {
  return fmt::format(
      R"({{"distributedInfo": {{"rank": 0, "world_size": 2}}, "traceEvents": [
      {{"name": "ncclDevKernel_AllReduce", "cat": "kernel", "ph": "X", {}, "args":
        {{"Collective name": "allreduce", "Process Group Name": "0", "Group size": 2,
          "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float"}}}}]}})",
      times);
}

TEST(Silence, IsBrokenByARefusal) {
  const std::vector<RefusedLog> logs = {
      {std::string(kPickle) + std::string(kPickle), "a.flight.0",
       "byte 19: text after the end of the pickle"},
      {std::string(kTwice), "a.flight.0", "the key \"a\" is given twice"},
      {R"({"version": "2.4", "entries": 5})", "a.json", "'entries' must be a list"},
      {R"({"version": "2.4", "entries": []}{"entries": []})", "a.json", "text after the end"},
      {R"({"entries": [], "version": "2.4", "entries": []})", "a.json",
       "the key 'entries' is given twice"},
      {R"({"version": "2.4", "pg_config": 5, "entries": []})", "a.json", "'pg_config' must be"},
      {R"({"traceEvents": null})", "a.json", "'traceEvents' must be a list"},
      {raw("[1, [1.0]]") + raw("[1, [1.0]]"), "a.json", "text after the end of the document"},
      {R"({"all_reduce": {"4": [1, [1.0]], "4": [1, [1.0]]}})", "a.json", "a key twice"},
      {std::string("\xFF\xFE{\0", 4), "a.json", "is UTF-16: convert it"},
      {std::string("\xFF\xFE\0\0{\0\0\0", 8), "a.json", "is UTF-32: convert it"},
      {"PK\x03\x04...", "a.zip", "is a zip archive"},
      {std::string(R"({"a": ")") + '\0' + R"(", "traceEvents": []})", "a.json",
       "a NUL byte in 'a'"},
      {std::string(17 << 20, '\n') + "x", "a.log", "more than 16 MiB of blanks"},
  };
  for (const RefusedLog& log : logs) {
    try {
      log_of(log.text, log.name);
      ADD_FAILURE() << log.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kInput);
      EXPECT_THAT(error.what(), HasSubstr(log.name));
      EXPECT_THAT(error.what(), HasSubstr(log.said));
    }
  }
}

TEST(Silence, IsBrokenByALineThatIsNotExplained) {
  const std::vector<UnexplainedLog> logs = {
      {flight(R"("duration_ms": 1.5)"), "a.0.json", 0, 1},
      {flight(R"("duration_ms": -1)"), "a.0.json", 1, 0},
      {flight(R"("duration_ms": 1e308)"), "a.0.json", 1, 0},
      {flight(R"("duration_ms": 1, "duration_ms": 2)"), "a.0.json", 1, 0},
      {deepspeed("5.11"), "a.txt", 0, 1},
      {deepspeed("-1"), "a.txt", 1, 0},
      {deepspeed("1e308"), "a.txt", 1, 0},
      {deepspeed("nan"), "a.txt", 1, 0},
      {"[x]\r" + deepspeed("1") + "\r" + deepspeed("2") + "\r", "a.txt", 0, 2},
      {deepspeed("1") +
           "[Rank 0] comm op: all_reduce | time (ms): 1 | msg size: 1 KB | comm op: x\n",
       "a.txt", 1, 1},
      {deepspeed("1") + "comm op: " + std::string(2 * LineReader::kLongest, 'x') + "\n", "a.txt", 2,
       1},
      {raw("[2, [1.0, 2.0], [1.0], [1.0]]"), "a.json", 0, 2},
      {raw("[-1, [1.0], [1.0], [1.0]]"), "a.json", 1, 0},
      {raw("[1000000000000000000, [1.0], [1.0], [1.0]]"), "a.json", 1, 0},
      {raw("[2, [1.0, -2.0], [1.0], [1.0]]"), "a.json", 1, 0},
      {raw("{\"count\": -1}"), "a.json", 1, 0},
      {plugin(10, 15), "a.json", 0, 1},
      {plugin(10, 5), "a.json", 1, 0},
      {plugin(10, 15) + "garbage\n" + plugin(20, 25), "a.json", 1, 2},
      {trace(R"("ts": 1, "dur": 5)"), "a.json", 0, 1},
      {trace(R"("ts": 1, "dur": -5)"), "a.json", 1, 0},
      {trace(R"("ts": 1e300, "dur": 5)"), "a.json", 1, 0},
  };
  for (const UnexplainedLog& one : logs) {
    const CommunicationLog log = log_of(one.text, one.name);
    EXPECT_EQ(log.unexplained(), one.unexplained) << one.text.substr(0, 300);
    EXPECT_EQ(log.calls(), one.calls) << one.text.substr(0, 300);
  }
}

TEST(Silence, ALogMayBeginWithManyBlanks) {
  const std::string blanks(300'000, '\n');
  EXPECT_EQ(log_of(blanks + deepspeed("1"), "a.txt").calls(), 1);
  EXPECT_EQ(log_of(blanks + trace(R"("ts": 1, "dur": 5)"), "a.json").calls(), 1);
}

TEST(Silence, AnEventWithANulByteIsNotExplained) {
  std::string text = trace(R"("ts": 1, "dur": 5)");
  const std::string other = R"({"name": "aten::a_dd", "cat": "cpu_op", "ts": 1, "dur": 1}, )";
  text.insert(text.find('[') + 1, other);
  EXPECT_EQ(log_of(text, "a.json").unexplained(), 0);
  text[text.find('_', text.find("aten::"))] = '\0';
  EXPECT_EQ(log_of(text, "a.json").unexplained(), 1);
}

TEST(Silence, LeavesOutGroupsThatNoJobHas) {
  const std::string text =
      R"({"version": "2.4", "pg_config": {"0": {"name": "0", "ranks": "[0, 9223372036854775807]"}},
      "entries": []})";
  EXPECT_EQ(log_of(text, "a.0.json").sources.front().world, 0);
}

TEST(Groups, OfTheSameRanksAreOne) {
  const CommunicationLog log{.sources = {},
                             .communicators = {{.name = "b", .size = 2, .ranks = {0, 1}},
                                               {.name = "c", .size = 0, .ranks = {}},
                                               {.name = "a", .size = 2, .ranks = {0, 1}},
                                               {.name = "d", .size = 0, .ranks = {}},
                                               {.name = "e", .size = 2, .ranks = {}}},
                             .records = {},
                             .exchanges = {}};
  const std::vector<std::int32_t> numbers = communicator_group_numbers(log);
  EXPECT_EQ(numbers[0], numbers[2]);
  EXPECT_NE(numbers[1], numbers[3]);
  EXPECT_LT(numbers[4], numbers[0]);
}

}  // namespace
}  // namespace stepwright::logs
