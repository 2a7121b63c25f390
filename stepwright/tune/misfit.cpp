#include "stepwright/tune/misfit.h"

#include <fmt/format.h>

#include "stepwright/core/format.h"
#include "stepwright/memory/memory.h"

namespace stepwright::tune {

std::string memory_shortage_note(const plan::Job& job, const TunedPlan& smallest) {
  const double usable = memory::usable_memory_bytes(job);
  if (smallest.peak_memory_bytes > usable) {
    return fmt::format(
        "No plan that the job allows fits in {} of memory: the smallest needs {}, which is {} too "
        "much.",
        format_bytes(usable), format_bytes(smallest.peak_memory_bytes),
        format_bytes(smallest.over_by_bytes));
  }
  return fmt::format(
      "Plans that fit in device memory need more host memory than a node has, the smallest {} "
      "more.",
      format_bytes(smallest.over_by_bytes));
}

std::string memory_shortage_error_text(const TunedPlan& smallest) {
  return fmt::format(
      "no plan of the search space fits in memory: the smallest needs {}, {} more than available; "
      "its largest part is {}",
      format_bytes(smallest.peak_memory_bytes), format_bytes(smallest.over_by_bytes),
      smallest.largest_part);
}

}  // namespace stepwright::tune
