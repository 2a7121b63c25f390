#include "stepwright/core/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <ostream>
#include <thread>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/output_path.h"
#include "stepwright/core/unfinished_path.h"
#include "tests/folder.h"

namespace stepwright {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kLargestRead = 1 << 20;

std::string text_of(const fs::path& path) {
  return read_file_or_standard_input(path, kLargestRead);
}

std::int64_t entries(const Folder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), {});
}

mode_t mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

/// Returns the error of writing; empty: it succeeded.
template <class Action>
std::string failure(const Action& action, ErrorKind kind = ErrorKind::kRuntime) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

/// Limits the size of files in this process, which has the same effect as a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    ::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, SIG_DFL);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
};

TEST(OutputFile, TakesItsNameWhenItIsFinished) {
  const Folder folder;
  write_file(folder / "file", "old");
  OutputFile file(folder / "file");
  file.write("new");
  EXPECT_EQ(text_of(folder / "file"), "old");
  EXPECT_EQ(entries(folder), 2);
  file.finish();
  EXPECT_EQ(text_of(folder / "file"), "new");
  EXPECT_EQ(entries(folder), 1);
}

TEST(OutputFile, LeavesNothingWhereItIsNotFinished) {
  const Folder folder;
  write_file(folder / "file", "old");
  EXPECT_EQ(failure([&] {
              write_file(folder / "file", [](std::ostream& out) {
                out << "half";
                throw Error(ErrorKind::kRuntime, "of the content");
              });
            }),
            "of the content");
  EXPECT_EQ(text_of(folder / "file"), "old");
  EXPECT_EQ(entries(folder), 1);
}

TEST(OutputFile, AFullDiskLeavesTheOldFileWhole) {
  const Folder folder;
  write_file(folder / "file", "old");
  const std::string large(300'000, 'x');
  {
    const SmallDisk disk(100'000);
    const std::string said = (folder / "file").string() + ": cannot be written: File too large";
    EXPECT_EQ(failure([&] { write_file(folder / "file", large); }), said);
    EXPECT_EQ(failure([&] { write_file(folder / "file", [&](auto& out) { out << large; }); }),
              said);
  }
  EXPECT_EQ(text_of(folder / "file"), "old");
  EXPECT_EQ(entries(folder), 1);
  EXPECT_EQ(failure([] { write_file("/dev/full", "x"); }),
            "/dev/full: cannot be written: No space left on device");
}

/// Ends this process by a signal while it writes a file and a folder with a file.
void end_while_writing(const Folder& folder, int signal) {
  const UnfinishedPath unfinished(folder / "folder");
  fs::create_directory(folder / "folder");
  write_file(folder / "folder" / "inner", "whole");
  OutputFile file(folder / "file");
  file.write("half");
  ::raise(signal);
}

TEST(OutputFile, ASignalThatEndsTheProgramLeavesNothing) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Folder folder;
    write_file(folder / "file", "old");
    EXPECT_EXIT(
        {
          ::signal(signal, SIG_DFL);  // a shell ignores some signals for background programs
          remove_unfinished_files_at_signals();
          end_while_writing(folder, signal);
        },
        ::testing::KilledBySignal(signal), "");
    EXPECT_EQ(text_of(folder / "file"), "old");
    EXPECT_EQ(entries(folder), 1);
  }
}

