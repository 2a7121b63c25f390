#include "stepwright/core/out_of_memory.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

/// Ends the program if an array cannot be allocated, even by the non-throwing operator: simdjson
/// 3.0 does not check whether it got its buffer for strings.
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return ::operator new[](size);
}

namespace stepwright {
namespace {

const char* program_name = "";

void say(const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void end_for_want_of_memory() {
  say(program_name);
  say(": error: out of memory\n");
  ::_exit(1);
}

[[noreturn]] void end() {
  const std::exception_ptr thrown = std::current_exception();
  // Code that GCC generates for `noexcept` does not tell which exception was thrown; in these
  // functions only allocations throw.
  if (!thrown && std::uncaught_exceptions() > 0) end_for_want_of_memory();
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_for_want_of_memory();
  } catch (const std::exception& error) {
    say(program_name);
    say(": terminated: ");
    say(error.what());
    say("\n");
  } catch (...) {
  }
  std::abort();
}

}  // namespace

void exit_when_out_of_memory(const char* program) {
  program_name = program;
  std::set_terminate(end);
}

}  // namespace stepwright
