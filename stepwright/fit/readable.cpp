#include "stepwright/fit/readable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "stepwright/core/document.h"
#include "stepwright/core/error.h"
#include "stepwright/cost/profiles/collective_profiles.h"
#include "stepwright/cost/profiles/measured_profile.h"
#include "stepwright/cost/profiles/operator_profile.h"
#include "stepwright/cost/training_conditions.h"

namespace stepwright::fit {
namespace {

void check(const FittedConstantsFile& file,
           const std::function<void(const YamlJsonDocument&)>& read) {
  try {
    read(YamlJsonDocument::parse(file.text, file.path));
  } catch (const Error& error) {
    fail_input(fmt::format("{}: the times cannot be fitted, no file can hold the result: {}",
                           fmt::join(file.samples, ", "), error.what()));
  }
}

}  // namespace

void check_operator_profile_readable(const FittedConstantsFile& profile) {
  check(profile, [](const YamlJsonDocument& document) {
    static_cast<void>(cost::read_operator_profile(document));
  });
}

void check_collectives(const FittedConstantsFile& profile) {
  check(profile, [](const YamlJsonDocument& document) {
    const DocumentNode list = document.root().get("collectives");
    for (std::size_t i = 0; i < list.size(); ++i) {
      cost::MachineCollectiveConstants constants;
      cost::read_collective_constants(list, list.at(i).get("library").text(), constants);
    }
  });
}

void check_conditions(const FittedConstantsFile& conditions) {
  check(conditions, [](const YamlJsonDocument& document) {
    static_cast<void>(cost::read_conditions(document));
  });
}

void check_measured_profile_readable(const FittedConstantsFile& profile) {
  check(profile, [](const YamlJsonDocument& document) {
    const cost::MeasuredProfile read = cost::read_measured(document);
    for (std::size_t i = 0; i < read.computations.size(); ++i) {
      const cost::ComputationTimeLaw& law = read.computations[i];
      if (law.start_s + law.s_per_flop + law.s_per_byte > 0) continue;
      document.root()
          .get("computations")
          .at(i)
          .fail("must have a start_us, flops_per_s or bytes_per_s; it takes no time");
    }
  });
}

}  // namespace stepwright::fit
