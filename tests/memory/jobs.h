#pragma once

#include <cstdint>
#include <random>
#include <string_view>

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::testing {

/// GPT as in Korthikanti et al. 2022: LayerNorm, GELU of 4 h, dropout, unfused attention, bf16.
plan::Job gpt_job(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                  std::int64_t length);

/// The template of this name; the program has one.
const step::Template& template_named(const step::StepProgram& program, std::string_view name);

/// A small model of any kind with a plan that is legal for it; `frozen`: a part of it is not
/// trained.
plan::PlannedJob any_planned_job(std::mt19937& random, bool frozen = false);

}  // namespace stepwright::testing
