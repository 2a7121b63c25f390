#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace stepwright {

/// Why an operation could not be done; the command line maps each kind to an exit code.
enum class ErrorKind {
  kInput,        ///< The user's input is wrong (exit code 2).
  kUnsupported,  ///< The input is valid, but no model covers it yet (exit code 3).
  kRuntime,      ///< The operation failed while running (exit code 1).
};

/// Which value of which file an error is about, for programs that handle errors. Unknown members
/// are empty or 0.
struct InputPlace {
  std::string file;
  std::int64_t line = 0;    ///< Number of the line, from 1; 0: unknown.
  std::int64_t column = 0;  ///< Column in bytes, from 1; 0: unknown.
  std::string field;        ///< Dotted path of the value: `batch.length`.
  std::string value;        ///< Value as it was written; empty for a list or mapping.
};

/// The only exception type of the library. Its message names the file, the field, the value and
/// what is allowed.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message, InputPlace place = {})
      : kind_(kind), message_(std::move(message)), place_(std::move(place)) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  [[nodiscard]] const InputPlace& place() const noexcept { return place_; }

 private:
  ErrorKind kind_;
  std::string message_;
  InputPlace place_;
};

/// Throws an `Error` of kind `kInput`.
[[noreturn]] inline void fail_input(std::string message, InputPlace place = {}) {
  throw Error(ErrorKind::kInput, std::move(message), std::move(place));
}

/// Throws an `Error` of kind `kUnsupported`.
[[noreturn]] inline void fail_unsupported(std::string message, InputPlace place = {}) {
  throw Error(ErrorKind::kUnsupported, std::move(message), std::move(place));
}

}  // namespace stepwright
