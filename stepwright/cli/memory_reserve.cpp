#include "stepwright/cli/memory_reserve.h"

#include <CLI/CLI.hpp>

namespace stepwright {

MemoryReserve::MemoryReserve(CLI::App& command) {
  command
      .add_option("--memory-reserve", share_,
                  "Share of the device's memory that plans leave free: 0.06 where the job\n"
                  "says nothing")
      ->check(CLI::Range(0.0, 0.99))
      ->type_name("SHARE");
}

}  // namespace stepwright
