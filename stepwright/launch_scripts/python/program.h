#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/launch_scripts/python/expression.h"
#include "stepwright/launch_scripts/python/host.h"
#include "stepwright/launch_scripts/python/source.h"
#include "stepwright/launch_scripts/python/statement.h"

namespace stepwright::launch_scripts {

/// The text of a Python file, and the file's name.
struct PythonFileText {
  std::string_view text;
  std::string name;
};

/// Interprets Python files that import each other, without executing anything. Conditions and loops
/// over known values are interpreted; others are skipped, and the host is told which names they
/// would set. Fails with `kInput` for brackets and string literals that never close, nesting beyond
/// 50 brackets or 100 blocks, and too much work.
class PythonProgram final : public PythonEvaluationScope {
 public:
  using Lines = std::span<const PythonStatement>;

  /// Prepares the interpretation of `texts`, which must outlive the program. Only values of the
  /// first file record their line; values of other files record line 0.
  PythonProgram(std::span<const PythonFileText> texts, PythonHost& host);

  /// Interprets a file, given by its index, from its first statement on, unless that was done
  /// before.
  void begin(std::size_t file);
  /// Returns the value of an expression that stands on a line of the first file (0: in no file).
  /// `text` must outlive the program.
  PythonObject evaluate_program_expression(std::string_view text, std::uint32_t line);
  /// Returns the value of a global variable of any file; nullopt if no file has it.
  std::optional<PythonObject> global_variable_value(const std::string& name);
  [[nodiscard]] Lines lines() const { return files_.front().lines; }

  [[nodiscard]] const std::string& file() const override { return file_here().name; }
  [[nodiscard]] std::uint32_t recorded_line(std::uint32_t line) const override {
    return frames_[here_].file == 0 ? line : 0;
  }
  PythonObject value(const std::string& path, std::uint32_t line) override;
  PythonObject call(const std::string& path, const PythonArguments& given) override;
  PythonObject call_python_method(PythonObject& self, const std::string& name,
                                  const PythonArguments& given) override;
  void bind(const std::string& path, PythonObject value) override;
  void add_python_interpretation_effort(std::size_t effort, std::uint32_t line) override;

 private:
  /// A Python function at top level, in a class or in another function.
  struct PythonFunctionDefinition {
    std::string name;
    std::string_view parameters{};
    std::uint32_t line = 0;
    Lines body{};
    std::size_t file = 0;
    /// True for a function that is defined inside another one, so that it can use the outer
    /// function's variables.
    bool nested = false;
  };
  struct Class {
    std::string name;
    std::string base{};
    Lines body{};
    std::size_t file = 0;
  };
  struct File {
    std::string name;
    std::string_view text;
    bool begun = false;
    /// Statements of the Python file, in order; empty until the file is interpreted.
    std::vector<PythonStatement> lines{};
    std::map<std::string, PythonFunctionDefinition> functions{};
    std::map<std::string, Class> classes{};
    /// Imported names, each with its full name in the module: "numpy" for "np".
    std::map<std::string, std::string> imported{};
  };
  enum class Flow : std::uint8_t { kNext, kReturn, kBreak, kContinue };
  using Names = std::map<std::string, PythonObject>;
  struct Frame {
    Names names{};
    std::size_t file = 0;  ///< Index of the file whose code runs in this call frame.
    /// True if code in this call frame can use the variables of the frame before it (nested
    /// functions).
    bool nested = false;
    /// Names that the function of this call frame declares `global`.
    std::set<std::string> global_names{};
  };

  // The functions from here on are in program.cpp: names and their values.
  [[nodiscard]] File& file_here() { return files_[frames_[here_].file]; }
  [[nodiscard]] const File& file_here() const { return files_[frames_[here_].file]; }
  [[nodiscard]] PythonObject* find(const std::string& name);
  [[nodiscard]] std::string full_name(const std::string& path) const;
  [[nodiscard]] std::string handed_on(std::string full) const;
  [[nodiscard]] std::vector<std::string> names_elsewhere(const std::string& path) const;
  bool looks_into(std::size_t file);
  std::optional<PythonObject> value_elsewhere(const std::string& path);
  template <class Definition>
  Definition* defined(std::map<std::string, Definition> File::* kind, const std::string& path);
  Class* defined_class(const std::string& path);
  void open_object(PythonObject& object, std::string_view path, std::uint32_t line);
  void import_names(std::string_view statement);

  // The functions from here on are in definition.cpp: functions and classes.
  PythonObject invoke(PythonFunctionDefinition& function, const PythonArguments& given,
                      const PythonObject* self);
  Frame frame_of(const PythonFunctionDefinition& function, const PythonArguments& given,
                 const PythonObject* self);
  void parameter(const PythonStatement& said, const PythonArguments& given, std::size_t& place,
                 Frame& frame);
  PythonObject instance(const Class& type, const PythonArguments& given);
  void fields(const Class& type, const PythonArguments& given, std::size_t& place,
              PythonObject& made, int depth = 0);
  void field(const PythonStatement& line, const PythonArguments& given, std::size_t& place,
             PythonObject& made);
  void define(std::string_view text, const PythonStatement& line, Lines body,
              const std::string& owner);
  void define_class(std::string_view text, Lines body);

  // The functions from here on are in block.cpp: statements.
  Flow run(Lines lines);
  Flow block(const PythonStatement& head, Lines lines);
  Flow statement(Lines lines, std::size_t& at);
  Flow compound(std::string_view text, const PythonStatement& line, Lines body);
  Flow simple(const PythonStatement& line);
  Flow loop(std::string_view text, const PythonStatement& line, Lines body);
  Flow around(std::string_view text, const PythonStatement& line, Lines body);
  Flow conditional(Lines lines, std::size_t& at);
  std::optional<bool> condition(const PythonStatement& head);
  void pass_over(const PythonStatement& head, Lines block);
  void note_passed(const PythonStatement& line, const PythonStatement& head);
  void expression(const PythonStatement& line);
  void assign(const PythonAssignment& set, const PythonStatement& line);
  PythonObject changed(const PythonAssignment& set, const PythonStatement& line,
                       PythonObject value);
  void assign_item(std::string_view target, const PythonStatement& line, const PythonObject& value);

  PythonHost& host_;
  std::vector<File> files_;
  /// Call frames: first one for each file, with its global variables, then those of function calls.
  std::vector<Frame> frames_;
  std::size_t here_ = 0;  ///< Index in `frames_` of the call frame that is interpreted now.
  /// Parsed expressions, by address and length of their text, so that each is parsed once.
  std::map<std::pair<const char*, std::size_t>, PythonNode> trees_;
  PythonObject returned_;
  std::size_t effort_ = 0;
  int calls_ = 0;  ///< Number of nested function calls being interpreted.
  int depth_ = 0;  ///< Number of nested blocks being interpreted.
};

/// Splits a text at the commas outside of brackets.
std::vector<std::string_view> split_at_python_commas(std::string_view text);

/// Returns the index after the last statement of the block that belongs to statement number `head`
/// (an `if`, `for`, `def`, ...).
std::size_t end_of_python_block(std::span<const PythonStatement> lines, std::size_t head);

}  // namespace stepwright::launch_scripts
