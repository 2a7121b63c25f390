#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stepwright::framework_files {

/// The words that follow an argument, as argparse's `nargs`.
enum class Arity : std::uint8_t {
  kNone,   ///< Nothing: the argument sets its field to `value`.
  kOne,    ///< One word.
  kThree,  ///< Three words.
  kSome,   ///< All words up to the next argument, at least one ("+").
  kAny     ///< All words up to the next argument ("*").
};

/// An argument of Megatron-LM's command line and the field of its configuration that it sets. What
/// a field means for a plan stands in the table `megatron/settings`.
struct MegatronArgument {
  std::string_view flag;
  std::string_view field;  ///< Empty: it changes neither time, memory nor messages of a step.
  Arity arity = Arity::kOne;
  std::string_view value{};   ///< What one without words sets.
  std::string_view from{};    ///< The release of Megatron-Core that brought it; empty: the first.
  std::string_view before{};  ///< The release that no longer has it; empty: it is there.
};

/// Arguments of one arity that set no field.
struct IdleArguments {
  Arity arity;
  std::span<const std::string_view> flags;
};

/// Of the model, then of the job and the plan, each in the order of writing. Of several for one
/// field the first that a release has is written, all are read. NVIDIA/Megatron-LM
/// megatron/training/arguments.py, and megatron/training/config and
/// megatron/core/transformer/transformer_config.py, whose fields are arguments; CHANGELOG.md.
std::span<const MegatronArgument> model_arguments();
std::span<const MegatronArgument> training_arguments();

/// What Megatron-DeepSpeed adds to them: deepspeedai/Megatron-DeepSpeed and
/// bigscience-workshop/Megatron-DeepSpeed megatron/arguments.py; deepspeedai/DeepSpeed
/// deepspeed/__init__.py: add_config_arguments.
std::span<const MegatronArgument> deepspeed_arguments();
std::span<const IdleArguments> idle_deepspeed_arguments();

/// What forks add to them that a plan says: Ascend/MindSpeed-LLM
/// mindspeed_llm/training/arguments.py. `take_forks` (forks.h) turns their fields into Megatron's.
std::span<const MegatronArgument> fork_arguments();

/// Logs, checkpoints, data, evaluation, inference, other models' heads, and what decides only the
/// values of numbers: the other arguments of megatron-core 0.17 to 0.19 and of older releases.
std::span<const std::string_view> idle_switches();  ///< Of no words.
std::span<const IdleArguments> idle_arguments();

/// Visits each argument of the tables that set fields, in their order.
template <class Visit>
void each_argument(Visit&& visit) {
  for (const MegatronArgument& each : model_arguments()) visit(each);
  for (const MegatronArgument& each : training_arguments()) visit(each);
  for (const MegatronArgument& each : deepspeed_arguments()) visit(each);
  for (const MegatronArgument& each : fork_arguments()) visit(each);
}

/// The argument of exactly this name.
std::optional<MegatronArgument> find_argument(std::string_view flag);

/// The names that begin so, of all tables; all names for an empty text.
std::vector<std::string_view> arguments_beginning(std::string_view head);

}  // namespace stepwright::framework_files
