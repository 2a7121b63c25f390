#pragma once

#include "stepwright/step/setting.h"
#include "stepwright/step/template_builder.h"

namespace stepwright::step {

/// Appends to a forward the copies of what modules keep to the host, on their own stream, and gives
/// what it keeps instead: of these roles tensors there. A tensor goes when its last reader in the
/// template, which may be its copy, has ended.
Kept copy_to_host(TemplateBuilder& forward, const Kept& kept, plan::OffloadModules modules);

/// Puts the copies back in front of a backward, in the order in which it asks for them, and gives
/// what was kept as tensors of the device.
Kept copy_from_host(TemplateBuilder& backward, const Kept& restored);

}  // namespace stepwright::step
