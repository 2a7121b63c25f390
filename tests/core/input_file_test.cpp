#include "stepwright/core/input_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "stepwright/core/csv.h"
#include "stepwright/core/document.h"
#include "stepwright/core/mapped_file.h"
#include "tests/core/refusal.h"
#include "tests/folder.h"

namespace stepwright {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::size_t kMost = 1000;

/// Returns the path of a named pipe made in a folder.
fs::path pipe_in(const Folder& folder) {
  const fs::path path = folder / "pipe";
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  return path;
}

/// Starts a thread that opens a pipe after a while, writes, and closes it after a while.
std::jthread writer(const fs::path& pipe, std::string text, milliseconds before,
                    milliseconds between) {
  return std::jthread([=] {
    std::this_thread::sleep_for(before);
    const FileDescriptor file(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
    for (const char c : text) {
      std::this_thread::sleep_for(between);
      EXPECT_EQ(::write(file.get(), &c, 1), 1);
    }
  });
}

TEST(InputFileReader, ReadsAFileToItsEnd) {
  const Folder folder;
  std::ofstream(folder / "file") << std::string(kMost, 'x');
  EXPECT_EQ(read_file_or_standard_input(folder / "file", kMost), std::string(kMost, 'x'));
  EXPECT_THAT(read_file_or_standard_input("/proc/self/stat", kMost),
              HasSubstr(" R "));  // has no size
}

TEST(InputFileReader, OneSentenceSaysWhyEachOtherCannotBeRead) {
  const Folder folder;
  std::ofstream(folder / "large") << std::string(kMost + 1, 'x');
  fs::create_symlink("loop", folder / "loop");
  fs::create_symlink("nothing", folder / "dangling");
  const auto said = [&](const fs::path& path) {
    return refusal([&] { (void)read_file_or_standard_input(path, kMost); });
  };
  const auto at = [&](const char* name) { return (folder / name).string(); };
  EXPECT_EQ(said(at("none")), at("none") + ": no such file");
  EXPECT_EQ(said(at("dangling")), at("dangling") + ": no such file");
  EXPECT_EQ(said(at("large/none")), at("large/none") + ": no such file");
  EXPECT_EQ(said(at("loop")), at("loop") + ": cannot be read: Too many levels of symbolic links");
  EXPECT_EQ(said(folder.path()), folder.path().string() + ": is a directory, not a file");
  EXPECT_EQ(said(at("large")), at("large") + ": larger than 1000 bytes");
  EXPECT_EQ(said("/dev/zero"), "/dev/zero: is a device, not a file");
  EXPECT_EQ(said("/dev/random"), "/dev/random: is a device, not a file");
  EXPECT_EQ(said("/proc/self/mem"),
            "/proc/self/mem: cannot be read to its end: Input/output error");
  std::ofstream(folder / "sparse");
  fs::resize_file(folder / "sparse", (1U << 20U) + 1);
  EXPECT_EQ(
      refusal([&] { (void)read_file_or_standard_input(folder / "sparse", std::size_t{1} << 20U); }),
      at("sparse") + ": larger than 1 MiB");
}

TEST(InputFileReader, ADeviceIsReadWhereItIsStandardInput) {
  const FileDescriptor kept(::dup(STDIN_FILENO));
  const FileDescriptor zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::dup2(zeros.get(), STDIN_FILENO), STDIN_FILENO);
  const std::string said = refusal([] { (void)read_file_or_standard_input("/dev/stdin", kMost); });
  const std::string other = refusal([] { (void)read_file_or_standard_input("/dev/null", kMost); });
  ASSERT_EQ(::dup2(kept.get(), STDIN_FILENO), STDIN_FILENO);
  EXPECT_EQ(said, "/dev/stdin: larger than 1000 bytes");
  EXPECT_EQ(other, "/dev/null: is a device, not a file");
}

TEST(InputFileReader, AStreamOfTheKernelIsNotWaitedFor) {
  const fs::path messages = "/proc/kmsg";
  if (::access(messages.c_str(), R_OK) != 0)
    GTEST_SKIP() << "only root reads the kernel's messages (sudo make test)";
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THROW((void)read_file_or_standard_input(messages, std::size_t{64} << 20U), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
}

TEST(InputFileReader, EveryReaderSaysTheSame) {
  const Folder folder;
  fs::create_symlink("loop", folder / "loop");
  const std::string loop = (folder / "loop").string();
  const std::string wanted = loop + ": cannot be read: Too many levels of symbolic links";
  EXPECT_EQ(refusal([&] { (void)YamlJsonDocument::load(loop); }), wanted);
  EXPECT_EQ(refusal([&] { (void)load_csv(loop); }), wanted);
  EXPECT_EQ(refusal([&] { const MappedFile file(loop); }), wanted);
  EXPECT_EQ(refusal([&] { (void)path_exists(loop); }), wanted);
  EXPECT_EQ(refusal([&] { (void)is_folder(loop + "/inside"); }),
            loop + "/inside: cannot be read: Too many levels of symbolic links");
}

TEST(InputFileReader, ATableWithoutAnEndUsesNoMoreMemoryThanItsLimit) {
  rusage before{};
  rusage after{};
  ::getrusage(RUSAGE_SELF, &before);
  const Folder folder;
  const fs::path pipe = pipe_in(folder);
  const std::jthread endless([&] {
    ::signal(SIGPIPE, SIG_IGN);
    const FileDescriptor file(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
    const std::string block(1U << 16U, '0');
    while (::write(file.get(), block.data(), block.size()) > 0) {
    }
  });
  EXPECT_EQ(refusal([&] { (void)load_csv(pipe); }), pipe.string() + ": larger than 256 MiB");
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 900 << 10);  // KiB; a text grows by doubling
}

TEST(InputFileReader, APipeThatNobodyWritesIsRefused) {
  const Folder folder;
  const fs::path pipe = pipe_in(folder);
  const auto read = [&] {
    InputFileReader(pipe, InputFileReader::FileKindToOpen::kAny, milliseconds(50))
        .read_rest_of_file(kMost);
  };
  EXPECT_EQ(refusal(read), pipe.string() + ": is a pipe into which no program wrote within 0.05 s");
  EXPECT_EQ(refusal([&] { const MappedFile file(pipe); }), pipe.string() + ": is no plain file");
  EXPECT_FALSE(read_regular_file(pipe, kMost));
}

TEST(InputFileReader, APipeWithAWriterIsWaitedFor) {
  const Folder folder;
  const fs::path pipe = pipe_in(folder);
  const auto text = [&](milliseconds wait) {
    return InputFileReader(pipe, InputFileReader::FileKindToOpen::kAny, wait)
        .read_rest_of_file(kMost);
  };
  {
    const auto late = writer(pipe, "late", milliseconds(50), milliseconds(0));
    EXPECT_EQ(text(milliseconds(5000)), "late");
  }
  {
    const auto slow = writer(pipe, "slow", milliseconds(0), milliseconds(60));
    EXPECT_EQ(text(milliseconds(30)), "slow");  // there before the deadline, silent behind it
  }
  const auto silent = writer(pipe, "", milliseconds(30), milliseconds(0));
  EXPECT_EQ(text(milliseconds(5000)), "");
}

TEST(InputFileReader, AnUnnamedPipeIsReadWhetherOrNotItsWriterHasEnded) {
  for (const std::string text : {"text", ""}) {
    Pipe pipe;
    const fs::path name = "/proc/self/fd/" + std::to_string(pipe.read.get());
    ASSERT_EQ(::write(pipe.write.get(), text.data(), text.size()), std::ssize(text));
    pipe.write.close();
    EXPECT_EQ(InputFileReader(name).read_rest_of_file(kMost), text);
  }
}

TEST(InputFileReader, APlainFileThatNeedNotBeOneIsNoFailure) {
  const Folder folder;
  std::ofstream(folder / "file") << "#!/bin/sh\ntext";
  EXPECT_EQ(read_regular_file(folder / "file", kMost), "#!/bin/sh\ntext");
  EXPECT_EQ(read_regular_file(folder / "file", 3), std::nullopt);
  EXPECT_EQ(read_first_bytes_of_regular_file(folder / "file", 3), "#!/");
  EXPECT_EQ(read_regular_file("/dev/zero", kMost), std::nullopt);
  EXPECT_EQ(read_regular_file(folder.path(), kMost), std::nullopt);
  EXPECT_TRUE(path_exists(folder / "file"));
  EXPECT_TRUE(is_plain_file(folder / "file"));
  EXPECT_FALSE(path_exists(folder / "none"));
  EXPECT_FALSE(path_exists(folder / std::string(1000, 'n')));
  EXPECT_TRUE(is_folder(folder.path()));
  EXPECT_FALSE(is_plain_file("/dev/null"));
}

}  // namespace
}  // namespace stepwright
