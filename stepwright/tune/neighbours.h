#pragma once

#include <vector>

#include "stepwright/tune/dimensions.h"

namespace stepwright::tune {

/// True if a canonical plan (unused choices at their defaults) for all devices of the job is a
/// point of the search space.
bool is_in_search_space(const plan::Job& job, const SearchSpaceDimensions& space,
                        const plan::Plan& plan);

/// Returns a canonical plan, changed so that the search space contains its choices: a value that is
/// not in the list of its dimension becomes the first of the list. Degrees stay. The result may be
/// illegal.
plan::Plan move_into_search_space(const plan::Job& job, const SearchSpaceDimensions& space,
                                  plan::Plan plan);

/// Returns the legal plans of the search space that differ from `plan` (a point of the space) in
/// one choice. The data degree follows the other degrees, and choices that no longer divide are set
/// anew. Plans are canonical, each once, in no particular order.
std::vector<plan::Plan> plans_differing_in_one_choice(const plan::Job& job,
                                                      const SearchSpaceDimensions& space,
                                                      const plan::Plan& plan);

}  // namespace stepwright::tune
