// Checkpoints whose files are cut, changed, missing or of the wrong type are detected and never
// used.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <random>

#include "stepwright/checkpoint/convert.h"
#include "stepwright/checkpoint/directory.h"
#include "stepwright/checkpoint/shards.h"
#include "stepwright/checkpoint/verify.h"
#include "tests/checkpoint/refusal.h"
#include "tests/checkpoint/small_checkpoint.h"
#include "tests/folder.h"

namespace stepwright::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kFiles[] = {"checkpoint.json", "r0", "r1"};

/// Expects both readers to detect that a checkpoint was changed, and to name the file.
void expect_damage(const std::filesystem::path& path, const std::string& file) {
  EXPECT_THAT(checkpoint::find_checkpoint_defects(path), ElementsAre(HasSubstr(file + ": ")));
  const std::filesystem::path out = path / "whole";
  EXPECT_THAT(refusal_of([&] { checkpoint::convert_checkpoint(path, out); }),
              HasSubstr(file + ": "));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Damage, FilesThatAreCutAnywhereAreFound) {
  std::mt19937 random(1);
  const Folder folder;
  const auto path = committed(folder.path(), 1);
  for (const char* file : kFiles) {
    const auto whole = folder.path() / "whole";
    std::filesystem::rename(path / file, whole);
    const auto size = std::filesystem::file_size(whole) - 1;  // an index needs no end of its line
    for (int i = 0; i < 20; ++i) {
      std::filesystem::copy_file(whole, path / file,
                                 std::filesystem::copy_options::overwrite_existing);
      const auto left = random() % size;
      std::filesystem::resize_file(path / file, left);
      SCOPED_TRACE(left);
      expect_damage(path, file);
    }
    std::filesystem::rename(whole, path / file);
  }
  EXPECT_THAT(checkpoint::find_checkpoint_defects(path), ElementsAre());
}

TEST(Damage, AnyBitOfAHeaderThatChangedIsFound) {
  std::mt19937 random(2);
  const Folder folder;
  const auto path = committed(folder.path(), 1);
  for (const char* file : kFiles) {
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path / file)) - 1;
    for (int i = 0; i < 60; ++i) {
      const auto at = static_cast<std::int64_t>(random()) % size;
      const auto bit = static_cast<int>(random() % 8);
      SCOPED_TRACE(std::to_string(at) + "." + std::to_string(bit));
      flip(path / file, at, bit);
      expect_damage(path, file);
      flip(path / file, at, bit);
    }
  }
  EXPECT_THAT(checkpoint::find_checkpoint_defects(path), ElementsAre());
}

/// The header of a single file (`--weights-from`) is read before any checksum.
TEST(Damage, AHeaderWithAChangedBitIsReadOrRefused) {
  const Folder folder;
  const auto path = committed(folder.path(), 1) / "r0";
  const auto header = static_cast<std::int64_t>(std::filesystem::file_size(path)) - 32;
  int refused = 0;
  for (std::int64_t at = 0; at < header; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      flip(path, at, bit);
      const std::string said = refusal_of([&] {
        const checkpoint::SafetensorsFile file(path);
        for (const auto& [name, tensor] : file.tensors()) (void)file.bytes_of(tensor);
      });
      flip(path, at, bit);
      if (said.empty()) continue;
      ++refused;
      EXPECT_THAT(said, HasSubstr("r0: "));
    }
  }
  EXPECT_GT(refused, 4 * header);
}

/// A reader of a pipe without a writer would wait for ever.
TEST(Damage, WhatIsNoFileIsNamed) {
  const Folder folder;
  const auto path = committed(folder.path(), 1);
  std::filesystem::remove(path / "r1");
  expect_damage(path, "r1");
  ASSERT_EQ(::mkfifo((path / "r1").c_str(), 0600), 0);
  expect_damage(path, "r1");
  EXPECT_THAT(checkpoint::find_checkpoint_defects(path),
              ElementsAre(HasSubstr("is no plain file")));
  std::filesystem::remove(path / "r1");
  std::filesystem::create_directory(path / "r1");
  expect_damage(path, "r1");
  std::filesystem::remove(path / "r1");
  std::filesystem::create_symlink("r1", path / "r1");
  expect_damage(path, "r1");
}

TEST(Damage, ALoopOfLinksIsNoCheckpoint) {
  const Folder folder;
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  EXPECT_THAT(refusal_of([&] { (void)checkpoint::find_checkpoint(folder.path() / "loop"); }),
              HasSubstr("cannot be read: Too many levels of symbolic links"));
}

}  // namespace
}  // namespace stepwright::testing
