// Dumps of flight recorders and lines of watchdogs, written by hand in the formats of PyTorch.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "stepwright/core/error.h"
#include "stepwright/diagnose/diagnose.h"

namespace stepwright::diagnose {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// An entry of a dump: group, number, operation, elements, state.
struct Entry {
  std::string group = "0";
  int sequence = 1;
  std::string operation = "nccl:all_reduce";
  int elements = 1024;
  bool ended = true;
};

std::string dump(const std::vector<Entry>& entries,
                 const std::string& groups =
                     R"("0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"})") {
  std::string list;
  for (const Entry& entry : entries) {
    list += fmt::format(
        R"({}{{"record_id": {}, "process_group": ["{}", "default_pg"], "collective_seq_id": {},
        "p2p_seq_id": 0, "profiling_name": "{}", "input_sizes": [[{}]], "input_dtypes": ["Float"],
        "output_sizes": [[{}]], "output_dtypes": ["Float"], "state": "{}", "retired": false,
        "frames": [{{"name": "all_reduce", "filename": "/site-packages/torch/distributed.py", "line": 1}},
                   {{"name": "step", "filename": "/home/me/train.py", "line": 41}}]}})",
        list.empty() ? "" : ",", entry.sequence - 1, entry.group, entry.sequence, entry.operation,
        entry.elements, entry.elements, entry.ended ? "completed" : "started");
  }
  return fmt::format(R"({{"version": "2.9", "pg_config": {{{}}}, "entries": [{}]}})", groups, list);
}

Diagnosis diagnosed(const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<logs::FileByteReader> files;
  for (const auto& [name, text] : texts) files.emplace_back(text, name);
  return diagnose_files(files);
}

/// Diagnoses dumps of ranks 0, 1, ...
Diagnosis of_ranks(const std::vector<std::string>& dumps) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (std::size_t rank = 0; rank < dumps.size(); ++rank) {
    texts.emplace_back(fmt::format("flight_rank_{}", rank), dumps[rank]);
  }
  return diagnosed(texts);
}

TEST(Hang, NamesTheRankWhoseSizeDiffers) {
  const auto rank = [](int elements) {
    return dump({{.sequence = 1}, {.sequence = 2, .elements = elements, .ended = false}});
  };
  const Diagnosis found = of_ranks({rank(262144), rank(262144), rank(1025), rank(262144)});
  ASSERT_EQ(found.findings.size(), 1u);
  const FaultFinding& finding = found.findings.front();
  EXPECT_EQ(finding.kind, DiagnosedFaultKind::kMismatch);
  EXPECT_THAT(finding.ranks, ElementsAre(2));
  EXPECT_EQ(finding.where.file, "flight_rank_2");
  EXPECT_EQ(finding.where.line, 2);
  EXPECT_THAT(finding.what, HasSubstr("1025"));
  EXPECT_THAT(finding.what, HasSubstr("262144"));
  EXPECT_THAT(finding.evidence, Contains(HasSubstr("train.py:41 in step")));
}

TEST(Hang, SaysThatARankLeftACallOut) {
  const std::string others = dump({{.sequence = 1},
                                   {.sequence = 2, .elements = 7, .ended = false},
                                   {.sequence = 3, .elements = 9, .ended = false}});
  const Diagnosis found =
      of_ranks({others, dump({{.sequence = 1}, {.sequence = 2, .elements = 9, .ended = false}}),
                others, others});
  ASSERT_FALSE(found.findings.empty());
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(1));
  EXPECT_THAT(found.findings.front().evidence, Contains(HasSubstr("left one call out")));
}

TEST(Hang, ExchangesOfDifferentSizesAreNoMismatch) {
  const auto rank = [](int elements) {
    return dump({{.operation = "nccl:all_to_all", .elements = elements}});
  };
  EXPECT_TRUE(of_ranks({rank(5), rank(6), rank(7), rank(8)}).findings.empty());
}

TEST(Hang, TellsARankWithoutADumpFromOneOutsideOfCalls) {
  const std::string waits = dump({{.sequence = 1}, {.sequence = 2, .ended = false}});
  const Diagnosis silent = of_ranks({waits, waits, waits});
  EXPECT_EQ(silent.findings.front().kind, DiagnosedFaultKind::kMissingRank);
  EXPECT_THAT(silent.findings.front().ranks, ElementsAre(3));
  const Diagnosis outside = of_ranks({waits, waits, waits, dump({{.sequence = 1}})});
  EXPECT_EQ(outside.findings.front().kind, DiagnosedFaultKind::kStall);
  EXPECT_THAT(outside.findings.front().ranks, ElementsAre(3));
}

