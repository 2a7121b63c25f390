#include "stepwright/cost/machine_files.h"

namespace stepwright {

const EmbeddedFile* find_machine_profile(std::string_view name) {
  return find_embedded(embedded_machines(), name);
}

}  // namespace stepwright
