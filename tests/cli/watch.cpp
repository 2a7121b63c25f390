// A library for LD_PRELOAD that records the system calls by which a program affects its
// environment. It writes a line for each call into the file that STEPWRIGHT_WATCH names: "socket",
// "starts PROGRAM", "writes PATH", "removes PATH". Reading of files is not recorded.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void note(const char* what, const char* name) {
  const char* const path = std::getenv("STEPWRIGHT_WATCH");
  if (path == nullptr) return;
  const long file =
      ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const std::string line = std::string(what) + " " + name + "\n";
  ::syscall(SYS_write, file, line.data(), line.size());
  ::syscall(SYS_close, file);
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void note_open(const char* path, int flags) {
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0) note("writes", path);
}

void note_open(const char* path, const char* mode) {
  if (std::strpbrk(mode, "wa+") != nullptr) note("writes", path);
}

mode_t mode_of(int flags, std::va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

int socket(int domain, int type, int protocol) noexcept {
  note("socket", "");
  return next<int(int, int, int)>("socket")(domain, type, protocol);
}

int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  note("starts", path);
  return next<int(const char*, char* const*, char* const*)>("execve")(path, arguments, environment);
}

int execv(const char* path, char* const* arguments) noexcept {
  note("starts", path);
  return next<int(const char*, char* const*)>("execv")(path, arguments);
}

int execvp(const char* path, char* const* arguments) noexcept {
  note("starts", path);
  return next<int(const char*, char* const*)>("execvp")(path, arguments);
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  note("starts", path);
  return next<decltype(posix_spawn)>("posix_spawn")(process, path, actions, attributes, arguments,
                                                    environment);
}

int posix_spawnp(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* environment) {
  note("starts", path);
  return next<decltype(posix_spawnp)>("posix_spawnp")(process, path, actions, attributes, arguments,
                                                      environment);
}

int system(const char* command) {
  note("starts", command);
  return next<int(const char*)>("system")(command);
}

FILE* popen(const char* command, const char* mode) {
  note("starts", command);
  return next<FILE*(const char*, const char*)>("popen")(command, mode);
}

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  note_open(path, flags);
  return next<int(const char*, int, ...)>("open")(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  note_open(path, flags);
  return next<int(const char*, int, ...)>("open64")(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  note_open(path, flags);
  return next<int(int, const char*, int, ...)>("openat")(folder, path, flags, mode);
}

int mkstemp(char* pattern) {
  note("writes", pattern);
  return next<int(char*)>("mkstemp")(pattern);
}

int mkostemp(char* pattern, int flags) {
  note("writes", pattern);
  return next<int(char*, int)>("mkostemp")(pattern, flags);
}

FILE* fopen(const char* path, const char* mode) {
  note_open(path, mode);
  return next<FILE*(const char*, const char*)>("fopen")(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  note_open(path, mode);
  return next<FILE*(const char*, const char*)>("fopen64")(path, mode);
}

int rename(const char* from, const char* to) noexcept {
  note("removes", from);
  note("writes", to);
  return next<int(const char*, const char*)>("rename")(from, to);
}

int unlink(const char* path) noexcept {
  note("removes", path);
  return next<int(const char*)>("unlink")(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  note("writes", path);
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}

}  // extern "C"
