#pragma once

#include <sys/types.h>

#include "stepwright/core/descriptor.h"

namespace stepwright::lab {

/// A process whose death kills everything started inside it: it is the first process of a PID
/// namespace, so when it ends the kernel kills all others there. It ends when this object is
/// destroyed or when the process that made it dies.
class NamespaceWarden {
 public:
  /// Starts the warden process. Fails with `kRuntime` if this user may not make namespaces.
  NamespaceWarden();
  /// Kills all processes of the namespace. Children from `fork_in_namespace` must have been waited
  /// for, or be waited for by another thread.
  ~NamespaceWarden();
  NamespaceWarden(const NamespaceWarden&) = delete;
  NamespaceWarden& operator=(const NamespaceWarden&) = delete;

  /// Forks like `fork`, but the child is in the warden's namespace and dies with it. In a program
  /// with several threads the child may call only functions that are safe in a signal handler.
  [[nodiscard]] pid_t fork_in_namespace() const;
  /// Kills all processes of the namespace; no new ones can start in it.
  void kill_namespace_processes() const;

 private:
  Pipe life_;
  FileDescriptor outside_;
  FileDescriptor inside_;
  pid_t process_ = -1;
};

}  // namespace stepwright::lab
