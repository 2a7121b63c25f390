// Gemma.
#include "stepwright/model/config_families.h"

namespace stepwright {

std::span<const ConfigFamily> gemma_families() { return {}; }

}  // namespace stepwright
