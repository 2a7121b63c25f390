#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"
#include "stepwright/cli/glossary.h"
#include "stepwright/cli/output.h"
#include "stepwright/cli/plan_file.h"
#include "stepwright/core/error.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/table.h"
#include "stepwright/plan/choices/codes.h"

namespace stepwright::cli {
namespace {

class Explain : public Subcommand {
 public:
  explicit Explain(CLI::App& program)
      : Subcommand(program, "explain", "Explain the short code of a plan, or a term",
                   "  stepwright explain tp8+sp pp4x20 dp2 mb1 IIG/64/8\n"
                   "  stepwright explain plan.yaml\n"
                   "  stepwright explain sp:keep --json\n"
                   "  stepwright explain MFU") {
    app()
        .add_option("CODE", words_,
                    "The code of a plan as in tables, or a part of it; a plan file; a term")
        ->required()
        ->type_name("TEXT ...");
  }

  void run_subcommand(const Console& console) override {
    const std::string code = asked_for(console);
    const std::vector<plan::PlanCodeMark> marks = explained(code);
    if (wants_json_output()) {
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (const plan::PlanCodeMark& mark : marks) {
        list.push_back({{"code", mark.code}, {"field", mark.field}, {"means", mark.means}});
      }
      return print_json(console.out, {{"code", code}, {"marks", list}});
    }
    if (is_file()) console.out << code << "\n\n";
    TextTable table{.columns = {{"code"}, {"choice"}, {"means"}}, .rows = {}};
    for (const plan::PlanCodeMark& mark : marks) {
      table.rows.push_back({mark.code, std::string(mark.field), mark.means});
    }
    console.out << format_text_table(table);
  }

 private:
  [[nodiscard]] bool is_file() const { return words_.size() == 1 && path_exists(words_.front()); }

  /// Explains a plan's code, or else a term of the glossary.
  static std::vector<plan::PlanCodeMark> explained(const std::string& text) try {
    return plan::explain_plan_code(text);
  } catch (const Error&) {
    const std::optional<GlossaryTerm> term = find_glossary_term(text);
    if (!term) throw;
    return {{.code = term->names, .field = "term", .means = term->meaning}};
  }

  [[nodiscard]] std::string asked_for(const Console& console) const {
    if (is_file()) return plan::short_plan_code(load_plan_file(words_.front(), console).plan);
    return fmt::format("{}", fmt::join(words_, " "));
  }

  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Subcommand> explain_command(CLI::App& program) {
  return std::make_unique<Explain>(program);
}

}  // namespace stepwright::cli
