// Decoders with mixers that carry a state along the sequence.
#include "stepwright/model/config_families.h"

namespace stepwright {

std::span<const ConfigFamily> mixer_families() { return {}; }

}  // namespace stepwright
