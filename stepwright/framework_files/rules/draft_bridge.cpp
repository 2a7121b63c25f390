#include "stepwright/framework_files/rules/draft_bridge.h"

#include <utility>

namespace stepwright::framework_files {

void read_rules(std::initializer_list<const Rule*> rules, const Fields& fields, Draft& draft) {
  for (const Rule* rule : rules) {
    Reading reading =
        read_rule(*rule, fields, {.framework = draft.framework, .routed = draft.routed}, draft);
    static_cast<Settled&>(draft) = static_cast<Settled&>(reading);
    for (auto& [setting, why] : reading.left_out) draft.leave_out(setting, std::move(why));
    draft.notes.insert(draft.notes.end(), reading.notes.begin(), reading.notes.end());
    if (reading.refused) draft.refused = std::move(reading.refused);
  }
}

}  // namespace stepwright::framework_files
