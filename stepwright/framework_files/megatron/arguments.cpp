#include "stepwright/framework_files/megatron/arguments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "stepwright/core/named.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/launch_scripts/python/program_options.h"

namespace stepwright::framework_files {
namespace {

constexpr Named<ArgumentValueCount> kArityNames[] = {{ArgumentValueCount::kNone, "none"},
                                                     {ArgumentValueCount::kOne, "one"},
                                                     {ArgumentValueCount::kThree, "three"},
                                                     {ArgumentValueCount::kSome, "some"},
                                                     {ArgumentValueCount::kAny, "any"}};

/// All arguments of Megatron-LM; those that set a field come first.
class ArgumentTable {
 public:
  explicit ArgumentTable(const YamlJsonDocument& document) {
    const auto read = [&](std::string_view list, bool sets) {
      visit_rows_of_yaml_table(document, list, [&](DocumentNode row, const std::string& source) {
        add(row, source, sets);
      });
    };
    read("arguments", true);
    setting_ = all_.size();
    read("idle", false);
  }

  [[nodiscard]] std::span<const MegatronArgument> all() const { return all_; }
  [[nodiscard]] std::span<const MegatronArgument> setting() const { return all().first(setting_); }

 private:
  void add(DocumentNode row, const std::string& source, bool sets) {
    row.allow_only_keys({"flag", "flags", "key", "words", "value", "from", "before", "yields"});
    const auto words = row.find("words");
    MegatronArgument argument{.flag = {},
                              .field = texts_.store_table_row_text(row, "key"),
                              .value = texts_.store_table_row_text(row, "value"),
                              .from = texts_.store_table_row_text(row, "from"),
                              .before = texts_.store_table_row_text(row, "before"),
                              .source = texts_.store_table_row_text(source)};
    if (!argument.value.empty()) argument.arity = ArgumentValueCount::kNone;
    if (words) argument.arity = words->choice(kArityNames);
    if (const auto yields = row.find("yields")) argument.yields = yields->boolean();
    const bool called_so = sets && argument.field.empty();
    for (std::string& flag : single_text_or_text_list(row, "flag", "flags")) {
      if (called_so)
        argument.field = texts_.store_table_row_text(launch_scripts::argparse_attribute_name(flag));
      argument.flag = texts_.store_table_row_text(std::move(flag));
      all_.push_back(argument);
    }
  }

  TableTextStore texts_;
  std::vector<MegatronArgument> all_;
  std::size_t setting_ = 0;
};

const ArgumentTable& table() {
  static const ArgumentTable kTable(parse_embedded_table("megatron/arguments"));
  return kTable;
}

}  // namespace

std::span<const MegatronArgument> megatron_arguments() { return table().setting(); }

std::optional<MegatronArgument> find_megatron_argument(std::string_view flag) {
  const auto all = table().all();
  const auto found = std::ranges::find(all, flag, &MegatronArgument::flag);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string_view> megatron_arguments_with_prefix(std::string_view head) {
  std::vector<std::string_view> names;
  for (const MegatronArgument& each : table().all()) {
    if (each.flag.starts_with(head)) names.push_back(each.flag);
  }
  return names;
}

}  // namespace stepwright::framework_files
