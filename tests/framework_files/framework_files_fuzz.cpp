#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launch_file.h"
#include "stepwright/plan/laws/legality.h"

namespace {

using namespace stepwright;  // NOLINT(google-build-using-namespace)

/// Returns the model, cluster and batch that every reader needs beside its file.
const framework_files::UserFacts& given() {
  static const framework_files::UserFacts kGiven = framework_files::with_named_model_loaded(
      {.model = "llama-3-8b", .cluster = "dgx-h100:2", .batch = "64x4096"});
  return kGiven;
}

}  // namespace

/// Each reader accepts any text or refuses it with a reason; accepted plans are legal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const launch_scripts::SourceFile file{"fuzz",
                                        std::string(reinterpret_cast<const char*>(data), size)};
  for (const std::string& word : framework_files::import_target_names()) {
    try {
      const plan::PlannedJob planned =
          framework_files::import_plan_files(word, {&file, 1}, given()).planned;
      if (plan::first_broken_rule(planned.job, planned.plan)) std::abort();
    } catch (const Error& error) {
      if (*error.what() == '\0') std::abort();
    }
  }
  return 0;
}
