#pragma once

#include <initializer_list>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/rules/rule.h"

namespace stepwright::framework_files {

/// Runs rules inside a reader that fills a draft: the draft takes over their plan and remarks. Goes
/// when no reader fills a draft any more.
void read_rules(std::initializer_list<const Rule*> rules, const Fields& fields, Draft& draft);

}  // namespace stepwright::framework_files
