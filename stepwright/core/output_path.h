#pragma once

#include <filesystem>
#include <string_view>

namespace stepwright {

/// Fails with `kRuntime`, naming the file and the reason, when a file of that path cannot be
/// written: its folder does not exist or may not be written to, the file itself may not be, or it
/// is a folder. Nothing is touched, so that it can be asked before the work whose result goes
/// there.
void check_writable(const std::filesystem::path& path);

/// The same failure, with the reason of an operation that just failed (`errno` unless given).
[[noreturn]] void fail_to_write(const std::filesystem::path& path);
[[noreturn]] void fail_to_write(const std::filesystem::path& path, std::string_view reason);

}  // namespace stepwright
