// Twelve hangs of four real ranks over Gloo (make_fixtures/hangs.py), diagnosed from all files that
// each left, and from its log alone.
#include <gmock/gmock.h>

#include <filesystem>

#include "stepwright/diagnose/diagnose.h"

namespace stepwright::diagnose {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Hang {
  std::string name;
  DiagnosedFaultKind kind;
  std::vector<std::int64_t> ranks;
  std::string what;  ///< Part of the finding's sentence.
};

Diagnosis diagnosed(const std::string& hang, bool log_alone) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/diagnose/data/" + hang)) {
    const std::string path = entry.path().string();
    if (!log_alone || path.ends_with("log.txt")) paths.push_back(path);
  }
  std::ranges::sort(paths);
  std::vector<logs::FileByteReader> files;
  for (const std::string& path : paths) files.emplace_back(std::filesystem::path(path));
  return diagnose_files(files);
}

class Catalogue : public ::testing::TestWithParam<Hang> {};

/// Prints the name of a hang when a test fails.
void PrintTo(const Hang& hang, std::ostream* out) { *out << hang.name; }

TEST_P(Catalogue, IsDiagnosedFromAllFiles) {
  const Hang& hang = GetParam();
  const Diagnosis found = diagnosed(hang.name, false);
  ASSERT_FALSE(found.findings.empty());
  const FaultFinding& first = found.findings.front();
  EXPECT_EQ(name_of(kFindingKindNames, first.kind), name_of(kFindingKindNames, hang.kind))
      << first.what;
  EXPECT_EQ(first.ranks, hang.ranks) << first.what;
  EXPECT_THAT(first.what, HasSubstr(hang.what));
  EXPECT_FALSE(first.evidence.empty());
  EXPECT_FALSE(first.causes.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Hangs, Catalogue,
    ::testing::Values(
        Hang{"wrong_size", DiagnosedFaultKind::kMismatch, {2}, "another size"},
        Hang{"skipped_call", DiagnosedFaultKind::kMismatch, {1}, "all_gather"},
        Hang{"killed_rank", DiagnosedFaultKind::kMissingRank, {3}, "SIGKILL"},
        Hang{"stopped_rank", DiagnosedFaultKind::kMissingRank, {2}, "did not come to call 4"},
        Hang{"order_of_groups", DiagnosedFaultKind::kOrder, {0, 1, 2, 3}, "different groups"},
        Hang{"exception", DiagnosedFaultKind::kMissingRank, {1}, "shard 17 is damaged"},
        Hang{"uneven_data", DiagnosedFaultKind::kMismatch, {3}, "barrier"},
        Hang{"missing_new_group", DiagnosedFaultKind::kStall, {1, 2, 3}, "in no call"},
        Hang{"uneven_micro_batches", DiagnosedFaultKind::kMismatch, {1, 3}, "recv"},
        Hang{"evaluation", DiagnosedFaultKind::kMismatch, {0}, "all_gather"},
        Hang{"idle_expert", DiagnosedFaultKind::kMismatch, {1}, "another size"},
        Hang{"waiting_checkpoint", DiagnosedFaultKind::kStall, {0}, "in no call"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace stepwright::diagnose
