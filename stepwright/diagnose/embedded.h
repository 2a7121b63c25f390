#pragma once

#include <span>

#include "stepwright/core/document.h"
#include "stepwright/core/embedded.h"

namespace stepwright::diagnose {

/// Returns the file `advice.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_advice();

/// Returns the file `clues.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_clues();

/// Returns the file `words.yaml`, which is compiled in.
std::span<const EmbeddedFile> embedded_words();
/// Returns the content of `words.yaml`, which is read once.
const Document& word_table();

}  // namespace stepwright::diagnose