TEST(Hang, AllInOneCallIsATransferThatDoesNotEnd) {
  const std::string waits = dump({{.sequence = 1}, {.sequence = 2, .ended = false}});
  const Diagnosis found = of_ranks({waits, waits, waits, waits});
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kStall);
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(0, 1, 2, 3));
}

constexpr const char* kTwoGroups =
    R"("1": {"name": "1", "desc": "dp", "ranks": "[0, 1]"}, "2": {"name": "2", "desc": "ep", "ranks": "[0, 1]"})";

TEST(Hang, GroupsInDifferentOrdersAreACircle) {
  const auto rank = [](const std::string& group) {
    return dump({{.group = group, .ended = false}}, kTwoGroups);
  };
  const Diagnosis found = of_ranks({rank("1"), rank("2")});
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kOrder);
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(0, 1));
}

/// Ranks 0 and 1 wait in group 1 for rank 2, which waits in group 2 for rank 3, which is in no
/// call.
TEST(Hang, AGroupThatWaitsForAnotherIsNoFinding) {
  const std::string groups =
      R"("1": {"name": "1", "desc": "tp", "ranks": "[0, 1, 2]"}, "2": {"name": "2", "desc": "pp", "ranks": "[2, 3]"})";
  const std::string first = dump({{.group = "1", .ended = false}}, groups);
  const Diagnosis found =
      of_ranks({first, first, dump({{.group = "2", .ended = false}}, groups), dump({}, groups)});
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(3));
  EXPECT_THAT(found.findings.front().what, HasSubstr("group 2"));
}

TEST(Hang, AMessageThatNobodySends) {
  const std::string receives = dump({{.operation = "nccl:recv 1<-0", .ended = false}});
  const std::string sent = dump({{.operation = "nccl:send 0->1", .ended = true}});
  const Diagnosis found = of_ranks({sent, receives});
  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kMismatch);
  EXPECT_THAT(found.findings.front().what, HasSubstr("Rank 1 waits for a message of rank 0"));
}

TEST(Hang, ADumpWithoutARankInItsNameIsNamed) {
  const Diagnosis found =
      diagnosed({{"flight_rank_0", dump({{.ended = false}})}, {"dump.json", dump({})}});
  EXPECT_THAT(found.notes, Contains(HasSubstr("does not contain its rank")));
}

TEST(Hang, ADamagedSnapshotOfMemoryIsNamed) {
  const Diagnosis found = diagnosed(
      {{"job.log", "step 1"}, {"memory.pickle", "\x80\x04\x95}\x94(\x8c\x08segments\x94]"}});
  EXPECT_THAT(found.notes, Contains(HasSubstr("Not read: memory.pickle")));
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A folder as users send it: complete and cut dumps, a picture, an empty file, a log that ends in
/// the middle of a line. The diagnosis reports what can be known and names the files that could not
/// be read.
TEST(Hang, AMixedFolderSaysWhatCanBeKnown) {
  const std::string folder = "tests/diagnose/data/skipped_call/";
  const std::string cut = content_of(folder + "flight.3");
  const std::string log = content_of(folder + "log.txt");
  const Diagnosis found = diagnosed({{"flight.0", content_of(folder + "flight.0")},
                                     {"flight.1", content_of(folder + "flight.1")},
                                     {"flight.2", content_of(folder + "flight.2")},
                                     {"flight.3", cut.substr(0, cut.size() / 2)},
                                     {"curve.png", "\x89PNG\r\n\x1a\n"},
                                     {"empty.log", ""},
                                     {"log.txt", log.substr(0, log.size() * 2 / 3)}});
  ASSERT_FALSE(found.findings.empty());
  EXPECT_EQ(found.findings.front().kind, DiagnosedFaultKind::kMismatch);
  EXPECT_THAT(found.findings.front().ranks, ElementsAre(1));
  for (const char* name : {"flight.3", "curve.png", "empty.log"})
    EXPECT_THAT(found.notes, Contains(HasSubstr(std::string("Not read: ") + name)));
}

TEST(Hang, NothingReadIsAFailure) {
  EXPECT_THROW(diagnosed({{"a", ""}, {"b.0", "{\"entries\": ["}}), Error);
}

}  // namespace
}  // namespace stepwright::diagnose
