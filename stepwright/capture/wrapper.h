#pragma once

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Returns the words with which a wrapper (nohup, env, timeout, ...) really runs, changed so that
/// stand-ins still replace launchers: a launcher given by path becomes its stand-in, `env -i` keeps
/// the capture's variables, `env PATH=X` keeps the capture's folders first, `tail -f` does not
/// wait.
Words wrapper_words(const CaptureContext& context, const Words& words);

}  // namespace stepwright::capture
