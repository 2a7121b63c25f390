#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "stepwright/core/interrupts.h"
#include "stepwright/core/unfinished_path.h"

namespace stepwright {
namespace {

pid_t owner = 0;  ///< The process whose files they are: not a child before its exec.

/// Removes a folder and the files in it. No function here asks for memory or takes a lock.
void remove_folder(const char* path) {
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) std::array<char, 4096> block{};
  ssize_t got = 0;
  while ((got = ::getdents64(folder, block.data(), block.size())) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(block.data() + at);
      ::unlinkat(folder, entry->d_name, 0);  // of "." and ".." it fails
      at += entry->d_reclen;
    }
  }
  ::close(folder);
  ::rmdir(path);
}

/// The signal has its default action again and comes anew when this returns.
void remove_and_end(int signal) {
  for (std::size_t slot = 0; ::getpid() == owner && slot < kMostUnfinished; ++slot) {
    const char* path = unfinished_path(slot);
    if (path != nullptr && ::unlink(path) != 0 && errno == EISDIR) remove_folder(path);
  }
  ::raise(signal);
}

}  // namespace

void remove_unfinished_at_signals() {
  owner = ::getpid();
  for (const int signal : kEndingSignals) {
    struct sigaction now{};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_DFL) continue;
    struct sigaction remove{};
    remove.sa_handler = remove_and_end;
    remove.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int other : kEndingSignals) ::sigaddset(&remove.sa_mask, other);
    ::sigaction(signal, &remove, nullptr);
  }
}

}  // namespace stepwright
