#pragma once

#include <exception>
#include <string>
#include <utility>

namespace stepwright {

/// Why an operation could not be done; the command line maps each kind to an exit code.
enum class ErrorKind {
  kInput,        ///< What the person gave is wrong (exit code 2).
  kUnsupported,  ///< The schema knows it but no model covers it yet (exit code 3).
  kRuntime,      ///< It failed while running (exit code 1).
};

/// The one exception type. The message names the file, the field, the value and what is allowed.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
};

/// Throws an `Error` of kind `kInput`.
[[noreturn]] inline void fail_input(std::string message) {
  throw Error(ErrorKind::kInput, std::move(message));
}

/// Throws an `Error` of kind `kUnsupported`.
[[noreturn]] inline void fail_unsupported(std::string message) {
  throw Error(ErrorKind::kUnsupported, std::move(message));
}

}  // namespace stepwright
