#include "stepwright/capture/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/event.h"
#include "stepwright/capture/go_on.h"
#include "stepwright/capture/job.h"
#include "stepwright/capture/launch_event.h"
#include "stepwright/capture/processes.h"
#include "stepwright/capture/tools.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

using Clock = std::chrono::steady_clock;

/// Time that commands in the background may still run after the script has ended.
constexpr std::chrono::seconds kBackground{4};
/// Time that programs have to end after a signal.
constexpr std::chrono::milliseconds kAfterSignal{1500};
constexpr timespec kTick{0, 50'000'000};
constexpr useconds_t kPauseUs = 5'000;
constexpr int kMostRounds = 400;

void say(int status, const std::string& text) {
  [[maybe_unused]] const ssize_t ignored = ::write(status, text.data(), text.size());
}

/// Starts the command; PATH already has the stand-ins' folder first.
int start(const ScriptCaptureContext& context, const Words& command) {
  const std::string_view name = launch_scripts::last_path_part(command.front());
  const auto kind = find_stand_in_kind(name);
  if (kind && *kind != ProgramStandInKind::kWriter) {
    if (name.size() != command.front().size())
      ::setenv(kReplacedProgramPathVariable, command.front().c_str(), 1);
    return exec_program_or_exit_code(context.folder / "bin" / name, command);
  }
  std::filesystem::path program = command.front();
  if (name.size() == command.front().size()) program = find_real_program(context, name);
  const std::string interpreter = script_interpreter_line(program);
  if (interpreter.find("python") != std::string::npos) {
    record_launch_command(context, command);
    return 0;
  }
  if (interpreter.ends_with("/sh") || interpreter.find("/sh ") != std::string::npos) {
    if (::access(program.c_str(), X_OK) != 0) return -1;
    Words shell = {"sh", program.string()};
    shell.insert(shell.end(), command.begin() + 1, command.end());
    return exec_program_or_exit_code(context.folder / "bin" / "sh", shell);
  }
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  if (errno != ENOEXEC) return -1;
  Words shell = {"bash", program.string()};
  shell.insert(shell.end(), command.begin() + 1, command.end());
  return exec_real_program(context, shell);
}

[[noreturn]] void become_script(const ScriptCaptureContext& context, const Words& command,
                                int status) {
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int code = start(context, command);
  if (code >= 0) ::_exit(code);
  const int error = errno;
  const bool named = command.front().find('/') == std::string::npos && error == ENOENT;
  say(status, fmt::format("error {}: {}\n", command.front(),
                          named ? "no program in PATH has this name; a script is run as `bash FILE`"
                                : fmt::format("cannot be run: {}", std::strerror(error))));
  ::_exit(kCommandNotFoundExitCode);
}

/// Waits for the script and for all processes that it started.
class Watch {
 public:
  Watch(const ScriptCaptureContext& context, pid_t script, pid_t parent)
      : context_(context), script_(script), parent_(parent) {
    ::sigemptyset(&watched_);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&watched_, signal);
  }

  /// Waits until everything has ended, and returns the exit code of the script.
  int run() {
    while (!is_over()) {
      const int signal = ::sigtimedwait(&watched_, nullptr, &kTick);
      reap();
      if (signal > 0 && signal != SIGCHLD) stop(signal);
      if (is_capture_stopped(context_.folder) || ::getppid() != parent_) stop(SIGTERM);
    }
    end_all();
    return code_.value_or(128 + SIGKILL);
  }

 private:
  void reap() {
    int status = 0;
    for (pid_t ended; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended != script_) continue;
      code_ = shell_exit_code(status);
      until_ = Clock::now() + kBackground;
    }
  }

  void stop(int signal) {
    if (stopping_) return;
    stopping_ = true;
    until_ = Clock::now() + kAfterSignal;
    signal_processes(descendant_processes(::getpid()), signal);
  }

  [[nodiscard]] bool is_over() const {
    if (until_ && Clock::now() >= *until_) return true;
    return code_ && descendant_processes(::getpid()).empty();
  }

  void end_all() {
    for (int round = 0; round < kMostRounds; ++round) {
      const std::vector<pid_t> left = descendant_processes(::getpid());
      if (left.empty()) break;
      signal_processes(left, SIGKILL);
      reap();
      ::usleep(kPauseUs);
    }
    reap();
  }

  const ScriptCaptureContext& context_;
  pid_t script_, parent_;
  sigset_t watched_{};
  std::optional<int> code_;
  std::optional<Clock::time_point> until_;
  bool stopping_ = false;
};

}  // namespace

int run_supervised_script(ScriptCaptureContext context, const Words& command) {
  const int status = std::atoi(environment_variable(kSupervisorDescriptorVariable).c_str());
  ::unsetenv(kSupervisorDescriptorVariable);
  ::fcntl(status, F_SETFD, FD_CLOEXEC);
  const pid_t parent = ::getppid();
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&watched, signal);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  export_capture_context(context);
  if (const auto job = batch_job_of_command(context, command))
    set_batch_job_environment(context, *job);
  const pid_t script = ::fork();
  if (script < 0) {
    say(status,
        fmt::format("error {}: cannot be started: {}\n", command.front(), std::strerror(errno)));
    return 1;
  }
  if (script == 0) become_script(context, command, status);
  const int code = Watch(context, script, parent).run();
  say(status, fmt::format("exit {}\n", code));
  if (::getppid() != parent) {
    std::error_code ignored;
    std::filesystem::remove_all(context.folder, ignored);
  }
  return 0;
}

}  // namespace stepwright::capture
