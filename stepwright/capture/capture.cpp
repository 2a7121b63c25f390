#include "stepwright/capture/capture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/capture_folder.h"
#include "stepwright/capture/event.h"
#include "stepwright/capture/go_on.h"
#include "stepwright/capture/keeper.h"
#include "stepwright/capture/merged_commands.h"
#include "stepwright/capture/named_files.h"
#include "stepwright/capture/processes.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/descriptor.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/signal_recorder.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTimedOut = 124, kKilled = 128 + SIGKILL;
/// Time that the keeper has to end all processes before it is killed.
constexpr std::chrono::seconds kPatience{10};
constexpr std::int64_t kMostStatedNodes = 100'000, kMostDevices = 1024;

void check_count(const std::optional<std::int64_t>& count, std::string_view option,
                 std::int64_t most) {
  if (count && (*count < 1 || *count > most)) {
    fail_input(fmt::format("{}: must be from 1 to {} ({})", option, most, *count));
  }
}

/// Fails unless the script in `bash -e FILE`, or FILE itself, exists and is readable.
void check_script(const Words& command) {
  std::size_t at = 0;
  if (is_shell_program_name(launch_scripts::last_path_part(command.front()))) {
    for (at = 1; at < command.size() && command[at].starts_with('-'); ++at) {
      if (command[at].find('c') != std::string::npos || command[at] == "-s") return;
      if (command[at] == "-o" || command[at] == "-O") ++at;
    }
    if (at >= command.size()) return;
  } else if (command.front().find('/') == std::string::npos) {
    return;
  }
  const std::string& script = command[at];
  if (at == 0 && find_stand_in_kind(launch_scripts::last_path_part(script))) return;
  if (is_folder(script)) {
    fail_input(fmt::format("{}: is a folder; name a launch script", script));
  }
  if (!path_exists(script)) {
    fail_input(fmt::format("{}: there is no such script", script));
  }
  if (::access(script.c_str(), at == 0 ? X_OK : R_OK) != 0) {
    const std::string_view what = at == 0 ? "be executed" : "be read";
    fail_input(fmt::format("{}: cannot {}; run it as `bash {}`, or change its permissions", script,
                           what, script));
  }
}

void check(const ScriptCaptureRequest& request) {
  if (request.command.empty() || request.command.front().empty()) {
    fail_input("COMMAND is missing: stepwright capture -- bash train.sh");
  }
  for (const std::string& word : request.command) {
    if (word.find('\0') != std::string::npos)
      fail_input("COMMAND: an argument contains a byte of value 0");
  }
  check_count(request.nodes, "--nodes", kMostStatedNodes);
  check_count(request.devices_per_node, "--gpus-per-node", kMostDevices);
  if (request.timeout.count() <= 0) fail_input("--timeout: must be positive");
  if (std::getenv(kCaptureFolderVariable) != nullptr) {
    fail_input("stepwright capture already runs inside a capture; call it outside");
  }
  check_script(request.command);
}

std::filesystem::path program_of(const ScriptCaptureRequest& request) {
  std::error_code error;
  if (!request.program.empty()) return std::filesystem::absolute(request.program, error);
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

/// Returns the environment of the script as NAME=VALUE texts.
std::vector<std::string> script_environment(const ScriptCaptureRequest& request,
                                            const ScriptCaptureFolder& folder, int status) {
  std::map<std::string, std::string> changes;
  std::string front = (folder.path() / "bin").string();
  if (request.only_launchers) {
    front += ":" + (folder.path() / "writers").string();
    changes[kCaptureDryRunVariable] = "local";
    changes["TMPDIR"] = (folder.path() / "scratch").string();
  }
  const std::string path = environment_variable("PATH");
  changes["PATH"] = front + ":" + (path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path);
  changes["BASH_ENV"] = folder.bash_startup_file_path().string();
  changes["STEPWRIGHT_CAPTURE_BASH_ENV"] = environment_variable("BASH_ENV");
  changes[kCaptureFolderVariable] = folder.path().string();
  changes[kSupervisorDescriptorVariable] = std::to_string(status);
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) environment.push_back(text);
  }
  for (const auto& [name, value] : changes) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> found;
  for (std::string& text : texts) found.push_back(text.data());
  found.push_back(nullptr);
  return found;
}

/// Starts the keeper. Between fork and exec it calls only functions that are safe in a child of a
/// multi-threaded process.
pid_t start_keeper(const ScriptCaptureRequest& request, const ScriptCaptureFolder& folder,
                   const Pipe& status) {
  const std::string keeper = folder.supervisor_program_path().string();
  std::vector<std::string> words = {keeper};
  words.insert(words.end(), request.command.begin(), request.command.end());
  std::vector<std::string> environment = script_environment(request, folder, status.write.get());
  const std::vector<char*> argv = pointers(words), envp = pointers(environment);
  const bool no_input = ::isatty(STDIN_FILENO) != 0;
  const pid_t child = checked_system_call(::fork(), "start a process");
  if (child != 0) return child;
  sigset_t none;
  ::sigemptyset(&none);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD}) ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (no_input) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  }
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::fcntl(status.write.get(), F_SETFD, 0);
  ::execve(keeper.c_str(), argv.data(), envp.data());
  ::_exit(kNotExecutableExit);
}

