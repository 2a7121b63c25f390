#pragma once

#include <sys/types.h>

#include "stepwright/core/descriptor.h"

namespace stepwright::lab {

/// The first process of a process namespace. When it ends, the kernel kills all other processes in
/// the namespace, whatever they did to escape. It ends when this object is destroyed, or when the
/// process that made it dies, in whatever way. So no process that was started inside can remain.
class Warden {
 public:
  /// Starts the process. Fails with `kRuntime` without the right to make namespaces.
  Warden();
  /// Kills the processes inside. Children that `fork_in_namespace` made must have been waited for
  /// by now, or be waited for by another thread.
  ~Warden();
  Warden(const Warden&) = delete;
  Warden& operator=(const Warden&) = delete;

  /// Forks as `fork` does; the child belongs to this warden. In a program of several threads the
  /// child may only call what is safe in a signal handler.
  [[nodiscard]] pid_t fork_in_namespace() const;
  /// Kills the processes inside; no new ones can start.
  void kill_all() const;

 private:
  Pipe life_;
  Descriptor outside_;
  Descriptor inside_;
  pid_t process_ = -1;
};

}  // namespace stepwright::lab
