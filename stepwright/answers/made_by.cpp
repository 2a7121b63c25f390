#include "stepwright/answers/made_by.h"

#include <nlohmann/json.hpp>

#include "stepwright/cost/constants_hash.h"

namespace stepwright::answers {

nlohmann::ordered_json producer_version_json() {
  return {{"version", STEPWRIGHT_VERSION}, {"constants", cost::built_in_constants_hash()}};
}

}  // namespace stepwright::answers
