#include "stepwright/framework_files/megatron/arguments.h"

#include <algorithm>

namespace stepwright::framework_files {
namespace {

/// Visits all tables, also those of arguments that set nothing.
template <class Visit>
void each_known(Visit&& visit) {
  each_argument(visit);
  for (const auto flag : idle_switches()) visit(MegatronArgument{flag, "", Arity::kNone});
  for (const auto& tables : {idle_arguments(), idle_deepspeed_arguments()}) {
    for (const auto& [arity, flags] : tables) {
      for (const std::string_view flag : flags) visit(MegatronArgument{flag, "", arity});
    }
  }
}

}  // namespace

std::optional<MegatronArgument> find_argument(std::string_view flag) {
  std::optional<MegatronArgument> found;
  each_known([&](const MegatronArgument& each) {
    if (!found && each.flag == flag) found = each;
  });
  return found;
}

std::vector<std::string_view> arguments_beginning(std::string_view head) {
  std::vector<std::string_view> names;
  each_known([&](const MegatronArgument& each) {
    if (each.flag.starts_with(head)) names.push_back(each.flag);
  });
  return names;
}

}  // namespace stepwright::framework_files
