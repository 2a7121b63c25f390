#pragma once

#include <sys/types.h>

#include "stepwright/core/descriptor.h"

namespace stepwright::lab {

/// The first process of a process namespace. When it ends, the kernel kills all others in it,
/// whatever they did to get away; and it ends when this object goes or when the process that made
/// it dies, in whatever way. So nothing that was started inside can stay behind.
class Warden {
 public:
  /// Fails with `kRuntime` without the right to make namespaces.
  Warden();
  /// Kills what is inside. Children that `fork_inside` made must have been waited for by now, or
  /// be waited for by another thread.
  ~Warden();
  Warden(const Warden&) = delete;
  Warden& operator=(const Warden&) = delete;

  /// Forks as `fork` does; the child belongs to this warden. In a program of several threads the
  /// child may only call what is safe in a signal handler.
  [[nodiscard]] pid_t fork_inside() const;
  /// Kills what is inside, and lets nothing more start.
  void kill_all() const;

 private:
  Pipe life_;
  Descriptor outside_;
  Descriptor inside_;
  pid_t process_ = -1;
};

}  // namespace stepwright::lab
