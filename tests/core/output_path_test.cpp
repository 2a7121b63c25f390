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

/// Why a path cannot be written; empty when it can be.
std::string reason_not(const fs::path& path) {
  try {
    check_writable(path);
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
            folder.path().string() + ": cannot be written: it is a directory");
  EXPECT_THAT(reason_not(folder / "none" / "new"), testing::HasSubstr("No such file"));
  EXPECT_THAT(reason_not(folder / "file" / "new"), testing::HasSubstr("Not a directory"));
  EXPECT_FALSE(fs::exists(folder / "new"));
}

}  // namespace
}  // namespace stepwright
