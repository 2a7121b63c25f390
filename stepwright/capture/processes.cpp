#include "stepwright/capture/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "stepwright/capture/context.h"
#include "stepwright/core/input_file.h"

namespace stepwright::capture {
namespace {

constexpr int kSignalled = 128;

std::string file_text(const std::filesystem::path& path) {
  constexpr std::size_t kMost = std::size_t{64} << 20U;
  return read_regular_file(path, kMost).value_or("");
}

/// Returns all visible processes of this machine.
std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t process = 0;
    const auto [rest, failed] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (failed == std::errc() && rest == name.data() + name.size()) found.push_back(process);
  }
  return found;
}

/// Returns the parent of a process; 0 if the process has ended. /proc/PID/stat is "PID (NAME) STATE
/// PARENT ...".
pid_t parent_of(pid_t process) {
  const std::string text = file_text("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = text.rfind(')');
  constexpr std::size_t kState = 2, kParent = 4;
  if (name_end == std::string::npos || name_end + kParent >= text.size()) return 0;
  if (text[name_end + kState] == 'Z') return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + name_end + kParent, text.data() + text.size(), parent);
  return parent;
}

}  // namespace

std::vector<pid_t> descendant_processes(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t process : all_processes()) children.emplace(parent_of(process), process);
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

std::vector<pid_t> processes_of_capture(const std::filesystem::path& folder) {
  const std::string wanted = std::string(kCaptureFolderVariable) + "=" + folder.string();
  std::vector<pid_t> found;
  for (const pid_t process : all_processes()) {
    if (process == ::getpid()) continue;
    const std::string text = file_text("/proc/" + std::to_string(process) + "/environ");
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\0', at), text.size());
      if (std::string_view(text).substr(at, end - at) == wanted) {
        found.push_back(process);
        break;
      }
      at = end + 1;
    }
  }
  return found;
}

void signal_processes(const std::vector<pid_t>& processes, int signal) {
  for (const pid_t process : processes) ::kill(process, signal);
}

void open_closed_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    const int opened = ::open("/dev/null", O_RDWR);
    if (opened >= 0 && opened != descriptor) ::dup2(opened, descriptor);
  }
}

int shell_exit_code(int status) {
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace stepwright::capture
