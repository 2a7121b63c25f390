#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::diagnose {

/// `advice.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_advice();

/// `clues.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_clues();

/// `words.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_words();

}  // namespace stepwright::diagnose
