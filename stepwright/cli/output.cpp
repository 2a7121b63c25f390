#include "stepwright/cli/output.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace stepwright::cli {

void print_json(std::ostream& out, const nlohmann::ordered_json& json) {
  out << answers::indented_json_text(json);
}

}  // namespace stepwright::cli