TEST(OutputFile, ASignalThatIsIgnoredStaysIgnored) {
  const Folder folder;
  EXPECT_EXIT(
      {
        ::signal(SIGHUP, SIG_IGN);
        remove_unfinished_files_at_signals();
        OutputFile file(folder / "file");
        ::raise(SIGHUP);
        file.finish();
        ::_exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(fs::exists(folder / "file"));
}

TEST(OutputFile, AChildOfAWriterRemovesNothing) {
  const Folder folder;
  EXPECT_EXIT(
      {
        ::signal(SIGTERM, SIG_DFL);
        remove_unfinished_files_at_signals();
        OutputFile file(folder / "file");
        const pid_t child = ::fork();
        if (child == 0) ::raise(SIGTERM);
        ::waitpid(child, nullptr, 0);
        file.finish();
        ::_exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(fs::exists(folder / "file"));
}

TEST(OutputFile, KeepsTheModeOfTheFileThatItReplaces) {
  const Folder folder;
  for (const mode_t mode : {0600, 0640, 0755}) {
    write_file(folder / "file", "old");
    ASSERT_EQ(::chmod((folder / "file").c_str(), mode), 0);
    write_file(folder / "file", "new");
    EXPECT_EQ(mode_of(folder / "file"), mode);
  }
}

TEST(OutputFile, ANewFileHasTheModeOfTheUmask) {
  const Folder folder;
  const mode_t before = ::umask(027);
  write_file(folder / "file", "new");
  ::umask(before);
  EXPECT_EQ(mode_of(folder / "file"), 0640);
}

TEST(OutputFile, WritesThroughLinksAlsoToWhatIsNotThere) {
  const Folder folder;
  fs::create_directory(folder / "other");
  fs::create_symlink("second", folder / "first");
  fs::create_symlink("other/target", folder / "second");
  for (const char* text : {"new", "newer"}) {
    write_file(folder / "first", text);
    EXPECT_EQ(text_of(folder / "other/target"), text);
  }
  EXPECT_TRUE(fs::is_symlink(folder / "first"));
  EXPECT_TRUE(fs::is_symlink(folder / "second"));
  fs::create_symlink("loop", folder / "loop");
  EXPECT_EQ(failure([&] { write_file(folder / "loop", ""); }),
            (folder / "loop").string() + ": cannot be written: Too many levels of symbolic links");
}

TEST(OutputFile, WritersSideBySideEachWriteAWholeFile) {
  const Folder folder;
  std::vector<std::jthread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        write_file(folder / "file", std::string(5000, static_cast<char>('a' + i)));
      }
    });
  }
  writers.clear();
  const std::string text = text_of(folder / "file");
  EXPECT_EQ(text, std::string(5000, text.front()));
  EXPECT_EQ(entries(folder), 1);
}

TEST(OutputFile, DevicesPipesAndOpenDescriptorsAreWrittenDirectly) {
  const Folder folder;
  write_file("/dev/null", "x");
  const fs::path fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  {
    std::string heard;
    std::jthread reader([&] { heard = text_of(fifo); });
    write_file(fifo, "through the pipe");
    reader.join();
    EXPECT_EQ(heard, "through the pipe");
  }
  const FileDescriptor open(::open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(open.get(), "before ", 7), 7);
  write_file("/dev/fd/" + std::to_string(open.get()), "plan");
  ASSERT_EQ(::write(open.get(), " after", 6), 6);
  EXPECT_EQ(text_of(folder / "log"), "before plan after");
}

TEST(OutputFile, ADashIsNoFile) {
  EXPECT_THAT(failure([] { write_file("-", "x"); }, ErrorKind::kInput),
              HasSubstr("/dev/stdout is standard output"));
  EXPECT_FALSE(fs::exists("-"));
}

TEST(AppendedFile, GoesOnBehindWhatIsThere) {
  const Folder folder;
  fs::create_symlink("target", folder / "link");
  for (const char* line : {"1\n", "2\n"}) {
    AppendedFile file(folder / "link");
    file.add(line);
    file.close();
  }
  EXPECT_EQ(text_of(folder / "target"), "1\n2\n");
}

TEST(AppendedFile, HoldsWholeLinesOnAFullDisk) {
  const Folder folder;
  AppendedFile file(folder / "file");
  const std::string line = std::string(99, 'x') + '\n';
  const SmallDisk disk(250);
  file.add(line);
  file.add(line);
  EXPECT_EQ(failure([&] { file.add(line); }),
            (folder / "file").string() + ": cannot be written: File too large");
  EXPECT_EQ(text_of(folder / "file"), line + line);
  EXPECT_EQ(failure([] { AppendedFile("/dev/full").add("x"); }),
            "/dev/full: cannot be written: No space left on device");
}

}  // namespace
}  // namespace stepwright
