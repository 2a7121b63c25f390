#include "stepwright/framework_files/named_model.h"

#include <fmt/format.h>

#include "stepwright/core/utf8.h"
#include "stepwright/model/catalog.h"

namespace stepwright {

bool take_named_model(std::string_view id, const Given& given, Draft& draft) {
  if (given.known_model || draft.model) return true;
  while (id.ends_with('/')) id.remove_suffix(1);
  // A folder of models holds them under their own names.
  const std::string_view last = id.substr(id.rfind('/') + 1);
  const auto known = built_in_of_id(fmt::format("hub/{}", last));
  if (!known) return false;
  draft.model = built_in_model(*known);
  draft.notes.push_back(fmt::format("{} is taken to be the model {}.", printable(id), *known));
  return true;
}

std::string model_folder(const Job& job) {
  const std::optional<Architecture> known = built_in_model(job.model_name);
  const bool same = known && *known == job.model;
  return same ? fmt::format("./models/{}", job.model_name) : "./model";
}

}  // namespace stepwright
