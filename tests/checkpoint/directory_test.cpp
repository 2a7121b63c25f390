#include "stepwright/checkpoint/directory.h"

#include <gmock/gmock.h>

#include <optional>

#include "stepwright/checkpoint/convert.h"
#include "stepwright/checkpoint/shards.h"
#include "stepwright/checkpoint/verify.h"
#include "tests/checkpoint/refusal.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/folder.h"

namespace stepwright::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Directory, TheLastCommittedOneIsFound) {
  const Folder folder;
  EXPECT_EQ(checkpoint::last_checkpoint(folder.path()), std::nullopt);
  committed(folder.path(), 9);
  const auto last = committed(folder.path(), 10);
  std::filesystem::create_directories(folder.path() / "step-00000011");
  std::filesystem::create_directories(folder.path() / "step-99x");
  std::filesystem::create_directories(
      checkpoint::uncommitted_checkpoint_directory(folder.path(), 12, "run"));
  EXPECT_EQ(checkpoint::last_checkpoint(folder.path()), last);
  EXPECT_EQ(checkpoint::find_checkpoint(last), last);
  checkpoint::remove_uncommitted_checkpoints(folder.path());
  EXPECT_FALSE(std::filesystem::exists(
      checkpoint::uncommitted_checkpoint_directory(folder.path(), 12, "run")));
  EXPECT_EQ(checkpoint::last_checkpoint(folder.path()), last);
}

TEST(Directory, OneRunWritesAtATime) {
  const Folder folder;
  std::optional<checkpoint::DirectoryLock> lock(std::in_place, folder.path() / "new");
  EXPECT_THAT(refusal_of([&] { const checkpoint::DirectoryLock second(folder.path() / "new"); }),
              HasSubstr("another run writes its checkpoints here"));
  lock.reset();
  EXPECT_EQ(refusal_of([&] { const checkpoint::DirectoryLock second(folder.path() / "new"); }), "");
}

TEST(Shards, AnyPartIsAssembled) {
  const Folder folder;
  checkpoint::CheckpointShardReader reader(committed(folder.path(), 1));
  std::vector<double> values(3);
  const std::vector<checkpoint::StridedShardPiece> pieces{{6, 1, 0, 1}, {1, 2, 0, 1}};
  reader.read_tensor_state(*reader.find("t"), checkpoint::kCheckpointWeightsName, pieces,
                           std::as_writable_bytes(std::span(values)));
  EXPECT_THAT(values, ElementsAre(6, 1, 2));
  EXPECT_EQ(reader.find("other"), nullptr);
}

TEST(Verify, NamesWhatIsDamaged) {
  const Folder folder;
  const auto path = committed(folder.path(), 1);
  EXPECT_THAT(checkpoint::find_checkpoint_defects(path), ElementsAre());
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path / "r1"));
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{20}, size - 1}) {
    flip(path / "r1", at);
    EXPECT_THAT(checkpoint::find_checkpoint_defects(path),
                ElementsAre(HasSubstr("r1: damaged: its checksum is")));
    flip(path / "r1", at);
  }
  std::filesystem::resize_file(path / "r0", static_cast<std::uintmax_t>(size - 3));
  EXPECT_THAT(checkpoint::find_checkpoint_defects(path), ElementsAre(HasSubstr("r0: damaged:")));
  std::filesystem::remove(path / "r0");
  EXPECT_THAT(checkpoint::find_checkpoint_defects(path),
              ElementsAre(HasSubstr("r0: no such file")));
}

TEST(Verify, FilesOfAnotherCheckpointAreDamage) {
  const Folder folder;
  const auto one = committed(folder.path(), 1);
  const auto two = committed(folder.path(), 2);
  std::filesystem::copy_file(one / "r0", two / "r1",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(checkpoint::find_checkpoint_defects(two), ElementsAre(HasSubstr("r1: damaged")));
}

TEST(Convert, WritesWholeTensors) {
  const Folder folder;
  const auto out = folder.path() / "whole";
  checkpoint::convert_checkpoint(committed(folder.path(), 1), out);
  const checkpoint::SafetensorsFile file(out);
  const checkpoint::SafetensorsEntry& whole = file.tensors().at("t");
  EXPECT_THAT(whole.shape, ElementsAre(2, 4));
  const auto* numbers = reinterpret_cast<const double*>(file.bytes_of(whole).data());
  EXPECT_THAT(std::vector<double>(numbers, numbers + 8), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(
      refusal_of([&] { checkpoint::convert_checkpoint(folder.path() / "step-00000001", out); }),
      HasSubstr("exists already"));
}

}  // namespace
}  // namespace stepwright::testing
