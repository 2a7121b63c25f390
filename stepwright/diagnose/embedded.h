#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::diagnose {

/// Returns the file `advice.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_advice();

/// Returns the file `clues.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_clues();

/// Returns the file `words.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_words();

}  // namespace stepwright::diagnose
