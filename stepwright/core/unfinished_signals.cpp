#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "stepwright/core/signal_recorder.h"
#include "stepwright/core/unfinished_path.h"

namespace stepwright {
namespace {

/// Process that owns the files; a forked child that has not called exec is not it.
pid_t owner = 0;

/// Removes a folder and the files in it. No function called here allocates memory or takes a lock.
void remove_folder(const char* path) {
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) std::array<char, 4096> block{};
  ssize_t got = 0;
  while ((got = ::getdents64(folder, block.data(), block.size())) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(block.data() + at);
      ::unlinkat(folder, entry->d_name, 0);  // fails for "." and ".."
      at += entry->d_reclen;
    }
  }
  ::close(folder);
  ::rmdir(path);
}

/// Removes the files. The signal's default action is restored, and the signal is delivered again
/// when this returns.
void remove_and_end(int signal) {
  for (std::size_t slot = 0; ::getpid() == owner && slot < kMaxUnfinishedPaths; ++slot) {
    const char* path = unfinished_path(slot);
    if (path != nullptr && ::unlink(path) != 0 && errno == EISDIR) remove_folder(path);
  }
  ::raise(signal);
}

}  // namespace

void remove_unfinished_files_at_signals() {
  owner = ::getpid();
  for (const int signal : kProgramEndingSignals) {
    struct sigaction now{};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_DFL) continue;
    struct sigaction remove{};
    remove.sa_handler = remove_and_end;
    remove.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int other : kProgramEndingSignals) ::sigaddset(&remove.sa_mask, other);
    ::sigaction(signal, &remove, nullptr);
  }
}

}  // namespace stepwright
