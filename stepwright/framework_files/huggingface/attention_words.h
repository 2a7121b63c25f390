#pragma once

#include <string_view>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {

/// Takes the kernel that a key names, in the words of "huggingface/attention"; any other is left
/// out.
void take_attention(const Fields& fields, std::string_view key, std::vector<LeftOut>& left_out,
                    Draft& draft);

/// Leaves the kernel to PyTorch's scaled_dot_product_attention, whatever was said before.
void leave_attention_to_pytorch(Draft& draft);

}  // namespace stepwright::framework_files