/// How a captured script ended.
struct Ending {
  /// Report of the keeper: "exit 0", "error TEXT"; empty: the keeper was killed.
  std::string report;
  bool timed_out = false;
  int signal = 0;  ///< Signal that interrupted the capture; 0: none.
};

/// Waits until the keeper has ended, and returns its report.
Ending wait_for(pid_t keeper, const FileDescriptor& status, const SignalRecorder& interrupts,
                std::chrono::milliseconds timeout) {
  Ending ending;
  Clock::time_point until = Clock::now() + timeout;
  while (true) {
    std::array<pollfd, 2> watched = {
        {{status.get(), POLLIN, 0}, {interrupts.signal_descriptor(), POLLIN, 0}}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    const int ready = ::poll(watched.data(), watched.size(),
                             static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready < 0 && errno != EINTR) break;
    if (ready == 0) {
      const bool again = ending.timed_out || ending.signal != 0;
      ending.timed_out = ending.timed_out || ending.signal == 0;
      ::kill(keeper, again ? SIGKILL : SIGTERM);
      if (again) break;
      until = Clock::now() + kPatience;
    }
    if (ready > 0 && (watched[1].revents & POLLIN) != 0) {
      const bool again = ending.signal != 0;
      ending.signal = interrupts.take_oldest_signal();
      ::kill(keeper, again ? SIGKILL : ending.signal);
      until = Clock::now() + kPatience;
    }
    if (ready <= 0 || watched[0].revents == 0) continue;
    std::array<char, 512> block{};
    const ssize_t got = ::read(status.get(), block.data(), block.size());
    if (got <= 0) break;
    ending.report.append(block.data(), static_cast<std::size_t>(got));
  }
  return ending;
}

/// Kills remaining processes of the capture, which the keeper failed to end.
void end_all(pid_t keeper, const ScriptCaptureFolder& folder) {
  constexpr int kRounds = 100;
  constexpr useconds_t kPauseUs = 10'000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<pid_t> left = processes_of_capture(folder.path());
    if (left.empty()) break;
    signal_processes(left, SIGKILL);
    ::waitpid(keeper, nullptr, WNOHANG);
    ::usleep(kPauseUs);
  }
  ::waitpid(keeper, nullptr, 0);
}

void add_ending(const Ending& ending, const ScriptCaptureRequest& request,
                ScriptCaptureResult& captured) {
  constexpr std::string_view kExit = "exit ", kError = "error ";
  const std::size_t exit = ending.report.find(kExit), error = ending.report.find(kError);
  if (error == 0) {
    fail_input(ending.report.substr(kError.size(), ending.report.find('\n') - kError.size()));
  }
  captured.exit_code =
      exit == std::string::npos ? kKilled : std::atoi(ending.report.c_str() + exit + kExit.size());
  if (ending.timed_out) {
    captured.exit_code = kTimedOut;
    captured.notes.push_back(fmt::format(
        "The script was ended at the time limit of {} s; later commands were not recorded.",
        std::chrono::duration<double>(request.timeout).count()));
  } else if (exit == std::string::npos) {
    captured.notes.emplace_back(
        "The script killed the process that records it; later commands were not recorded.");
  }
  captured.interrupted_by = ending.signal;
}

}  // namespace

ScriptCaptureResult capture_launch_script(const ScriptCaptureRequest& request) {
  open_closed_standard_descriptors();
  check(request);
  const ScriptCaptureSettings settings{.nodes = request.nodes,
                                       .devices_per_node = request.devices_per_node,
                                       .only_launchers = request.only_launchers,
                                       .environment = process_environment()};
  const ScriptCaptureFolder folder(program_of(request), settings);
  const SignalRecorder interrupts;
  Pipe status;
  const pid_t keeper = start_keeper(request, folder, status);
  status.write.close();
  const Ending ending = wait_for(keeper, status.read, interrupts, request.timeout);
  end_all(keeper, folder);
  ScriptCaptureEvents events = read_capture_events(folder.path());
  if (!events.error.empty()) fail_input(events.error);
  ScriptCaptureResult captured = std::move(events.captured);
  add_ending(ending, request, captured);
  captured.commands = merge_launches_of_hosts(captured.commands);
  std::error_code ignored;
  std::filesystem::remove_all(folder.path() / "scratch", ignored);
  for (CapturedLaunchCommand& command : captured.commands) {
    drop_unchanged_file_texts(command.files, command.folder);
  }
  return captured;
}

}  // namespace stepwright::capture
