#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace stepwright::framework_files {

/// The words that follow an argument, as argparse's `nargs`.
enum class Arity : std::uint8_t {
  kNone,   ///< The argument has no word: its field becomes `value`.
  kOne,    ///< One word follows the argument.
  kThree,  ///< Three words follow the argument.
  kSome,   ///< All words up to the next argument, at least one ("+").
  kAny     ///< All words up to the next argument ("*").
};

/// An argument of Megatron-LM's command line and the field of its configuration that it sets. The
/// table `megatron/settings` says what a field means for a plan.
struct MegatronArgument {
  std::string_view flag;
  std::string_view field;  ///< Empty: it changes neither time, memory nor messages of a step.
  Arity arity = Arity::kOne;
  std::string_view value{};   ///< Value that an argument without words sets.
  std::string_view from{};    ///< The release of Megatron-Core that brought it; empty: the first.
  std::string_view before{};  ///< The release that no longer has it; empty: it is there.
  std::string_view source{};  ///< Where the program defines it.
};

/// The arguments that set a field, in the order of writing: those of the model, then those of the
/// job and the plan. Of several for one field the first that a release has is written, all are
/// read. They stand in `arguments.yaml`.
std::span<const MegatronArgument> megatron_arguments();

/// The argument of exactly this name, also one that sets no field.
std::optional<MegatronArgument> find_argument(std::string_view flag);

/// The names that begin so, of all arguments; all names for an empty text.
std::vector<std::string_view> arguments_beginning(std::string_view head);

}  // namespace stepwright::framework_files
