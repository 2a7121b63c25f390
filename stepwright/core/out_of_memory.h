#pragma once

namespace stepwright {

/// Makes the program end with "PROGRAM: error: out of memory" and exit code 1 when memory runs out
/// in code that must not throw: in destructors (nlohmann's JSON allocates in its own) and in
/// library functions declared noexcept. `program` is the command's name and must outlive the
/// program. For commands only; a library leaves `std::terminate` to its owner.
void exit_when_out_of_memory(const char* program);

}  // namespace stepwright
