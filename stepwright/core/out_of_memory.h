#pragma once

namespace stepwright {

/// Makes the program end with "PROGRAM: error: out of memory" and exit code 1 if memory runs out
/// where no exception may be thrown (destructors, as in nlohmann's JSON, and noexcept functions).
/// `program`: name, which must outlive the program. For commands only; a library leaves
/// `std::terminate` to its owner.
void exit_when_out_of_memory(const char* program);

}  // namespace stepwright
