#pragma once

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"

namespace stepwright::framework_files {

/// Reads the batch of fields of Megatron: of one that grows the last is taken.
void read_batch_fields(const Fields& fields, const Given& given, Draft& draft);

}  // namespace stepwright::framework_files
