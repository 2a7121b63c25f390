#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace stepwright {

/// Kinds of failure; the command line has an exit code for each.
enum class ErrorKind {
  kInput,        ///< The user's input is wrong (exit code 2).
  kUnsupported,  ///< The input is valid, but this project does not support it yet (exit code 3).
  kRuntime,      ///< The operation failed while running (exit code 1).
};

/// The value of a file that an error is about, for programs that handle errors. Unknown members are
/// empty or 0.
struct InputErrorPlace {
  std::string file;
  std::int64_t line = 0;    ///< Line of the file, from 1; 0: unknown.
  std::int64_t column = 0;  ///< Column in the line, in bytes from 1; 0: unknown.
  std::string field;        ///< Dotted path of the value in the file: `batch.length`.
  std::string value;  ///< The value as it was written in the file; empty for a list or mapping.
};

/// The only exception type that this library throws. Its message names the file, the field, the
/// value and what is allowed.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, InputErrorPlace place = {})
      : kind_(kind), message_(std::move(message)), place_(std::move(place)) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] const InputErrorPlace& place() const noexcept { return place_; }

 private:
  ErrorKind kind_;
  std::string message_;
  InputErrorPlace place_;
};

/// Throws an `Error` of kind `kInput` (wrong input). `place`: value that is wrong.
[[noreturn]] inline void fail_input(std::string message, InputErrorPlace place = {}) {
  throw Error(ErrorKind::kInput, std::move(message), std::move(place));
}

/// Throws an `Error` of kind `kUnsupported` (valid input that is not supported yet). `place`: value
/// that is not supported.
[[noreturn]] inline void fail_unsupported(std::string message, InputErrorPlace place = {}) {
  throw Error(ErrorKind::kUnsupported, std::move(message), std::move(place));
}

}  // namespace stepwright
