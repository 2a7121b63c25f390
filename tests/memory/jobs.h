#pragma once

#include <cstdint>
#include <random>
#include <string_view>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::testing {

/// Returns a GPT job as in Korthikanti et al. 2022: LayerNorm, GELU of 4 h, dropout, unfused
/// attention, bf16.
plan::Job gpt_job(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                  std::int64_t length);

/// Returns the template with this name, which the program must have.
const step::OperatorTemplate& template_named(const step::StepProgram& program,
                                             std::string_view name);

/// Returns a small random model with a legal plan; `frozen`: part of the model is not trained.
plan::PlannedJob any_planned_job(std::mt19937& random, bool frozen = false);

}  // namespace stepwright::testing
