#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stepwright::framework_files {

/// How many values follow a command-line argument, as argparse's `nargs` says.
enum class ArgumentValueCount : std::uint8_t {
  kNone,   ///< No value: the argument is a switch and sets its field to `MegatronArgument::value`.
  kOne,    ///< Exactly one value follows the argument.
  kThree,  ///< Exactly three values follow the argument.
  kSome,   ///< At least one value, up to the next argument (`nargs="+"`).
  kAny     ///< Any number of values, up to the next argument (`nargs="*"`).
};

/// An argument of Megatron-LM's command line ("--bf16") and the field of Megatron's configuration
/// that it sets. The table `megatron/settings` says what the field means for a plan.
struct MegatronArgument {
  std::string_view flag;
  /// Configuration field that the argument sets; empty: it affects neither time, memory nor
  /// communication of a step.
  std::string_view field;
  ArgumentValueCount arity = ArgumentValueCount::kOne;
  /// Value to which a switch (an argument without value) sets its field.
  std::string_view value{};
  /// First release of Megatron-Core that has the argument; empty: it exists since the first
  /// release.
  std::string_view from{};
  /// First release of Megatron-Core that no longer has the argument; empty: it was not removed.
  std::string_view before{};
  std::string_view source{};  ///< Repository and file in which the argument is defined.
  /// True if another argument that sets the same field overrides this one.
  bool yields = false;
};

/// Returns all Megatron-LM arguments that set a configuration field (`arguments.yaml`), in the
/// order in which scripts are written: model first, then job and plan. If several set one field,
/// all are read, and the first one that the release has is written.
std::span<const MegatronArgument> megatron_arguments();

/// Returns the Megatron-LM argument of exactly this name ("--bf16"), even if it sets no field;
/// nullopt if there is none.
std::optional<MegatronArgument> find_megatron_argument(std::string_view flag);

/// Returns the names of all Megatron-LM arguments that begin with `head`; all names if `head` is
/// empty.
std::vector<std::string_view> megatron_arguments_with_prefix(std::string_view head);

}  // namespace stepwright::framework_files
