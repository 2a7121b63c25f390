#include "stepwright/core/output_path.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "stepwright/core/error.h"
#include "tests/folder.h"

namespace stepwright {
namespace {

namespace fs = std::filesystem;

/// Returns the reason why a path cannot be written; empty: it can.
std::string reason_not(const fs::path& path) {
  try {
    check_output_file_writable(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
    return error.what();
  }
  return "";
}

TEST(OutputPath, IsWritableOrSaysWhyNot) {
  const Folder folder;
  std::ofstream(folder / "file") << "text";
  EXPECT_EQ(reason_not(folder / "new"), "");
  EXPECT_EQ(reason_not(folder / "file"), "");
  EXPECT_EQ(reason_not("/dev/null"), "");
  EXPECT_EQ(reason_not(folder.path()),
            folder.path().string() + ": cannot be written: it is a directory; name a file in it");
  EXPECT_THAT(reason_not(folder / "none" / "new"),
              testing::HasSubstr("No such file or directory; make its folder first"));
  EXPECT_THAT(reason_not(folder / "file" / "new"), testing::HasSubstr("Not a directory"));
  EXPECT_FALSE(fs::exists(folder / "new"));
}

TEST(OutputPath, TellsWhichOutputsAreOneFile) {
  const Folder folder;
  fs::create_directory(folder / "inner");
  fs::create_symlink("new", folder / "link");
  fs::create_symlink("inner", folder / "short");
  std::ofstream(folder / "old") << "text";
  EXPECT_TRUE(is_same_output_file(folder / "new", folder / "inner/../new"));
  EXPECT_TRUE(is_same_output_file(folder / "new", folder / "link"));
  EXPECT_TRUE(is_same_output_file(folder / "inner/new", folder / "short/new"));
  EXPECT_TRUE(is_same_output_file(folder / "old", folder / "./old"));
  EXPECT_FALSE(is_same_output_file(folder / "new", folder / "old"));
  EXPECT_FALSE(is_same_output_file(folder / "new", folder / "inner/new"));
  EXPECT_FALSE(is_same_output_file("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace stepwright
