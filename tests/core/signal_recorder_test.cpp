#include "stepwright/core/signal_recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

namespace stepwright {
namespace {

/// Returns how a process ended, as `waitpid` reports it.
int ending_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int ending_of_shell(std::string script) {
  std::string shell = "/bin/sh";
  std::string option = "-c";
  char* words[] = {shell.data(), option.data(), script.data(), nullptr};
  pid_t process = 0;
  EXPECT_EQ(::posix_spawn(&process, shell.c_str(), nullptr, nullptr, words, environ), 0);
  return ending_of(process);
}

TEST(SignalRecorder, AreTakenInTheirOrderWhicheverThreadGetsThem) {
  const SignalRecorder interrupts;
  EXPECT_EQ(interrupts.take_oldest_signal(), 0);
  std::thread([] { ::raise(SIGTERM); }).join();
  ::raise(SIGINT);
  EXPECT_EQ(interrupts.take_oldest_signal(), SIGTERM);
  EXPECT_EQ(interrupts.take_oldest_signal(), SIGINT);
  EXPECT_EQ(interrupts.take_oldest_signal(), 0);
}

TEST(SignalRecorder, AnIgnoredHangUpStaysIgnored) {
  struct sigaction ignoring{}, before{}, after{};
  ignoring.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignoring, &before);
  {
    const SignalRecorder interrupts;
    ::raise(SIGHUP);
    EXPECT_EQ(interrupts.take_oldest_signal(), 0);
  }
  ::sigaction(SIGHUP, &before, &after);
  EXPECT_EQ(after.sa_handler, SIG_IGN);
}

TEST(SignalRecorder, AProgramThatIsStartedHasItsSignals) {
  ::signal(SIGPIPE, SIG_DFL);  // The process that starts the tests may ignore it.
  const SignalRecorder interrupts;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    const int status = ending_of_shell("kill -" + std::to_string(signal) + " $$; exit 3");
    EXPECT_TRUE(WIFSIGNALED(status)) << signal;
    EXPECT_EQ(WTERMSIG(status), signal);
  }
  EXPECT_EQ(interrupts.take_oldest_signal(), 0);
}

TEST(SignalRecorder, AChildBeforeItsProgramPassesOverThem) {
  const SignalRecorder interrupts;
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGINT);
    ::_exit(7);
  }
  const int status = ending_of(child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(interrupts.take_oldest_signal(), 0);
}

TEST(SignalRecorder, AClosedPipeIsAnError) {
  const SignalRecorder interrupts;
  Pipe pipe;
  pipe.read.close();
  EXPECT_EQ(::write(pipe.write.get(), "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST(SignalRecorder, EndBySignalIsSeenByWhoWaits) {
  const pid_t child = ::fork();
  if (child == 0) {
    const SignalRecorder interrupts;
    end_process_by_signal(SIGTERM);
  }
  const int status = ending_of(child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

}  // namespace
}  // namespace stepwright
