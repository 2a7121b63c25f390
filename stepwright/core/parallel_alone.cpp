// Implementation for platforms without threads.
#include "stepwright/core/parallel.h"

namespace stepwright {

void parallel_for(int /*threads*/, std::size_t count,
                  const std::function<void(std::size_t)>& body) {
  for (std::size_t i = 0; i < count; ++i) body(i);
}

}  // namespace stepwright
