#pragma once

namespace stepwright {

/// Ends the program with "PROGRAM: error: out of memory" and exit code 1 where memory is over and
/// no exception can say so: in destructors (nlohmann's JSON asks for memory in its own) and in
/// functions of libraries that promise not to throw. `program` is the command's name and must
/// outlive the program. For commands; a library leaves `std::terminate` to its owner.
void end_where_memory_is_over(const char* program);

}  // namespace stepwright
