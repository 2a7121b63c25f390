#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stepwright::framework_files {

/// How many words follow an argument, as argparse's `nargs`.
enum class Arity : std::uint8_t {
  kNone,   ///< The argument has no word: its field becomes `value`.
  kOne,    ///< One word follows the argument.
  kThree,  ///< Three words follow the argument.
  kSome,   ///< All words up to the next argument, at least one ("+").
  kAny     ///< All words up to the next argument ("*").
};

/// An argument of Megatron-LM's command line and the configuration field that it sets. The table
/// `megatron/settings` has the meaning of fields for a plan.
struct MegatronArgument {
  std::string_view flag;
  /// Field that the argument sets; empty: it affects neither time, memory nor messages of a step.
  std::string_view field;
  Arity arity = Arity::kOne;
  std::string_view value{};  ///< Value of the field if the argument has no word.
  /// First release of Megatron-Core with the argument; empty: all releases have it from the first.
  std::string_view from{};
  std::string_view before{};  ///< First release without the argument; empty: it was not removed.
  std::string_view source{};  ///< Where the program defines the argument.
};

/// Returns the arguments that set a field (`arguments.yaml`), in the order of writing: those of the
/// model, then those of the job and the plan. If several set one field, the first one in a release
/// is written, and all are read.
std::span<const MegatronArgument> megatron_arguments();

/// Returns the argument of exactly this name, also one that sets no field; nullopt if there is
/// none.
std::optional<MegatronArgument> find_argument(std::string_view flag);

/// Returns the names of all arguments that begin with `head`; all names if it is empty.
std::vector<std::string_view> arguments_beginning(std::string_view head);

}  // namespace stepwright::framework_files
